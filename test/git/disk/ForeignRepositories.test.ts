import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import { assertSound, engine, git, put, temporary, write } from "./support/temporary.js"

describe("a repository that another program has changed", () => {
  it.scopedLive("a deleted branch leaves no reflog that blocks a branch below its name", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { directory } = repository
      const { commit } = yield* write(repository, [put("a", "1")])
      git(directory, "config", "core.logAllRefUpdates", "true")
      git(directory, "branch", "topic/deep", commit)
      assert.isTrue(fs.existsSync(`${directory}/logs/refs/heads/topic/deep`))
      yield* repository.updateRef("refs/heads/topic/deep", Option.some(commit), Option.none())
      git(directory, "branch", "topic", commit)
      git(directory, "branch", "-D", "topic")
      git(directory, "branch", "topic/deep", commit)
      yield* repository.updateRef("refs/heads/topic/deep", Option.some(commit), Option.none())
      git(directory, "branch", "topic", commit)
      yield* repository.updateRef("refs/heads/topic", Option.some(commit), Option.none())
      git(directory, "branch", "topic/deep", commit)
      yield* repository.updateRef("refs/heads/topic/deep", Option.some(commit), Option.none())
      assert.isFalse(fs.existsSync(`${directory}/logs/refs/heads/topic`))
    })
  )

  it.scopedLive("refs below a symbolic link are listed, as Git lists them", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { directory } = repository
      const { commit } = yield* write(repository, [put("a", "1")])
      git(directory, "branch", "team/one", commit)
      fs.renameSync(`${directory}/refs/heads/team`, `${directory}/elsewhere`)
      fs.symlinkSync("../../elsewhere", `${directory}/refs/heads/team`)
      fs.symlinkSync(".", `${directory}/refs/heads/loop`)
      const listed = yield* repository.refs("refs/heads/")
      assert.deepStrictEqual(
        listed.map(({ name }) => name),
        ["refs/heads/main", "refs/heads/team/one"]
      )
    })
  )

  it.scopedLive("a symbolic link to a ref is a symbolic ref, HEAD too", () =>
    Effect.gen(function* () {
      const directory = `${yield* temporary}/r.git`
      const { commit } = yield* Effect.scoped(
        Effect.flatMap(Engine.open({ directory, create: true }), (made) => write(made, [put("a", "1")]))
      )
      git(directory, "branch", "trunk", commit)
      fs.rmSync(`${directory}/HEAD`)
      fs.symlinkSync("refs/heads/trunk", `${directory}/HEAD`)
      fs.symlinkSync("refs/heads/trunk", `${directory}/refs/heads/alias`)
      const repository = yield* Engine.open({ directory })
      assert.strictEqual(yield* repository.defaultBranch, "trunk")
      const next = yield* write(repository, [put("b", "2")], { branch: "alias" })
      assert.strictEqual(git(directory, "rev-parse", "trunk").trim(), next.commit)
      assert.isTrue(fs.lstatSync(`${directory}/refs/heads/alias`).isSymbolicLink())
      yield* repository.updateRef("refs/heads/trunk", Option.some(next.commit), Option.none())
      assert.strictEqual(yield* repository.defaultBranch, "trunk")
      yield* Effect.scoped(Engine.open({ directory }))
    })
  )

  it.scopedLive("a packed-refs file that is a symbolic link stays one", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { directory } = repository
      const { commit } = yield* write(repository, [put("a", "1")])
      git(directory, "branch", "b", commit)
      git(directory, "pack-refs", "--all")
      fs.renameSync(`${directory}/packed-refs`, `${directory}/others`)
      fs.symlinkSync("others", `${directory}/packed-refs`)
      yield* repository.updateRef("refs/heads/b", Option.some(commit), Option.none())
      assert.isTrue(fs.lstatSync(`${directory}/packed-refs`).isSymbolicLink())
      assert.notInclude(fs.readFileSync(`${directory}/others`, "utf8"), "refs/heads/b")
      fs.writeFileSync(`${directory}/others.lock`, "")
      git(directory, "branch", "c", commit)
    })
  )

  it.scopedLive("pack indexes of version 1 are read, and are not rebuilt by every maintenance", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      git(directory, "config", "pack.indexVersion", "1")
      for (let n = 0; n < 5; n++) yield* write(repository, [put("a", `${n}`)])
      yield* repository.maintain
      assert.deepStrictEqual(
        (yield* repository.health).filter(({ severity }) => severity !== "ok"),
        []
      )
      git(directory, "repack", "-adq")
      assert.isTrue(Option.isNone(yield* repository.object("1".repeat(40) as Oid)))
      yield* repository.maintain
      assert.deepStrictEqual(
        (yield* repository.health).filter(({ severity }) => severity !== "ok"),
        []
      )
      assertSound(directory)
    })
  )

  it.scopedLive("an unknown extension is refused, as by Git", () =>
    Effect.gen(function* () {
      const directory = `${yield* temporary}/r.git`
      yield* Engine.create({ directory })
      git(directory, "config", "core.repositoryFormatVersion", "1")
      yield* Effect.scoped(Engine.open({ directory }))
      git(directory, "config", "extensions.objectIdsOfTomorrow", "true")
      assert.notStrictEqual(spawnSync("git", ["-C", directory, "for-each-ref"]).status, 0)
      const refused = yield* Effect.flip(Effect.scoped(Engine.open({ directory })))
      assert.strictEqual(refused.reason, "Unsupported")
    })
  )

  it.scopedLive("an alternate with a quoted path is found", () =>
    Effect.gen(function* () {
      const root = yield* temporary
      const lender = yield* Engine.open({ directory: `${root}/len"der.git`, create: true })
      const { commit } = yield* write(lender, [put("a", "1")])
      const directory = `${root}/borrower.git`
      yield* Engine.create({ directory })
      fs.writeFileSync(`${directory}/objects/info/alternates`, `"${root}/len\\"der.git/obj\\145cts"\n`)
      git(directory, "update-ref", "refs/heads/main", commit)
      const repository = yield* Engine.open({ directory })
      assert.isTrue(Option.isSome(yield* repository.lookup(commit, "a")))
      assert.isTrue(Option.isNone(yield* repository.object("1".repeat(40) as Oid)))
      const next = yield* write(repository, [put("b", "1")])
      assert.strictEqual(git(directory, "rev-parse", "main").trim(), next.commit)
    })
  )
})

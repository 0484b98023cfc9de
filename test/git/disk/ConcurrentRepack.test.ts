import { spawn } from "node:child_process"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option, type Scope } from "effect"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { assertSound, engine, git, put, show, temporary, write } from "./support/temporary.js"

/** A directory with a `git` that stops after `pack-objects`, until it may go on. */
const stopper = (directory: string) =>
  Effect.gen(function* () {
    const bin = yield* temporary
    const exec = git(directory, "--exec-path").trim()
    const [stopped, go] = [`${bin}/stopped`, `${bin}/go`]
    const script = `#!/bin/sh
${exec}/git "$@"; code=$?
case "$*" in *pack-objects*) touch ${stopped}; until [ -e ${go} ]; do sleep 0.02; done ;; esac
exit $code
`
    fs.writeFileSync(`${bin}/git`, script, { mode: 0o755 })
    return {
      bin,
      git: `${exec}/git`,
      stopped: Effect.repeat(Effect.sleep(5), { until: () => fs.existsSync(stopped) }),
      resume: Effect.sync(() => fs.writeFileSync(go, ""))
    }
  })

/** Starts Git, stops it between the choice of the objects and the removal of the old packs, and returns its end. */
const stoppedRepack = (directory: string, command: ReadonlyArray<string> = ["repack", "-a", "-d", "-q"]) =>
  Effect.gen(function* () {
    const at = yield* stopper(directory)
    const exit = yield* Deferred.make<number | null>()
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(at.git, ["-C", directory, ...command], {
          env: { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_EXEC_PATH: at.bin },
          stdio: "inherit"
        }).on("close", (code) => Deferred.unsafeDone(exit, Effect.succeed(code)))
      ),
      () => at.resume
    )
    yield* at.stopped
    return Effect.zipRight(at.resume, Deferred.await(exit))
  })

/** Starts the maintenance, stops it when it has combined the objects, and returns its end. */
const stoppedMaintenance = (repository: GitRepository) =>
  Effect.gen(function* () {
    const at = yield* stopper(repository.directory)
    const before = process.env["PATH"]
    const setPath = (to: string | undefined) =>
      Effect.sync(() => {
        process.env["PATH"] = to
      })
    return yield* Effect.acquireUseRelease(
      setPath(`${at.bin}:${before}`),
      () =>
        Effect.gen(function* () {
          const running = yield* Effect.forkScoped(repository.maintain)
          yield* at.stopped
          return Effect.zipRight(at.resume, Fiber.join(running))
        }),
      () => setPath(before)
    )
  })

/** Writes blobs that no branch has into one pack. */
const packUnreachable = (directory: string, contents: ReadonlyArray<string>) => {
  const oids = contents.map((content, i) => {
    const file = `${directory}/unreachable-${i}`
    fs.writeFileSync(file, content)
    return git(directory, "hash-object", "-w", file).trim()
  })
  const list = `${directory}/unreachable-list`
  fs.writeFileSync(list, oids.map((oid) => `${oid}\n`).join(""))
  git(directory, "-c", "alias.pack=!git pack-objects -q objects/pack/pack <unreachable-list", "pack")
  git(directory, "prune-packed", "-q")
}

const unreachable = Array.from({ length: 40 }, (_, n) => `unreachable ${n}`)

/**
 * Runs an effect between the choice of the objects of a `git repack -a -d` and its removal of the old packs. The effect puts the
 * content of an object that was unreachable into the file `b`.
 */
const besideRepack = (
  during: (repository: GitRepository, content: string) => Effect.Effect<void, unknown, Scope.Scope>
) =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false })
    const { directory } = repository
    yield* write(repository, [put("a", "1")])
    packUnreachable(directory, unreachable)
    const repacked = yield* stoppedRepack(directory)
    yield* during(repository, unreachable[7]!)
    assert.strictEqual(yield* repacked, 0)
    assert.strictEqual(show(directory, "main", "b"), unreachable[7])
    assertSound(directory)
  })

describe("maintenance beside `git repack -a -d`, which removes what was unreachable when it began", () => {
  it.scopedLive("keeps an object that a commit has written again", () =>
    besideRepack((repository, content) =>
      Effect.gen(function* () {
        yield* write(repository, [put("b", content)])
        yield* write(repository, [put("a", "2")])
        yield* repository.maintain
      })
    )
  )

  it.scopedLive("keeps a loose object that was written after it combined the others", () =>
    besideRepack((repository, content) =>
      Effect.gen(function* () {
        yield* write(repository, [put("a", "2")])
        const maintained = yield* stoppedMaintenance(repository)
        const oid = yield* repository.writeObject("blob", Buffer.from(content))
        yield* write(repository, [{ _tag: "Link", path: "b", oid }])
        yield* maintained
      })
    )
  )

  /*
   * docs/local.md: the engine "leaves loose objects that no ref reaches loose, as Git does".
   * Git leaves loose objects alone. The maintenance moves one that no branch has yet into a pack and removes the loose copy. `git
   * repack -a -d` that begins afterwards removes that pack, and a commit that links the object meanwhile is acknowledged without it.
   */
  it.scopedLive("keeps a loose object that it packed before Git began, and that a commit then links", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* write(repository, [put("a", "1")])
      const oid = yield* repository.writeObject("blob", Buffer.from("just written"))
      yield* repository.maintain
      const repacked = yield* stoppedRepack(directory)
      yield* write(repository, [{ _tag: "Link", path: "b", oid }])
      assert.strictEqual(yield* repacked, 0)
      assert.strictEqual(show(directory, "main", "b"), "just written")
      assertSound(directory)
    })
  )

  // The same without any race, as by a client of the host that writes a blob, a tree and a commit one by one: Git deletes the blob, which
  // the maintenance has packed, but not the tree and the commit, which are still loose. The branch is moved to that commit.
  it.scopedLive("points no branch to a commit of which Git has deleted the part that it packed", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* write(repository, [put("a", "1")])
      const oid = yield* repository.writeObject("blob", Buffer.from("just written"))
      yield* repository.maintain
      const change = { path: "b", mode: "100644" as const, oid: Option.some(oid) }
      const tree = yield* repository.writeTree(Option.none(), [change])
      const person = { name: "P", email: "p@example.org", seconds: 1_700_000_000, offset: 0 }
      const commit = { tree, parents: [], author: person, committer: person, message: "one by one" }
      const next = yield* repository.writeCommit(commit)
      git(directory, "repack", "-a", "-d", "-q")
      yield* Effect.exit(repository.updateRef("refs/heads/new", Option.none(), Option.some(next)))
      assertSound(directory)
    })
  )

  // src/git/disk/maintenance/Repack.ts: "A pack with a file of one of these extensions is not combined: it is kept". Whether it has one
  // is looked up before the packs are combined, which takes minutes in a large repository, and not again before they are deleted.
  it.scopedLive("deletes no pack that got a `.keep` file while it combined the packs", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const packs = `${repository.directory}/objects/pack`
      for (let n = 0; n < 3; n++) yield* write(repository, [put("a", `${n}`)])
      const [pack = ""] = fs.readdirSync(packs).filter((name) => name.endsWith(".pack"))
      const maintained = yield* stoppedMaintenance(repository)
      fs.writeFileSync(`${packs}/${pack.replace(/pack$/, "keep")}`, "do not touch")
      yield* maintained
      assert.include(fs.readdirSync(packs), pack)
      assertSound(repository.directory)
    })
  )

  it.scopedLive("leaves no multi-pack index, which would name the packs that Git removes", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      for (let n = 0; n < 4; n++) yield* write(repository, [put("a", `${n}`)])
      git(directory, "multi-pack-index", "write")
      yield* repository.maintain
      assert.deepStrictEqual(
        fs.readdirSync(`${directory}/objects/pack`).filter((name) => name.startsWith("multi-pack-index")),
        []
      )
      assertSound(directory)
    })
  )

  it.scopedLive(
    "removes a multi-pack index that hides objects from Git, because it names removed packs",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        const { directory } = repository
        const packs = `${directory}/objects/pack`
        for (const n of [1, 2]) yield* write(repository, [put("a", `${n}`)])
        const [first] = fs.readdirSync(packs).filter((name) => name.endsWith(".pack"))
        git(directory, "repack", "-a", "-q")
        // Of two copies, Git takes that of the newer pack.
        fs.utimesSync(`${packs}/${first}`, new Date(Date.now() + 60_000), new Date(Date.now() + 60_000))
        git(directory, "multi-pack-index", "write")
        for (const ending of ["pack", "idx"]) fs.rmSync(`${packs}/${first!.replace(/pack$/, ending)}`)
        assert.throws(() => git(directory, "rev-list", "--objects", "main"))
        yield* repository.maintain
        assertSound(directory)
        assert.strictEqual(show(directory, "main", "a"), "2")
      })
  )
})

// docs/local.md names these commands. `git repack -a -d` alone deletes what no branch had when it began, as docs/local.md says.
describe("a branch that is restored to a packed commit that nothing reached, beside", () => {
  it.scopedLive.each([
    "gc -q",
    "repack -d -q",
    "repack -A -d -q",
    "repack -a -d -k -q",
    "repack -d -q --geometric=2"
  ])("`git %s`, is complete", (command) =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      const { commit: first } = yield* write(repository, [put("a", "1")])
      const { commit: last } = yield* write(repository, [put("a", "2")])
      yield* repository.updateRef("refs/heads/main", Option.some(last), Option.some(first))
      yield* write(repository, [put("a", "3")], { branch: "other" })
      const ended = yield* stoppedRepack(directory, command.split(" "))
      yield* repository.updateRef("refs/heads/main", Option.some(first), Option.some(last))
      assert.strictEqual(yield* ended, 0)
      assert.strictEqual(show(directory, "main", "a"), "2")
      assertSound(directory)
    })
  )
})

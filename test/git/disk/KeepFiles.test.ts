import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import { daysLater } from "./support/gitOnPath.js"
import { refusal, withReplaced } from "./support/replacedMethod.js"
import { assertSound, engine, git, put, temporary, write } from "./support/temporary.js"

const keepsOf = (directory: string) =>
  fs.readdirSync(`${directory}/objects/pack`).filter((name) => name.endsWith(".keep"))

/** Installs a hook that kills the Git process that runs it. */
const killingHook = (directory: string, name: string) => {
  fs.mkdirSync(`${directory}/hooks`, { recursive: true })
  fs.writeFileSync(`${directory}/hooks/${name}`, "#!/bin/sh\nkill -KILL $PPID\n", { mode: 0o755 })
}

describe("the `.keep` file of a pack is removed when it is a day old, and not before, if it was left by", () => {
  const repositories = Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false })
    const other = yield* engine({ maintenance: false })
    for (const one of [repository, other]) {
      yield* write(one, [put("a", one.directory)])
      git(one.directory, "config", "transfer.unpackLimit", "1")
    }
    return { repository, directory: repository.directory, other: other.directory }
  })
  const left = {
    "a killed `git fetch`": (directory: string, other: string) => {
      killingHook(directory, "reference-transaction")
      return spawnSync("git", ["-C", directory, "fetch", "-q", other, "main:refs/heads/theirs"])
    },
    "a killed `git push`": (directory: string, other: string) => {
      killingHook(directory, "update")
      return spawnSync("git", ["-C", other, "push", "-q", directory, "main:refs/heads/theirs"])
    }
  }

  it.scopedLive.each(Object.entries(left))("%s", ([, leave]) =>
    Effect.gen(function* () {
      const { directory, other, repository } = yield* repositories
      leave(directory, other)
      assert.strictEqual(keepsOf(directory).length, 1)
      yield* repository.maintain
      assert.strictEqual(keepsOf(directory).length, 1)
      yield* daysLater(repository.maintain)
      assert.deepStrictEqual(keepsOf(directory), [])
      assertSound(directory)
    })
  )
})

it.scopedLive("the `.keep` file that an engine could not remove is removed after the engine was closed", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false })
    const { directory } = repository
    const unlinkSync = (real: (file: string) => void) => (file: string) => {
      if (file.endsWith(".keep")) throw refusal("EIO")
      return real(file)
    }
    const writes = Effect.gen(function* () {
      const writer = yield* Engine.open({ directory, maintenance: false })
      for (const n of [1, 2]) yield* write(writer, [put("a", `${n}`)])
    })
    yield* withReplaced({ unlinkSync }, Effect.scoped(writes))
    assert.strictEqual(keepsOf(directory).length, 2)
    yield* repository.maintain
    assert.deepStrictEqual(keepsOf(directory), [])
    assertSound(directory)
  })
)

it.scopedLive("the `.keep` file of a living engine stays, however old it is", () =>
  Effect.gen(function* () {
    const { directory } = yield* engine({ maintenance: false })
    const writer = yield* Engine.open({ directory, maintenance: false })
    const unlinkSync = (real: (file: string) => void) => (file: string) => {
      if (file.endsWith(".keep")) throw refusal("EIO")
      return real(file)
    }
    const other = yield* Engine.open({ directory, maintenance: false })
    const maintained = Effect.zipRight(write(writer, [put("a", "1")]), daysLater(other.maintain))
    yield* withReplaced({ unlinkSync }, maintained)
    assert.strictEqual(keepsOf(directory).length, 1)
  })
)

it.scopedLive(
  "the `.keep` file of an engine that is gone is removed, even if a clone on the same disk has it, too",
  () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* write(repository, [put("a", "1")])
      const [pack = ""] = fs.readdirSync(`${directory}/objects/pack`).filter((name) => name.endsWith(".pack"))
      fs.writeFileSync(`${directory}/objects/pack/${pack.replace(/pack$/, "keep")}`, "chainstore\n")
      // Git makes hard links.
      git(directory, "clone", "-q", "--bare", directory, `${yield* temporary}/clone.git`)
      yield* daysLater(repository.maintain)
      assert.deepStrictEqual(keepsOf(directory), [])
    })
)

it.scopedLive("a `.keep` file whose text resembles that of a push stays", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false })
    const { directory } = repository
    const texts = [
      "",
      "chainstore",
      "receive-pack",
      "receive-pack of Monday\n",
      "receive-pack 7 on host\nmine\n"
    ]
    for (const [n] of texts.entries()) yield* write(repository, [put("a", `${n}`)])
    const packs = fs.readdirSync(`${directory}/objects/pack`).filter((name) => name.endsWith(".pack"))
    for (const [n, text] of texts.entries())
      fs.writeFileSync(`${directory}/objects/pack/${packs[n]!.replace(/pack$/, "keep")}`, text)
    yield* daysLater(repository.maintain)
    assert.strictEqual(keepsOf(directory).length, texts.length)
  })
)

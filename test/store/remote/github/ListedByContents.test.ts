import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import { clientOf, newRepository } from "../../../support/github/OnHost.js"
import { thisHost } from "../../core/Remotes.js"

/** A repository whose collections hold what the Contents API tells no mode of: a program, and another repository. */
const world = Effect.gen(function* () {
  const repository = yield* newRepository
  const git = (input: string, ...args: ReadonlyArray<string>) =>
    execFileSync("git", ["--git-dir", repository.directory, ...args], { input, encoding: "utf8" }).trim()
  const blob = (text: string) => git(text, "hash-object", "-w", "--stdin")
  const tree = (...entries: ReadonlyArray<string>) => git(`${entries.join("\n")}\n`, "mktree", "--missing")
  const file = (name: string, mode = "100644") => `${mode} blob ${blob('{"f":1}')}\t${name}`
  const directory = (name: string, ...entries: ReadonlyArray<string>) =>
    `040000 tree ${tree(...entries)}\t${name}`
  const data = directory(
    "data",
    directory("plain", file("a.json")),
    directory("programs", file("a.json"), file("run.sh", "100755")),
    directory("parts", file("a.json"), `160000 commit ${"1".repeat(40)}\tother`),
    file("build.sh", "100755")
  )
  const commit = git("by hand\n", "-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", tree(data))
  git("", "update-ref", "refs/heads/main", commit)
  const remote = yield* clientOf(repository, { listVia: "contents" })
  return { git, remote, head: Option.getOrThrow(yield* remote.head("main")) }
}).pipe(Effect.provide(thisHost))

describe("directories listed by the Contents API", () => {
  it.scopedLive(
    "have their own ids, whatever the modes of what lies in them, and may be listed whole after",
    () =>
      Effect.gen(function* () {
        const { git, head, remote } = yield* world
        for (const path of ["data", "data/plain", "data/programs", "data/parts"]) {
          const listed = Option.getOrThrow(yield* remote.tree(head, path))
          assert.strictEqual(listed.oid, git("", "rev-parse", `main:${path}`))
          const named = Option.getOrThrow(yield* remote.treeAtBranch!("main", path))
          assert.strictEqual(named.tree.oid, listed.oid)
          const whole = Option.getOrThrow(yield* remote.tree(head, path, { recursive: true }))
          assert.strictEqual(whole.oid, listed.oid)
          assert.isAtLeast(whole.entries.length, listed.entries.length)
        }
      })
  )

  it.scopedLive("leave an index that stands after a write", () =>
    Effect.gen(function* () {
      const { remote } = yield* world
      const store = yield* Effect.provideService(
        Store.make({ indexes: { programs: ["f"] } }),
        GitRemote,
        remote
      )
      const programs = store.collection("programs")
      yield* programs.insert({ f: 2 }, { id: "b" })
      const { current, source } = yield* programs.explain("f", 2)
      assert.deepStrictEqual([source, current], ["index", true])
      assert.strictEqual((yield* programs.findBy("f", 1)).length, 1)
    })
  )
})

import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../../src/store/Store.js"

describe("stock Git", () => {
  it.scopedLive("finds the merges of a store, and nothing wrong with them", () =>
    Effect.gen(function* () {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-merges-"))),
        (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
      )
      const remote = yield* LocalGit.scoped({ directory, repo: "local/data" })
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", args, { cwd: join(directory, "local/data.git"), encoding: "utf8" }).trim()
      const store = yield* Effect.provideService(
        Store.make({ format: 2, indexes: { people: ["city"] }, manifests: { people: ["city"] } }),
        GitRemote,
        remote
      )
      const people = store.collection("people")
      yield* store.batch({}, (batch) =>
        Effect.forEach([1, 2, 3], (n) => batch.put("people", `p${n}`, { city: "Bern", n }))
      )
      yield* store.createBranch("draft")
      const draft = store.onBranch("draft")
      yield* draft.collection("people").update("p1", { city: "Rome" })
      yield* people.update("p1", { n: 10 })
      yield* people.delete("p2")
      const { commitSha } = yield* store.merge("draft", { author: { name: "Ada", email: "ada@example.org" } })
      yield* people.update("p3", { n: 30 })
      yield* store.merge("main", { into: "draft" })
      assert.strictEqual(
        git("log", "--merges", "--format=%H %an %s", "main"),
        `${(commitSha as any).value} Ada merge draft into main`
      )
      assert.strictEqual(git("log", "-1", "--format=%P", "main~1").split(" ").length, 2)
      assert.strictEqual(git("rev-parse", "main"), git("rev-parse", "draft"), "a fast-forward")
      assert.strictEqual(git("merge-base", "main", "draft"), git("rev-parse", "draft"))
      assert.strictEqual(git("fsck", "--strict", "--no-dangling"), "")
      assert.deepStrictEqual(JSON.parse(git("show", "main:data/people/p1.json")), {
        ...JSON.parse(git("show", "main:data/people/p1.json")),
        city: "Rome",
        n: 10,
        _rev: 3
      })
      const found = yield* store.collection("people").findBy("city", "Rome")
      assert.deepStrictEqual(
        found.map(({ _id }) => _id),
        ["p1"]
      )
      const findings = yield* store.doctorWith({ deep: true })
      assert.deepStrictEqual(
        findings.filter(({ severity }) => severity !== "ok"),
        []
      )
    })
  )
})

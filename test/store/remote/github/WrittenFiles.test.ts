import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import { maxReplicaLag, WrittenFiles } from "../../../../src/store/remote/github/heads/WrittenFiles.js"
import * as Store from "../../../../src/store/Store.js"
import { fresh } from "../../../support/github/Remote.js"
import { ways } from "../../core/Remotes.js"

describe.each(ways)("documents of a large batch, %s", (_way, options) => {
  it.live("are read as it left them where a machine is behind, the first one too", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh(options)
      const ids = Array.from({ length: 1_200 }, (_, n) => `d${n}`)
      const content = new TextEncoder().encode(JSON.stringify({ _rev: 1, n: 0 }))
      server.commit(
        "main",
        ids.map((id) => ({ _tag: "Put", path: `data/people/${id}.json`, content }))
      )
      const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
      server.snapshot()
      yield* store.batch({}, (batch) => Effect.forEach(ids, (id) => batch.put("people", id, { n: 1 })))
      server.lagging = true
      for (const id of [ids[0]!, ids[ids.length - 1]!]) {
        assert.strictEqual(Option.getOrThrow(yield* store.collection("people").get(id))["n"], 1)
      }
    })
  )
})

describe("what is remembered of files that were written", () => {
  const [one, two, three] = ["1", "2", "3"].map((digit) => digit.repeat(40) as Oid) as [Oid, Oid, Oid]
  const file = (before: Oid, after: Oid, at: number, time: number) => ({
    after,
    at,
    time,
    superseded: new Map([[before, at]]),
    newer: new Set<string>()
  })

  it("is every version that was replaced, in whatever order the replies come", () => {
    const inOrder = [
      ["first", one, two, 1, 0],
      ["second", two, three, 2, 1]
    ] as const
    // The reply to the first one comes when the second one, which began later, has been answered.
    const late = [
      ["second", two, three, 1, 0],
      ["first", one, two, 2, 0]
    ] as const
    for (const replies of [inOrder, late]) {
      const files = new WrittenFiles()
      for (const [, before, after, time, begun] of replies)
        files.note("a", file(before, after, 0, time), begun, 0)
      const known = files.get("a", 0)
      assert.strictEqual(known?.after, three)
      assert.deepStrictEqual([...(known?.superseded.keys() ?? [])].sort(), [one, two])
      assert.isUndefined(files.get("a", maxReplicaLag))
    }
  })

  it("says when it is not everything", () => {
    const files = new WrittenFiles(2)
    for (const [n, path] of ["a", "b"].entries()) files.note(path, file(one, two, n, n), n, n)
    assert.isFalse(files.hasForgotten(1))
    files.note("c", file(one, two, 2, 2), 2, 2)
    assert.isUndefined(files.get("a", 2))
    assert.isTrue(files.hasForgotten(2))
    assert.isFalse(files.hasForgotten(2 + maxReplicaLag))
    files.note("d", file(one, two, 2 * maxReplicaLag, 3), 3, 2 * maxReplicaLag)
    assert.isFalse(files.hasForgotten(2 * maxReplicaLag))
  })
})

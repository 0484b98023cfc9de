import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { fresh } from "../../support/github/Remote.js"

const ids = Array.from({ length: 12 }, (_, n) => `d${n}`)

describe("gets that are batched", () => {
  it.live("are one query, of one commit, and join a transaction", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh({ useGraphql: true })
      const store = yield* Effect.provideService(Store.make({ cache: false }), GitRemote, remote)
      const people = store.collection("people")
      yield* store.batch({}, (batch) => Effect.forEach(ids, (id) => batch.put("people", id, { id })))
      const get = (id: string) =>
        Effect.map(
          people.get(id, { batching: true }),
          Option.map((found) => found["id"])
        )
      const all = Effect.forEach([...ids, "missing"], get, { batching: true, concurrency: "unbounded" })
      const expected = [...ids.map((id) => Option.some(id)), Option.none()]
      yield* store.invalidate()
      const before = server.seen.length
      assert.deepStrictEqual(yield* all, expected)
      const batched = server.seen.length - before
      const apart = server.seen.length
      assert.deepStrictEqual(yield* Effect.forEach(ids.slice(0, 3), get), expected.slice(0, 3))
      assert.isAtMost(batched, 3)
      assert.isAtLeast(server.seen.length - apart, 3)
      const inside = people.update("d0", { id: "changed" })
      const joined = yield* store.withTransaction(Effect.zipRight(inside, all))
      assert.deepStrictEqual(joined, [Option.some("changed"), ...expected.slice(1)])
      const wrong = Effect.forEach(["d0", "a/b"], (id) => Effect.either(get(id)), {
        batching: true,
        concurrency: 2
      })
      assert.deepStrictEqual(
        (yield* wrong).map(({ _tag }) => _tag),
        ["Right", "Left"]
      )
    })
  )
})

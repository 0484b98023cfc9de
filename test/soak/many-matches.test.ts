import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import { GitRemote } from "../../src/store/remote/GitRemote.js"
import * as Memory from "../../src/store/remote/memory/Memory.js"
import * as Store from "../../src/store/Store.js"

/** More parts than one call can have arguments. */
const many = 200_000

it.live(
  "a small limit among many documents with one value, whose ids are in the other order than the index",
  () =>
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* Store.make({ format: 2, indexes: { people: ["city"] } })
      const people = store.collection("people")
      const content = new TextEncoder().encode('{"city":"Rome"}')
      yield* remote.commit("main", Option.none(), {
        message: "by another program",
        changes: Array.from({ length: many }, (_, at) => ({
          _tag: "Put" as const,
          path: `data/people/p${at}.json`,
          content
        }))
      })
      yield* people.reindex()
      const query = { orderBy: [{ field: "city", order: "desc" }, "_id"], limit: 1 } as const
      assert.strictEqual((yield* people.explainQuery(query, { run: false })).source, "index")
      const found = yield* Stream.runCollect(people.queryAll(query))
      assert.deepStrictEqual(
        Array.from(found, ({ _id }) => _id),
        ["p0"]
      )
    }).pipe(Effect.provide(Layer.fresh(Memory.layer()))),
  300_000
)

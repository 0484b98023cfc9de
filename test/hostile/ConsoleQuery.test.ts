import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Browse } from "../../src/store/browse/index.js"
import { GitRemote } from "../../src/store/remote/GitRemote.js"
import * as Store from "../../src/store/Store.js"
import { connect, remotes } from "../store/core/Remotes.js"

describe("the console's queries", () => {
  it.scopedLive(
    "go on with a sorted page when a document has come meanwhile",
    () =>
      Effect.gen(function* () {
        const remote = yield* connect(remotes[0]![1])
        const options = { format: 2 as const, indexes: { people: ["city"] } }
        const store = yield* Effect.provideService(Store.make(options), GitRemote, remote)
        const put = (from: number, count: number) =>
          store.batch({}, (batch) =>
            Effect.forEach(
              Array.from({ length: count }, (_, n) => from + n),
              (n) => batch.put("people", `p${n}`, { city: "Rome", age: n }),
              { discard: true }
            )
          )
        yield* put(0, 1_000)
        const browse = Browse.make({ store, remote, readOnly: true })
        const query = {
          collection: "people",
          filters: [{ path: "city", operator: "is" as const, value: "Rome" }],
          sort: { path: "age", descending: false },
          limit: 4
        }
        const first = yield* browse.query(query)
        assert.strictEqual(first.sorted, true)
        yield* put(1_000, 1)
        const next = yield* browse.query({ ...query, cursor: first.cursor })
        assert.deepStrictEqual(
          next.documents.map(({ _id }) => _id),
          ["p4", "p5", "p6", "p7"]
        )
      }),
    60_000
  )
})

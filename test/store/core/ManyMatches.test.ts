import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Layer, Option, Stream } from "effect"
import { makeCore } from "../../../src/store/internal/commit/MakeCore.js"
import { readQueryRequest } from "../../../src/store/internal/query/QueryRequest.js"
import { executionOf, runQuery } from "../../../src/store/internal/query/RunQuery.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import { resolveOptions } from "../../../src/store/StoreOptions.js"

/** The number of arguments of one call that overflows the stack, and more. */
const many = 200_000

const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
  it.live(title, () => Effect.provide(body, Layer.fresh(Memory.layer())), 60_000)

describe("a small limit among many matches", () => {
  test(
    "of an index of format 1",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const people = (yield* Store.make({ indexes: { people: ["city"] } })).collection("people")
      yield* people.insert({ city: "Rome" }, { id: "a" })
      const path = "data/_index/people/city.json"
      const head = Option.getOrThrow(yield* remote.head("main"))
      const index = JSON.parse(
        new TextDecoder().decode(Option.getOrThrow(yield* remote.file(head, path)).content)
      )
      // Further documents are not read, so they need not exist.
      index.values.Rome = ["a", ...Array.from({ length: many }, (_, at) => `b${at}`)]
      const content = new TextEncoder().encode(JSON.stringify(index))
      yield* remote.commit("main", Option.some(head), {
        message: "many ids",
        changes: [{ _tag: "Put", path, content }]
      })
      const found = yield* people.findBy("city", "Rome", { limit: 1 })
      assert.deepStrictEqual(
        found.map(({ _id }) => _id),
        ["a"]
      )
    })
  )

  test(
    "of an import with many records in one chunk",
    Effect.gen(function* () {
      const people = (yield* Store.make()).collection("people")
      const records = Stream.fromChunk(Chunk.makeBy(many, (at) => ({ _id: `p${at}` })))
      const importing = people.importRecords(records, {
        chunkSize: 1,
        onRow: ({ id }) => Effect.die(`stopped at ${id}`)
      })
      const stopped = yield* Effect.catchAllDefect(importing, Effect.succeed)
      assert.strictEqual(stopped, "stopped at p0")
    })
  )
})

describe("a query by an index of format 2", () => {
  test(
    "keeps no path of a document that it has streamed: its read set has the collection",
    Effect.gen(function* () {
      const options = { format: 2, indexes: { people: ["city"] } } as const
      const store = yield* Store.make(options)
      yield* store.batch({}, (batch) =>
        Effect.forEach(Chunk.range(1, 100), (at) =>
          batch.insert("people", { city: "Rome" }, { id: `p${at}` })
        )
      )
      const core = yield* makeCore(yield* GitRemote, Either.getOrThrow(resolveOptions(options)))
      const { query } = yield* readQueryRequest("queryAll", "people", { where: { city: "Rome" } })
      const target = {
        core,
        collection: "people",
        snapshot: core.snapshot(),
        query,
        after: undefined,
        limit: undefined,
        findsUnreadable: false,
        isPinned: true,
        reads: { entries: 0, documents: 0 }
      }
      const execution = yield* executionOf(target)
      assert.strictEqual(execution.plan._tag, "Tree")
      assert.strictEqual(yield* Stream.runCount(runQuery(target, execution)), 100)
      const { directories, files } = target.snapshot.readSet
      assert.deepStrictEqual([...directories], ["data/people"])
      assert.deepStrictEqual([...files.keys()], [])
    })
  )
})

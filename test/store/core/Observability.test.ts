import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric, Option, Stream } from "effect"
import { AuthError } from "../../../src/domain/errors/StoreError.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import { decorate } from "../../../src/store/StoreDecorator.js"
import { fresh } from "../../support/github/Remote.js"
import { collecting } from "../../support/spans.js"

/** How often operations of this name ended so, over all stores of this process. */
const counted = (operation: string, outcome: string) => {
  for (const { metricKey, metricState } of Metric.unsafeSnapshot()) {
    const labels = Object.fromEntries(metricKey.tags.map(({ key, value }) => [key, value]))
    const isIt = labels["operation"] === operation && labels["outcome"] === outcome
    if (metricKey.name === "chainstore_store_operations_total" && isIt && "count" in metricState) {
      return Number(metricState.count)
    }
  }
  return 0
}

describe("operations of a store", () => {
  it.live("each have a span that says what they were about, streams and transactions too", () =>
    Effect.gen(function* () {
      const remote = yield* Memory.make()
      const store = yield* Effect.provideService(Store.make({ branch: "main" }), GitRemote, remote)
      const people = store.collection("people")
      const { attributes, ended, tracer } = collecting()
      const before = [
        counted("Collection.insert", "success"),
        counted("Collection.insert", "failure")
      ] as const
      const repository = remote.name
      const commit = yield* Effect.gen(function* () {
        yield* people.insert({ n: 1 }, { id: "a" })
        const commit = Option.getOrThrow(yield* store.commitSha)
        yield* store.withTransaction(people.insert({ n: 2 }, { id: "b" }))
        yield* Effect.flip(people.insert({}, { id: "b" }))
        yield* people.get("a")
        yield* people.findBy("n", 1)
        yield* people.count
        yield* Stream.runDrain(people.all())
        yield* Stream.runDrain(people.pages({ size: 1 }))
        yield* store.transaction({}, (tx) => tx.collection("people").delete("b"))
        return commit
      }).pipe(Effect.withTracer(tracer))
      const own = ended.filter(({ parent }) => parent === undefined).map(({ name }) => name)
      assert.deepStrictEqual(own, [
        "Collection.insert",
        "Store.commitSha",
        "Store.withTransaction",
        "Collection.insert",
        "Collection.get",
        "Collection.findBy",
        "Collection.count",
        "Collection.all",
        "Collection.pages",
        "Store.transaction"
      ])
      const about = { repository, branch: "main", collection: "people", requests: 0 }
      const inserts = ended.filter(({ name }) => name === "Collection.insert")
      assert.deepStrictEqual(
        inserts.map(({ parent }) => parent),
        [undefined, "Store.withTransaction", undefined]
      )
      assert.deepStrictEqual(Object.fromEntries(inserts[0]?.attributes ?? []), {
        ...about,
        id: "a",
        documents: 1,
        commit
      })
      assert.deepStrictEqual(attributes("Collection.get"), { ...about, id: "a" })
      assert.deepStrictEqual(attributes("Collection.findBy"), { ...about, field: "n", documents: 1 })
      assert.deepStrictEqual(attributes("Collection.all"), { ...about, documents: 2 })
      assert.deepStrictEqual(attributes("Collection.pages"), { ...about, documents: 2 })
      const removed = attributes("Collection.delete")
      assert.match(String(removed["branch"]), /^chainstore-tx-/)
      assert.strictEqual(removed["commit"], attributes("Store.transaction")["commit"])
      assert.deepStrictEqual(
        [counted("Collection.insert", "success"), counted("Collection.insert", "failure")],
        [before[0] + 2, before[1] + 1]
      )
    })
  )

  it.live("are all passed to a decorator, which may refuse them", () =>
    Effect.gen(function* () {
      const remote = yield* Memory.make()
      const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
      yield* store.collection("people").insert({ n: 1 }, { id: "a" })
      const told: Array<string> = []
      const refused = new AuthError({ operation: "test", message: "no" })
      const reading = decorate(store, {
        effect: ({ collection, id, name, writes }, run) => {
          told.push([name, collection, id].filter((part) => part !== undefined).join(" "))
          return writes && name !== "transaction" ? Effect.fail(refused) : run
        },
        stream: ({ name }, run) => {
          told.push(name)
          return run
        }
      })
      const people = reading.collection("people")
      const view = yield* reading.snapshot
      yield* view.collection("people").get("a")
      yield* Stream.runDrain(people.find(() => true))
      const writes = [
        people.update("a", { n: 2 }),
        reading.batch({}, (batch) => batch.put("people", "a", {})),
        reading.withTransaction(store.collection("people").update("a", {})),
        reading.onBranch("main").collection("people").delete("a"),
        reading.transaction({}, (tx) => tx.collection("people").update("a", {}))
      ]
      for (const write of writes) assert.strictEqual((yield* Effect.flip(Effect.asVoid(write))).message, "no")
      assert.strictEqual(Option.getOrThrow(yield* people.get("a"))._rev, 1)
      assert.deepStrictEqual(told, [
        "snapshot",
        "get people a",
        "find",
        "update people a",
        "batch",
        "withTransaction",
        "delete people a",
        "transaction",
        "update people a",
        "get people a"
      ])
    })
  )

  it.live("have the number of their requests", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh()
      const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
      const people = store.collection("people")
      yield* people.insert({ n: 1 }, { id: "a" })
      const { attributes, tracer } = collecting()
      const taken = <A, E>(effect: Effect.Effect<A, E>) =>
        Effect.gen(function* () {
          const before = server.seen.length
          yield* Effect.withTracer(effect, tracer)
          return server.seen.length - before
        })
      const read = yield* taken(people.get("a", { fresh: true }))
      assert.isAbove(read, 0)
      assert.strictEqual(attributes("Collection.get")["requests"], read)
      const streamed = yield* taken(Stream.runDrain(people.all()))
      assert.strictEqual(attributes("Collection.all")["requests"], streamed)
      const transacted = yield* taken(store.withTransaction(people.update("a", { n: 2 })))
      assert.isAbove(transacted, 2)
      assert.strictEqual(attributes("Store.withTransaction")["requests"], transacted)
      assert.isBelow(Number(attributes("Collection.update")["requests"]), transacted)
    })
  )
})

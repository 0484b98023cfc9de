import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { collecting } from "../../support/spans.js"
import { connect, hosted, pushed, remotes } from "./Remotes.js"

const every = [
  ...[...remotes, ...hosted].map(([name, layer]) => [name, connect(layer)] as const),
  ...pushed.map(([name, repository]) => [name, Effect.flatten(repository)] as const)
]

describe("spans have the subject and the result of operations", () => {
  for (const [name, connecting] of every) {
    it.live(name, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const remote = yield* connecting
          const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
          const people = store.collection("people")
          const { attributes, tracer } = collecting()
          const now = Effect.map(store.commitSha, Option.getOrThrow)
          const told = <A, E>(operation: string, effect: Effect.Effect<A, E>) =>
            Effect.gen(function* () {
              const result = yield* Effect.withTracer(effect, tracer)
              const { repository, requests, ...rest } = attributes(operation)
              assert.isString(repository, operation)
              assert.isNumber(requests, operation)
              return { result, rest, requests }
            })
          const of = { branch: "main", collection: "people" }
          const check = <A, E>(
            operation: string,
            effect: Effect.Effect<A, E>,
            expected: (result: A, commit: string) => object
          ) =>
            Effect.gen(function* () {
              const { requests, rest, result } = yield* told(operation, effect)
              const commit = yield* now
              assert.deepStrictEqual(rest, expected(result, commit) as never, operation)
              if (remote.estimate({ _tag: "Read", documents: 1 }) > 0)
                assert.isAbove(Number(requests), 0, operation)
            })
          yield* check("Collection.insert", people.insert({ n: 1 }), (id, commit) => ({
            ...of,
            id,
            documents: 1,
            commit
          }))
          yield* people.insert({ n: 2 }, { id: "b" })
          yield* check("Collection.update", people.update("b", { n: 3 }), (_, commit) => ({
            ...of,
            id: "b",
            documents: 1,
            commit
          }))
          yield* check("Collection.get", people.get("b", { fresh: true }), () => ({ ...of, id: "b" }))
          yield* check("Collection.all", Stream.runDrain(people.all()), () => ({ ...of, documents: 2 }))
          const batch = store.batch({}, (batch) =>
            Effect.all([batch.put("people", "c", { n: 4 }), batch.put("people", "d", { n: 5 })])
          )
          yield* check("Store.batch", batch, (_, commit) => ({ branch: "main", documents: 2, commit }))
          const writer = store.writer({}, (writer) => writer.put("people", "w", { n: 4 }))
          yield* check("Store.writer", writer, (_, commit) => ({ branch: "main", documents: 1, commit }))
          const both = Effect.all([
            people.update("b", { n: 6 }),
            people.update("b", { n: 7 }),
            people.delete("c")
          ])
          yield* check("Store.withTransaction", store.withTransaction(both), (_, commit) => ({
            branch: "main",
            documents: 2,
            commit
          }))
          const nested = store.transaction({}, (tx) =>
            Effect.zipRight(
              tx.collection("people").insert({ n: 8 }),
              tx.batch({}, (batch) => batch.put("people", "e", { n: 9 }))
            )
          )
          yield* check("Store.transaction", nested, (_, commit) => ({ branch: "main", documents: 2, commit }))
          yield* check("Collection.delete", people.delete("b"), (_, commit) => ({
            ...of,
            id: "b",
            documents: 1,
            commit
          }))
          const imported = people.importRecords([{ n: 1 }, { n: 2 }])
          yield* check("Collection.importRecords", imported, (_, commit) => ({ ...of, documents: 2, commit }))
        })
      )
    )
  }
})

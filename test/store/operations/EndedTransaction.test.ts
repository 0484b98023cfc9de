import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber } from "effect"
import type { StoreError } from "../../../src/domain/errors/StoreError.js"
import type { Collection } from "../../../src/store/Collection.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { type OnTouch, withFaults } from "../../../src/testing/program/FaultyRemote.js"
import { connect, hosted, remotes } from "../core/Remotes.js"

const tagOf = <A>(effect: Effect.Effect<A, StoreError>) =>
  Effect.map(Effect.either(effect), (answer) => (Either.isLeft(answer) ? String(answer.left) : "done"))

describe.each([...remotes, ...hosted])("a transaction that has ended, on %s", (_name, layer) => {
  const begin = (onTouch: OnTouch = () => Effect.void) =>
    Effect.gen(function* () {
      const plain = yield* connect(layer)
      const remote = withFaults(plain, onTouch)
      const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
      yield* store.collection("notes").insert({ n: 1 }, { id: "a" })
      return { plain, store }
    })

  for (const end of ["commits", "rolls back"])
    it.scopedLive(`is not read or written any more, once it ${end}`, () =>
      Effect.gen(function* () {
        const { store } = yield* begin()
        let notes: Collection | undefined
        yield* Effect.ignore(
          store.transaction({}, (tx) => {
            notes = tx.collection("notes")
            const read = Effect.zipRight(notes.get("a"), notes.insert({}, { id: "b" }))
            return end === "commits" ? read : Effect.zipRight(read, Effect.fail("mine"))
          })
        )
        const late = notes!
        for (const use of [
          late.get("a"),
          late.exists("a"),
          late.list(),
          late.count,
          late.findBy("n", 1),
          late.history("a"),
          late.version("a"),
          late.insert({}),
          late.update("a", { n: 2 }),
          late.reindex()
        ] as ReadonlyArray<Effect.Effect<unknown, StoreError>>)
          assert.match(yield* tagOf(use), /^ValidationError: this transaction has ended/)
      })
    )

  for (const [use, call] of [
    ["write", (notes: Collection) => notes.insert({ n: 2 }, { id: "b" })],
    ["read", (notes: Collection) => notes.get("a")]
  ] as const)
    it.scopedLive(`fails or completes a running ${use} when it rolls back`, () =>
      Effect.gen(function* () {
        const started = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        let held = false
        const { plain, store } = yield* begin(({ operation, point }) =>
          Effect.suspend(() => {
            if (!held || point !== "before" || (operation !== "commitNext" && operation !== "file"))
              return Effect.void
            held = false
            return Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(gate))
          })
        )
        let underWay: Fiber.Fiber<string> | undefined
        const rolledBack = yield* Effect.fork(
          Effect.either(
            store.transaction({}, (tx) =>
              Effect.gen(function* () {
                const one: Effect.Effect<unknown, StoreError> = call(tx.collection("notes"))
                held = true
                underWay = yield* Effect.forkDaemon(tagOf(one))
                yield* Deferred.await(started)
                return yield* Effect.fail("mine")
              })
            )
          )
        )
        yield* Deferred.await(started)
        // The transaction waits for the call, or goes on without it.
        yield* Effect.raceFirst(Fiber.await(rolledBack), Effect.sleep(50))
        yield* Deferred.succeed(gate, undefined)
        assert.deepStrictEqual(yield* Fiber.join(rolledBack), Either.left("mine"))
        assert.match(yield* Fiber.join(underWay!), /^(done|ValidationError: this transaction has ended)/)
        const names = (yield* plain.listBranches("")).map(({ name }) => name)
        assert.deepStrictEqual(names, ["main"])
        assert.deepStrictEqual(yield* store.collection("notes").list(), ["a"])
      })
    )

  it.scopedLive("is the only one that counts as left behind in this process", () =>
    Effect.gen(function* () {
      const { plain, store } = yield* begin()
      const other = yield* Effect.provideService(Store.make(), GitRemote, plain)
      yield* store.transaction({}, (tx) =>
        Effect.gen(function* () {
          yield* tx.collection("notes").insert({}, { id: "b" })
          for (const one of [store, store.onBranch("dev"), other]) {
            assert.deepStrictEqual(yield* one.staleTransactions, [])
            assert.match(yield* tagOf(one.removeTransaction(tx.branch)), /is still running/)
          }
        })
      )
      assert.deepStrictEqual(yield* store.collection("notes").list(), ["a", "b"])
    })
  )
})

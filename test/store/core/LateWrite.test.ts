import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { type OnTouch, withFaults } from "../../../src/testing/program/FaultyRemote.js"
import { repositories } from "./Remotes.js"

// A: believes the plain layout and is on its way. Another client shards the repository, and a third one learns the new
// layout. Then A's request arrives.
it.scopedLive.each(repositories)(
  "a document written by old settings is not acknowledged where nobody looks, on %s",
  ([, repository]) =>
    Effect.gen(function* () {
      const client = yield* repository
      const open = (options: StoreOptions = {}, onTouch: OnTouch = () => Effect.void) =>
        Effect.flatMap(client, (remote) =>
          Effect.provideService(Store.make(options), GitRemote, withFaults(remote, onTouch))
        )
      const gate = yield* Deferred.make<void>()
      const started = yield* Deferred.make<void>()
      let hold = false
      let built = 0
      const store = yield* open({}, ({ operation, point }) =>
        Effect.suspend(() => {
          if (!hold || operation !== "commitNext" || point !== "building") return Effect.void
          // Once before the edit runs, and once after it.
          if (++built < 2) return Effect.void
          hold = false
          return Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(gate))
        })
      )
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "ada" })
      yield* people.delete("ada")
      hold = true
      const a = yield* Effect.fork(people.insert({ n: 1 }, { id: "anne" }))
      yield* Deferred.await(started)
      const sharded = yield* open({ shardDepth: 1 })
      yield* sharded.collection("places").insert({ n: 1 }, { id: "rome" })
      const third = (yield* open()).collection("people")
      yield* third.insert({ n: 2 }, { id: "bob" })
      yield* third.insert({ n: 3 }, { id: "cleo" })
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(a)
      const fresh = yield* open()
      const found = yield* fresh.collection("people").get("anne")
      assert.isTrue(Option.isSome(found), "the acknowledged document anne is not there")
      assert.deepStrictEqual(yield* fresh.collection("people").list(), ["anne", "bob", "cleo"])
    })
)

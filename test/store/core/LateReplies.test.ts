import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { makeSnapshot, type Snapshot } from "../../../src/store/internal/snapshot/Snapshot.js"
import type { GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { HeldReply, isWrite } from "../../support/github/HeldReply.js"
import { makeServer } from "../../support/github/InProcess.js"
import { remoteOf } from "../../support/github/Remote.js"
import { ways } from "./Remotes.js"
import { open, peopleOn, put, sharded } from "./Sharding.js"

/** The ids of a collection, as a view of the newest commit and as the branch's name have them. */
const idsOf = (store: StoreService, collection = "people") =>
  Effect.all([
    Effect.flatMap(store.snapshot, (view) => view.collection(collection).list()),
    store.collection(collection).list()
  ])

const batchOf = (store: StoreService, ...ids: ReadonlyArray<string>) =>
  store.batch({}, (batch) => Effect.forEach(ids, (id) => batch.put("people", id, {}), { discard: true }))

describe.each(ways)("replies that come late, %s", (_way, options) => {
  /** A repository with two documents, whose settings this client has seen, and a reply of it that can be held. */
  const begin = Effect.gen(function* () {
    const server = yield* makeServer()
    server.commit("main", [put("people/ann.json", { n: 0 }), put("README", {})])
    const held = new HeldReply(server)
    const remote = yield* remoteOf(server, options, held.send)
    const store = yield* open(remote)
    yield* store.collection("people").insert({}, { id: "bob" })
    return { server, held, remote, store }
  })

  /** Runs an effect until the chosen request has taken effect, then another one, and lets the reply go. */
  const beside = <A, E, B, E2>(
    held: HeldReply,
    first: Effect.Effect<A, E>,
    chosen: HeldReply["chosen"],
    meanwhile: Effect.Effect<B, E2>
  ) =>
    Effect.gen(function* () {
      held.chosen = chosen
      const fiber = yield* Effect.fork(first)
      yield* Effect.promise(() => held.arrived)
      const result = yield* meanwhile
      held.release()
      yield* Fiber.join(fiber)
      return result
    })

  for (const [kind, write] of [
    [
      "a document's",
      (store: StoreService) => Effect.asVoid(store.collection("people").insert({}, { id: "cleo" }))
    ],
    ["a batch's", (store: StoreService) => Effect.asVoid(batchOf(store, "cleo"))]
  ] as const)
    it.live(`do not take back what another process wrote on top of ${kind} commit`, () =>
      Effect.gen(function* () {
        const { held, server, store } = yield* begin
        const all = ["ann", "bob", "cleo", "theirs"]
        const seen = yield* beside(
          held,
          write(store),
          isWrite,
          Effect.suspend(() => {
            server.commit("main", [put("people/theirs.json", {})])
            return idsOf(store)
          })
        )
        assert.deepStrictEqual(seen, [all, all])
        assert.deepStrictEqual(yield* idsOf(store), [all, all])
        yield* batchOf(store, "dora")
        assert.deepStrictEqual(yield* idsOf(store), [[...all, "dora"].sort(), [...all, "dora"].sort()])
      })
    )

  it.live("of reads by the branch's name are replaced by the commit found meanwhile", () =>
    Effect.gen(function* () {
      const { held, remote, server } = yield* begin
      const oidOf: ReadonlyArray<(snapshot: Snapshot) => Effect.Effect<Option.Option<string>, unknown>> = [
        (snapshot) =>
          Effect.map(
            snapshot.file("data/people/ann.json"),
            Option.map(({ oid }) => oid)
          ),
        (snapshot) =>
          Effect.map(
            snapshot.directory("data/people"),
            Option.map(({ tree }) => tree.oid)
          )
      ]
      for (const [n, read] of oidOf.entries()) {
        yield* remote.invalidate
        const snapshot = makeSnapshot(remote.snapshot("main"))
        let early = Option.none<string>()
        yield* beside(
          held,
          Effect.map(read(snapshot), (found) => {
            early = found
          }),
          () => true,
          Effect.suspend(() => {
            server.commit("main", [put("people/ann.json", { n: n + 1 })])
            return snapshot.head
          })
        )
        assert.isTrue(Option.isSome(early))
        assert.deepStrictEqual(yield* read(snapshot), early, "one snapshot, two versions")
        assert.deepStrictEqual(yield* read(makeSnapshot(remote.snapshot("main"))), early)
      }
    })
  )

  it.live("of a transaction's end do not take back what this process wrote on top of it", () =>
    Effect.gen(function* () {
      const { held, store } = yield* begin
      yield* beside(
        held,
        store.transaction({}, (tx) => tx.collection("people").insert({}, { id: "cleo" })),
        ({ body, method, url }) =>
          (method === "PATCH" && url.endsWith("/heads/main")) || body.includes("mutation Move"),
        Effect.zipRight(batchOf(store, "dora"), store.collection("people").update("dora", { n: 2 }))
      )
      const all = ["ann", "bob", "cleo", "dora"]
      assert.deepStrictEqual(yield* idsOf(store), [all, all])
      assert.strictEqual(Option.getOrThrow(yield* store.collection("people").get("dora"))._rev, 2)
    })
  )

  it.live("of a look are not believed where this process has written since", () =>
    Effect.gen(function* () {
      const { held, remote } = yield* begin
      const look = { maxAge: 60_000 }
      const settings = (from: GitRemoteService) => from.snapshot("main").file("data/_chainstore.json", look)
      yield* remote.invalidate
      yield* beside(
        held,
        remote.snapshot("main").directory("data", look),
        ({ method, url }) => method === "GET" && url.includes("/git/trees/"),
        Effect.flatMap(remote.head("main"), (head) =>
          remote.commit("main", head, { message: "settings", changes: [sharded] })
        )
      )
      assert.isTrue(Option.isSome(yield* settings(remote)))
    })
  )

  for (const kind of ["insert", "update", "delete"] as const)
    it.live(`are waited for by an ${kind} that is interrupted, so that it is judged by its own commit`, () =>
      Effect.gen(function* () {
        const { held, server, store } = yield* begin
        const people = store.collection("people")
        yield* people.update("ann", { n: 1 })
        server.commit("main", [sharded])
        held.chosen = isWrite
        const fiber = yield* Effect.fork(
          kind === "insert"
            ? Effect.asVoid(people.insert({}, { id: "cleo" }))
            : kind === "update"
              ? Effect.asVoid(people.update("ann", { n: 2 }))
              : people.delete("ann")
        )
        yield* Effect.promise(() => held.arrived)
        const stopped = yield* Effect.fork(Fiber.interrupt(fiber))
        yield* Effect.yieldNow()
        held.release()
        yield* Fiber.join(stopped)
        assert.deepStrictEqual(peopleOn(server), ["data/people/ann.json", "data/people/bob.json"])
        assert.strictEqual(JSON.parse(server.show("data/people/ann.json")!).n, 1)
      })
    )

  it.live("of a commit that was interrupted leave no older settings behind", () =>
    Effect.gen(function* () {
      const server = yield* makeServer()
      server.commit("main", [put("README", {})])
      const held = new HeldReply(server)
      const remote = yield* remoteOf(server, options, held.send)
      const reader = (yield* open(remote)).collection("people")
      assert.isTrue(Option.isNone(yield* reader.get("ann")))
      const writer = (yield* open(remote, { shardDepth: 1 })).collection("people")
      held.chosen = isWrite
      const fiber = yield* Effect.fork(writer.insert({}, { id: "ann" }))
      yield* Effect.promise(() => held.arrived)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(peopleOn(server), ["data/people/an/ann.json"])
      assert.isTrue(Option.isSome(yield* reader.get("ann")))
    })
  )
})

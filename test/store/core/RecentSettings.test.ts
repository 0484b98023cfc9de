import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { MemoryCache } from "../../../src/store/Cache.js"
import type { WriteError } from "../../../src/store/Collection.js"
import type { GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { makeServer, replying } from "../../support/github/InProcess.js"
import { fresh, remoteOf } from "../../support/github/Remote.js"
import { ways } from "./Remotes.js"
import { open, peopleOn, put, sharded } from "./Sharding.js"

describe.each(ways)("settings that were seen lately, %s", (_way, options) => {
  /** A store of a repository without settings, which has seen that there are none. */
  const believer = (see: "read" | "write") =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh(options)
      server.commit("main", [put("README", {})])
      const store = yield* open(remote)
      const people = store.collection("people")
      if (see === "read") assert.isTrue(Option.isNone(yield* people.get("bob")))
      else yield* people.insert({ n: 1 }, { id: "ann" })
      return { remote, server, store, people: store.collection("people") }
    })

  it.live("are replaced by the directory that a write sees later", () =>
    Effect.gen(function* () {
      const it = yield* believer("read")
      it.server.commit("main", [sharded])
      yield* it.people.insert({ n: 1 }, { id: "bob" })
      assert.deepStrictEqual(peopleOn(it.server), ["data/people/bo/bob.json"])
    })
  )

  it.live("refuse no write, and let none pass for done", () =>
    Effect.gen(function* () {
      const it = yield* believer("write")
      it.server.commit("main", [
        sharded,
        put("people/bo/bob.json", { n: 1 }),
        put("people/cl/cleo.json", { n: 1 })
      ])
      assert.strictEqual((yield* it.people.update("bob", { n: 2 }))["n"], 2)
      const other = yield* believer("write")
      other.server.commit("main", [sharded, put("people/bo/bob.json", { n: 1 })])
      yield* other.people.delete("bob")
      assert.deepStrictEqual(peopleOn(other.server), ["data/people/ann.json"])
    })
  )

  it.live("are not another store's version, which is held in its own cache", () =>
    Effect.gen(function* () {
      const server = yield* makeServer()
      server.commit("main", [put("people/ann.json", { n: 1 }), put("_chainstore.json", { format: 1 })])
      const getAnn = (remote: GitRemoteService, cache: MemoryCache) =>
        Effect.gen(function* () {
          const found = yield* (yield* open(remote, { cache })).collection("people").get("ann")
          assert.isTrue(Option.isSome(found))
        })
      const [older, newer] = [new MemoryCache(), new MemoryCache()]
      yield* getAnn(yield* remoteOf(server, options), older)
      const gone = { _tag: "Remove", path: "data/people/ann.json" } as const
      server.commit("main", [sharded, gone, put("people/an/ann.json", { n: 1 })])
      yield* getAnn(yield* remoteOf(server, options), newer)
      const remote = yield* remoteOf(server, options)
      yield* getAnn(remote, newer)
      yield* getAnn(remote, older)
    })
  )

  it.live("are those of the commit that a transaction of this process has published", () =>
    Effect.gen(function* () {
      const it = yield* believer("read")
      const other = yield* open(it.remote, { shardDepth: 1 })
      yield* other.transaction({}, (tx) => tx.collection("people").insert({ n: 1 }, { id: "bob" }))
      assert.isTrue(Option.isSome(yield* it.people.get("bob")))
    })
  )

  it.live("are those of the commit that a batch of this process has made", () =>
    Effect.gen(function* () {
      const it = yield* believer("read")
      it.server.commit("main", [sharded])
      yield* it.store.batch({}, (batch) => batch.put("people", "bob", { n: 1 }))
      assert.isTrue(Option.isSome(yield* it.people.get("bob")))
    })
  )

  it.live("are not those of a branch that was deleted and made again elsewhere", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh(options)
      const at = server.commit("main", [put("people/bob.json", { n: 1 })])
      server.setRef("refs/heads/side", at)
      server.commit("side", [sharded])
      const side = (yield* open(remote)).onBranch("side").collection("people")
      assert.isTrue(Option.isNone(yield* side.get("bob")))
      yield* remote.deleteBranch("side")
      yield* remote.createBranch("side", at)
      assert.isTrue(Option.isSome(yield* side.get("bob")))
    })
  )

  it.live("are not what a preview shows", () =>
    Effect.gen(function* () {
      const { people, server, store } = yield* believer("write")
      server.commit("main", [sharded, put("people/cl/cleo.json", { n: 1 })])
      const shown = (write: (store: StoreService) => Effect.Effect<unknown, WriteError>) =>
        Effect.map(store.preview(write), (commit) =>
          Option.getOrThrow(commit).changes.map(({ path }) => path)
        )
      assert.deepStrictEqual(
        yield* shown((dry) => dry.collection("people").insert({ n: 1 }, { id: "bob" })),
        ["data/people/bo/bob.json"]
      )
      assert.deepStrictEqual(yield* shown((dry) => dry.collection("people").update("cleo", { n: 2 })), [
        "data/people/cl/cleo.json"
      ])
      yield* people.delete("cleo")
      assert.deepStrictEqual(yield* people.list(), [])
    })
  )

  it.live(
    "cost nobody a file that has the name of a new collection, on a host that puts a directory there",
    () =>
      Effect.gen(function* () {
        const { server, store } = yield* believer("write")
        server.commit("main", [put("notes", { theirs: true })])
        server.fault = ({ body, method, url }) => {
          if (method !== "PUT" || !url.includes("data/notes/")) return undefined
          const parent = server.head()
          const content = Buffer.from(JSON.parse(body).content, "base64")
          const path = "data/notes/bob.json"
          const changes = [
            { _tag: "Remove", path: "data/notes" },
            { _tag: "Put", path, content }
          ] as const
          const sha = server.commit("main", changes)
          const made = { sha, tree: { sha: server.id("main^{tree}") }, parents: [{ sha: parent }] }
          const reply = { content: { sha: server.id(`main:${path}`) }, commit: made }
          return replying({ status: 201, body: JSON.stringify(reply) })
        }
        for (const write of [
          store.collection("notes").insert({}, { id: "bob" }),
          store.collection("notes").upsert("bob", {})
        ] as ReadonlyArray<Effect.Effect<unknown, WriteError>>) {
          const refused = yield* Effect.flip(write)
          assert.match(String(refused), /^ValidationError: data\/notes is a file/)
          assert.deepStrictEqual(JSON.parse(server.show("data/notes")!), { theirs: true })
        }
      })
  )

  it.live("are looked at again after a write that could not be taken back", () =>
    Effect.gen(function* () {
      const deadline = "1 second"
      const { remote, server } = yield* fresh({ ...options, deadline })
      server.commit("main", [put("README", {})])
      const it = (yield* open(remote, { deadline })).collection("people")
      yield* it.insert({ n: 1 }, { id: "ann" })
      server.commit("main", [sharded])
      server.fault = ({ method }) => {
        if (method !== "DELETE") return undefined
        const message = `is at ${server.head()} but expected ${"1".repeat(40)}`
        return replying({ status: 409, body: JSON.stringify({ message }) })
      }
      assert.strictEqual((yield* Effect.flip(it.insert({}, { id: "bob" })))._tag, "AmbiguousWriteError")
      yield* it.insert({}, { id: "cleo" })
      assert.deepStrictEqual(peopleOn(server), [
        "data/people/ann.json",
        "data/people/bob.json",
        "data/people/cl/cleo.json"
      ])
    })
  )

  for (const [title, refused] of [
    ["in the end", 1],
    ["never", Number.POSITIVE_INFINITY]
  ] as const)
    it.live(`leave no refused write behind where the branch lets it be taken back ${title}`, () =>
      Effect.gen(function* () {
        const deadline = "2 seconds"
        const { remote, server } = yield* fresh({ ...options, deadline })
        server.commit("main", [put("README", {})])
        const it = (yield* open(remote, { deadline })).collection("people")
        yield* it.insert({ n: 1 }, { id: "ann" })
        server.commit("main", [put("_chainstore.json", { format: 99 })])
        let since: number | undefined
        server.fault = ({ method }) => {
          if (method !== "DELETE") return undefined
          since ??= Date.now()
          if (Date.now() - since > refused * 1000) return undefined
          const message = `is at ${server.head()} but expected ${"1".repeat(40)}`
          return replying({ status: 409, body: JSON.stringify({ message }) })
        }
        const failed = yield* Effect.flip(it.insert({ n: 1 }, { id: "bob" }))
        const isLeft = peopleOn(server).includes("data/people/bob.json")
        assert.strictEqual(failed._tag === "AmbiguousWriteError", isLeft)
      })
    )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { ConflictError } from "../../../src/domain/errors/StoreError.js"
import { settingsFileName } from "../../../src/domain/settings/Settings.js"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { derivedProblems } from "../../../src/testing/history/DerivedCheck.js"
import { checkHistory } from "../../../src/testing/history/HistoryCheck.js"
import { readHistory } from "../../../src/testing/history/HistoryReader.js"
import type { Event } from "../../../src/testing/program/ProgramTrace.js"
import { idsOf } from "../../support/documents.js"
import { fresh } from "../../support/github/Remote.js"
import { hosted, remotes, ways } from "./Remotes.js"
import { put, sharded } from "./Sharding.js"

const open = (options: StoreOptions = {}) => Store.make(options)

const paths = (remote: GitRemoteService) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head("main"))
    const tree = Option.getOrThrow(yield* remote.tree(head, "data", { recursive: true }))
    return tree.entries.filter(({ kind }) => kind === "blob").map(({ path }) => path)
  })

/** A store that believes the repository to be plain: it wrote there a moment ago, and nothing is left of it. */
const believer = (options: StoreOptions = {}) =>
  Effect.gen(function* () {
    const store = yield* open(options)
    const people = store.collection("people")
    yield* people.insert({ n: 0 }, { id: "ada" })
    yield* people.delete("ada")
    return store
  })

const settingsByHand = (remote: GitRemoteService, settings: object) =>
  Effect.gen(function* () {
    const head = yield* remote.head("main")
    const content = new TextEncoder().encode(JSON.stringify(settings))
    const path = `data/${settingsFileName}`
    yield* remote.commit("main", head, {
      message: "settings by hand",
      changes: [{ _tag: "Put", path, content }]
    })
  })

describe.each([...remotes, ...hosted])("settings that change under a writer on %s", (_name, layer) => {
  const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
    it.live(title, () => Effect.provide(body, Layer.fresh(layer)))

  test(
    "a document is written to the path of the new layout",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* believer()
      const sharded = yield* open({ shardDepth: 1 })
      yield* sharded.collection("places").insert({ n: 1 }, { id: "rome" })
      const people = store.collection("people")
      yield* people.insert({ n: 2 }, { id: "bob" })
      yield* people.insert({ n: 3 }, { id: "cleo" })
      assert.deepStrictEqual(yield* sharded.collection("people").list(), ["bob", "cleo"])
      assert.deepStrictEqual(Option.getOrThrow(yield* sharded.collection("people").get("bob"))["n"], 2)
      assert.deepStrictEqual(Option.getOrThrow(yield* people.get("bob"))._rev, 1)
      assert.deepStrictEqual(
        (yield* paths(remote)).filter((path) => path.startsWith("people")),
        ["people/bo/bob.json", "people/cl/cleo.json"]
      )
    })
  )

  test(
    "a document does not land where the store's own options contradict what was recorded",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* believer({ shardDepth: 0 })
      yield* settingsByHand(remote, { format: 1, shardDepth: 1 })
      const failed = yield* Effect.flip(store.collection("people").insert({ n: 2 }, { id: "bob" }))
      assert.strictEqual(failed._tag, "ValidationError")
      assert.include(failed.message, "shardDepth")
      assert.deepStrictEqual(yield* paths(remote), [settingsFileName])
    })
  )

  test(
    "nothing is left in a repository of a newer format, and a document that was there stays as it was",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* open()
      const people = store.collection("people")
      yield* people.insert({ n: 1 }, { id: "ada" })
      yield* settingsByHand(remote, { format: 99 })
      assert.strictEqual((yield* Effect.flip(people.insert({ n: 2 }, { id: "bob" })))._tag, "ValidationError")
      yield* store.invalidate()
      assert.strictEqual((yield* Effect.flip(people.update("ada", { n: 2 })))._tag, "ValidationError")
      assert.deepStrictEqual(Option.getOrThrow(yield* people.get("ada"))["n"], 1)
      assert.deepStrictEqual(yield* people.list(), ["ada"])
    })
  )

  test(
    "settings that a read believed are not those of the commit that a later read or write finds",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const indexed = yield* open({ indexes: { people: ["city"] } })
      yield* indexed.collection("people").insert({ city: "Rome", n: 1 }, { id: "ada" })
      const store = yield* open()
      const people = store.collection("people")
      yield* people.get("ada")
      const recorded = { indexes: { people: ["city", "n"] }, manifests: {} }
      yield* settingsByHand(remote, { format: 1, indexes: recorded.indexes })
      yield* (yield* open()).collection("people").reindex()
      assert.strictEqual((yield* people.findBy("city", "Rome")).length, 1)
      yield* store.batch({}, (batch) => batch.put("people", "bob", { city: "Rome", n: 2 }))
      const history = yield* readHistory(remote, "main", "data")
      assert.deepStrictEqual(derivedProblems(history[history.length - 1]!, "people", recorded), [])
    })
  )

  test(
    "a document that a transaction missed is a conflict where it was made in a new layout",
    Effect.gen(function* () {
      const store = yield* believer()
      const failed = yield* Effect.flip(
        store.transaction({}, (tx) =>
          Effect.gen(function* () {
            assert.isFalse(yield* tx.collection("people").exists("bob"))
            const sharded = yield* open({ shardDepth: 1 })
            yield* sharded.collection("people").insert({ n: 1 }, { id: "bob" })
          }).pipe(Effect.zipRight(tx.collection("places").insert({}, { id: "rome" })))
        )
      )
      assert.instanceOf(failed, ConflictError)
      assert.deepStrictEqual(
        failed.conflicts.map(({ id }) => id),
        ["bob"]
      )
    })
  )

  test(
    "an index that began meanwhile finds the document",
    Effect.gen(function* () {
      const store = yield* open()
      const people = store.collection("people")
      yield* people.insert({ city: "Rome" }, { id: "ada" })
      const indexed = yield* open({ indexes: { people: ["city"] } })
      yield* indexed.collection("people").reindex()
      yield* people.insert({ city: "Rome" }, { id: "bob" })
      yield* people.update("ada", { city: "Bern" })
      const found = yield* indexed.collection("people").findBy("city", "Rome")
      assert.deepStrictEqual(idsOf(found), ["bob"])
    })
  )
})

const derivedFields = { indexes: { people: ["city"] }, manifests: { people: ["city"] } }

/** The ways to write one document, each with what it leaves of `ada` and of `bob`. */
const writes = [
  ["insert", { id: "bob", fields: { city: "Rome" } }, ["ada", "bob"]],
  ["update", { id: "ada", fields: { city: "Bern" } }, ["ada"]],
  ["delete", { id: "ada", fields: {} }, []]
] as const

describe.each([...remotes, ...hosted])("an index that begins under a writer on %s", (_name, layer) => {
  for (const [kind, { fields, id }, left] of writes) {
    it.live(`has the document when its ${kind} is acknowledged`, () =>
      Effect.gen(function* () {
        const remote = yield* GitRemote
        const people = (yield* believer()).collection("people")
        yield* people.insert({ city: "Paris" }, { id: "ada" })
        const indexed = (yield* open(derivedFields)).collection("people")
        assert.isTrue(Option.isSome(yield* indexed.reindex()))
        const from = Option.getOrThrow(yield* remote.head("main")).commit
        const message = "the write"
        const value =
          kind === "insert"
            ? yield* people.insert(fields, { id, message })
            : kind === "update"
              ? yield* people.update(id, fields, { message })
              : yield* people.delete(id, { message })
        const to = Option.getOrThrow(yield* remote.head("main")).commit
        const operation = { _tag: kind, collection: "people", id, fields } as const
        const event: Event = {
          token: message,
          operation,
          outcome: { _tag: "done", value: value ?? undefined },
          from,
          to
        }
        const history = yield* readHistory(remote, "main", "data")
        const options = { ...derivedFields, recordedLater: true }
        assert.deepStrictEqual(checkHistory([event], history, options), [])
        assert.deepStrictEqual(derivedProblems(history[history.length - 1]!, "people", derivedFields), [])
        assert.include(yield* indexed.explain("city", "Rome"), { source: "index", current: true })
        assert.deepStrictEqual(yield* indexed.list(), left)
        // The checker holds the write to its second commit.
        const at = history.findIndex(({ info }) => info.message.trim() === message)
        if (at === history.length - 1) return
        assert.strictEqual(at, history.length - 2)
        // Between the two no reader believes the index.
        const between = (yield* (yield* open(derivedFields)).at(history[at]!.info.commit)).collection(
          "people"
        )
        assert.include(yield* between.explain("city", "Rome"), { source: "scan", current: false })
        assert.deepStrictEqual(idsOf(yield* between.findBy("city", "Rome")), kind === "insert" ? ["bob"] : [])
        const early = { ...event, to: history[at]!.info.commit }
        assert.isNotEmpty(checkHistory([early], history, options))
        assert.isNotEmpty(checkHistory([event], history.slice(0, -1), options))
      }).pipe(Effect.provide(Layer.fresh(layer)))
    )
  }

  it.live("has the document too where another program began it, and no settings are recorded", () =>
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* believer()
      const people = store.collection("people")
      yield* people.insert({ city: "Paris" }, { id: "ada" })
      const index = { values: { Paris: ["ada"] }, ids: { ada: ["Paris"] } }
      yield* remote.commit("main", yield* remote.head("main"), {
        message: "another program",
        changes: [
          {
            _tag: "Put",
            path: "data/_index/people/city.json",
            content: new TextEncoder().encode(JSON.stringify(index))
          }
        ]
      })
      yield* people.insert({ city: "Paris" }, { id: "bob" })
      const history = yield* readHistory(remote, "main", "data")
      const wanted = { indexes: derivedFields.indexes, manifests: {} }
      assert.deepStrictEqual(derivedProblems(history[history.length - 1]!, "people", wanted), [])
    }).pipe(Effect.provide(Layer.fresh(layer)))
  )
})

describe("a host that replaces a file by a directory", () => {
  for (const [way, options] of ways)
    it.scopedLive(`is not asked to: a collection cannot have the name of a file, ${way}`, () =>
      Effect.gen(function* () {
        const { remote, server } = yield* fresh(options)
        const file = { _tag: "Put", path: "data/README", content: new TextEncoder().encode("{}") } as const
        server.commit("main", [file])
        const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
        const readme = store.collection("README")
        for (const write of [readme.insert({}, { id: "a" }), Effect.as(readme.upsert("a", {}), "a")]) {
          const error = yield* Effect.flip(write)
          assert.strictEqual(error._tag, "ValidationError")
          assert.match(error.message, /data\/README is a file/)
        }
        assert.deepStrictEqual(yield* paths(remote), ["README"])
      })
    )

  for (const [way, options] of ways)
    it.scopedLive(`is not asked to by many writes at once: a file among the shards stays, ${way}`, () =>
      Effect.gen(function* () {
        const { remote, server } = yield* fresh(options)
        server.commit("main", [sharded, put("people/an/ann.json", {}), put("people/bo", { theirs: true })])
        const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
        const write = (...ids: ReadonlyArray<string>) =>
          store.batch({}, (batch) =>
            Effect.forEach(ids, (id) => batch.put("people", id, {}), { discard: true })
          )
        const error = yield* Effect.flip(write("bob", "cleo"))
        assert.strictEqual(error._tag, "ValidationError")
        assert.match(error.message, /"data\/people\/bo" is a file/)
        assert.deepStrictEqual(JSON.parse(server.show("data/people/bo")!), { theirs: true })
        yield* write("anna", "cleo")
      })
    )
})

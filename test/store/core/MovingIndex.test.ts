import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { derivedProblems } from "../../../src/testing/history/DerivedCheck.js"
import { readHistory } from "../../../src/testing/history/HistoryReader.js"
import { hosted, remotes } from "./Remotes.js"

const fields = { indexes: { people: ["city"] }, manifests: { people: ["city"] } }

/** The remote, where something happens before a file is read by the branch's name for the first time. */
const preceded = (remote: GitRemoteService, wanted: string, happens: Effect.Effect<unknown, unknown>) => {
  let done = false
  const once = Effect.suspend(() => {
    if (done) return Effect.void
    done = true
    return Effect.orDie(happens)
  })
  const service: GitRemoteService = {
    ...remote,
    snapshot: (branch) => {
      const snapshot = remote.snapshot(branch)
      return {
        ...snapshot,
        file: (path, look) =>
          path === wanted ? Effect.zipRight(once, snapshot.file(path, look)) : snapshot.file(path, look)
      }
    }
  }
  return service
}

describe.each([...remotes, ...hosted])("an index under writers on %s", (_name, layer) => {
  const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
    it.live(title, () => Effect.provide(body, Layer.fresh(layer)))

  test(
    "a value that moves from one document to another during findBy is found once",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const writer = yield* Store.make(fields)
      yield* writer.batch({}, (batch) =>
        Effect.zipRight(
          batch.insert("people", { city: "Rome" }, { id: "ada" }),
          batch.insert("people", { city: "Bern" }, { id: "bob" })
        )
      )
      const swap = writer.batch({}, (batch) =>
        Effect.zipRight(
          batch.put("people", "ada", { city: "Bern" }),
          batch.put("people", "bob", { city: "Rome" })
        )
      )
      const late = preceded(remote, "data/people/ada.json", swap)
      const reader = yield* Effect.provideService(Store.make(), GitRemote, late)
      const found = yield* reader.collection("people").findBy("city", "Rome")
      assert.strictEqual(found.length, 1)
      const vanish = writer.batch({}, (batch) =>
        Effect.zipRight(batch.delete("people", "bob"), batch.put("people", "cleo", { city: "Rome" }))
      )
      const later = preceded(remote, "data/people/bob.json", vanish)
      const again = yield* Effect.provideService(Store.make(), GitRemote, later)
      assert.strictEqual((yield* again.collection("people").findBy("city", "Rome")).length, 1)
    })
  )

  test(
    "a commit between the reads of findBy does not make it read every document",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const people = (yield* Store.make(fields)).collection("people")
      yield* people.insert({ city: "Rome" }, { id: "ada" })
      const late = preceded(remote, "data/_index/people/city.json", people.insert({ city: "Rome" }))
      const reader = yield* Effect.provideService(Store.make(), GitRemote, late)
      assert.strictEqual((yield* reader.collection("people").explain("city", "Rome")).source, "index")
    })
  )

  test(
    "a transaction that asked an index is replayed where another collection changed",
    Effect.gen(function* () {
      const store = yield* Store.make(fields)
      const other = yield* Store.make(fields)
      yield* store.collection("people").insert({ city: "Rome" }, { id: "ada" })
      yield* store.transaction({}, (tx) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* tx.collection("people").findBy("city", "Rome")).length, 1)
          yield* tx.collection("places").insert({}, { id: "rome" })
          yield* other.collection("elsewhere").insert({}, { id: "x" })
        })
      )
      assert.deepStrictEqual(yield* other.collection("places").list(), ["rome"])
    })
  )

  test(
    "a transaction holds the index that began while it ran",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const plain = yield* Store.make()
      yield* plain.collection("people").insert({ city: "Rome" }, { id: "ada" })
      yield* plain.transaction({}, (tx) =>
        Effect.gen(function* () {
          yield* tx.collection("people").insert({ city: "Rome" }, { id: "bob" })
          const indexed = yield* Effect.provideService(Store.make(fields), GitRemote, remote)
          yield* indexed.collection("people").reindex()
          yield* tx.collection("people").insert({ city: "Bern" }, { id: "cleo" })
        })
      )
      const history = yield* readHistory(remote, "main", "data")
      assert.deepStrictEqual(derivedProblems(history[history.length - 1]!, "people", fields), [])
      assert.strictEqual(history[history.length - 1]!.documents.size, 3)
    })
  )
})

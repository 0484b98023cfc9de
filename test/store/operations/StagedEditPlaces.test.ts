import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Browse } from "../../../src/store/browse/index.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { fresh, remoteOf } from "../../support/github/Remote.js"
import { editing, expectFailure, headSha, storePair } from "./StorePair.js"

describe("staged edits read what their store reads", () => {
  it.live("a store of a commit", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const notes = it.store.collection("notes")
      yield* notes.insert({ n: 1 }, { id: "x" })
      const ref = yield* headSha(it)
      yield* notes.update("x", { n: 2 })
      const store = yield* Effect.provideService(Store.make({ ref }), GitRemote, it.remote)
      const edits = yield* Effect.flatMap(
        Browse.make({ store, remote: it.remote, readOnly: true }),
        ({ edits }) => edits
      )
      const [found] = yield* edits.documents("notes", ["x"])
      assert.deepInclude(Option.getOrThrow(found!), { text: '{\n  "n": 1\n}\n', commit: ref })
    })
  )

  it.live("a transaction, which has written the document before", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const notes = it.store.collection("notes")
      yield* notes.insert({ n: 1 }, { id: "x" })
      const { begin, edits } = yield* editing(it, "notes")
      yield* begin("x", null)
      const published = yield* it.store.withTransaction(
        Effect.gen(function* () {
          yield* notes.update("x", { n: 2 })
          const edit = yield* begin("x", '{"n": 3}')
          const [found] = yield* edits.documents("notes", ["x"])
          assert.strictEqual(Option.getOrThrow(found!).text, '{\n  "n": 2\n}\n')
          return yield* edits.publish([edit], "third")
        })
      )
      assert.strictEqual(published.edits[0]!.state, "change")
      assert.strictEqual(Option.getOrThrow(yield* notes.get("x"))["n"], 3)
    })
  )

  it.live(
    "a transaction that read a document conflicts with a change of it, also if it was read before",
    () =>
      Effect.gen(function* () {
        const { remote, server } = yield* fresh()
        const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
        const other = yield* Effect.provideService(Store.make(), GitRemote, yield* remoteOf(server))
        const notes = store.collection("notes")
        yield* notes.insert({ n: 1 }, { id: "x" })
        const { begin, edits } = yield* editing({ remote, store }, "notes")
        yield* begin("x", null)
        const copying = store.withTransaction(
          Effect.gen(function* () {
            const [found] = yield* edits.documents("notes", ["x"])
            yield* notes.insert({ copy: Option.getOrThrow(found!).text }, { id: "y" })
            yield* other.collection("notes").update("x", { n: 2 })
          })
        )
        yield* expectFailure(copying, "ConflictError")
      })
  )
})

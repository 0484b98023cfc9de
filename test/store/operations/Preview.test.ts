import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { AsyncStore } from "../../../src/store/promise/index.js"
import type { NewCommit } from "../../../src/store/remote/GitRemote.js"
import { Store } from "../../../src/store/Store.js"
import { expectFailure, headSha, storePair } from "./StorePair.js"

const paths = (shown: Option.Option<NewCommit>) =>
  Option.match(shown, {
    onNone: () => null,
    onSome: ({ changes }) => changes.map(({ _tag, path }) => `${_tag} ${path}`)
  })

const open = Effect.tap(storePair({ indexes: { notes: ["n"] } }), ({ store }) =>
  store.batch({ message: "seed" }, (batch) =>
    Effect.all([batch.put("notes", "a", { n: 1 }), batch.put("notes", "b", { n: 1 })])
  )
)

describe("preview", () => {
  it.live("shows the commit of a write, and makes none", () =>
    Effect.gen(function* () {
      const it = yield* open
      const { store } = it
      const before = yield* headSha(it)
      const index = "Put data/_index/notes/n.json"
      const one = yield* store.preview((dry) => dry.collection("notes").insert({ n: 2 }, { id: "c" }))
      assert.deepStrictEqual(paths(one), ["Put data/notes/c.json", index])
      assert.strictEqual(Option.getOrThrow(one).message, "insert notes/c")
      const batch = yield* store.preview((dry) =>
        dry.batch({ message: "mine" }, (batch) =>
          Effect.zipRight(batch.delete("notes", "a"), batch.put("notes", "b", { n: 3 }))
        )
      )
      assert.deepStrictEqual(paths(batch), ["Remove data/notes/a.json", "Put data/notes/b.json", index])
      const first = yield* store.preview((dry) =>
        Effect.zipRight(dry.collection("notes").delete("a"), dry.collection("notes").delete("b"))
      )
      assert.deepStrictEqual(paths(first), ["Remove data/notes/a.json", index], "the first commit alone")
      assert.strictEqual(yield* headSha(it), before)
      assert.deepStrictEqual(yield* store.collection("notes").list(), ["a", "b"])
    })
  )

  it.live("returns none if nothing would be written, and fails as the write would", () =>
    Effect.gen(function* () {
      const it = yield* open
      const { store } = it
      assert.isNull(paths(yield* store.preview((dry) => dry.collection("notes").reindex())))
      assert.isNull(paths(yield* store.preview((dry) => dry.collection("notes").get("a"))))
      yield* expectFailure(
        store.preview((dry) => dry.collection("notes").insert({}, { id: "a" })),
        "ConflictError"
      )
      yield* expectFailure(
        store.preview((dry) => dry.transaction({}, () => Effect.void)),
        "ValidationError"
      )
      assert.deepStrictEqual(yield* store.staleTransactions, [])
    })
  )

  it.live("reports the progress of a rebuild of the indexes", () =>
    Effect.gen(function* () {
      const it = yield* open
      const told: Array<string> = []
      yield* it.store.collection("notes").reindex({
        onProgress: ({ collection, documents, total }) =>
          Effect.sync(() => told.push(`${collection} ${documents}/${total}`))
      })
      assert.deepStrictEqual([told[0], told.at(-1)], ["notes 0/2", "notes 2/2"])
    })
  )

  it.live("as promises", () =>
    Effect.gen(function* () {
      const it = yield* open
      yield* Effect.promise(async () => {
        await using store = await AsyncStore.fromLayer(Layer.succeed(Store, it.store))
        const shown = await store.preview((dry) => dry.collection("notes").delete("a"))
        assert.deepStrictEqual(paths(Option.fromNullable(shown))?.[0], "Remove data/notes/a.json")
        assert.isNull(await store.preview((dry) => dry.collection("notes").list()))
        const mine = new Error("mine")
        const refused = await store.preview(() => Promise.reject(mine)).catch((error: unknown) => error)
        assert.strictEqual(refused, mine)
        assert.isTrue(await store.collection("notes").exists("a"))
        const told: Array<number> = []
        await store.collection("notes").reindex({ onProgress: ({ documents }) => void told.push(documents) })
        assert.strictEqual(told.at(-1), 2)
      })
    })
  )
})

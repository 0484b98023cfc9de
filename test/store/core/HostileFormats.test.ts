import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { file, foreignCommit, foundIds } from "./ForeignCommit.js"
import { hosted, remotes } from "./Remotes.js"

const indexed: StoreOptions = { format: 2, indexes: { people: ["city"] }, manifests: { people: ["city"] } }

const paths = (remote: GitRemoteService) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head("main"))
    const tree = Option.getOrThrow(yield* remote.tree(head, "data", { recursive: true }))
    return tree.entries.map(({ path }) => path)
  })

describe.each([...remotes, ...hosted])("formats of index files, attacked on %s", (_name, layer) => {
  const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
    it.live(title, () => Effect.provide(body, Layer.fresh(layer)), 60_000)

  test(
    "a manifest of another program with a field of any name does not make the repository unreadable",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      yield* foreignCommit(
        remote,
        file("people/ada.json", { _id: "ada", "": 1, city: "Rome" }),
        file("_manifest/people.json", { documents: { ada: { "": 1, city: "Rome" } } })
      )
      const store = yield* Store.make()
      yield* store.collection("people").insert({ city: "Bern" }, { id: "bob" })
      yield* store.reindex({ format: 2 })
      const fresh = yield* Store.make()
      assert.strictEqual(yield* fresh.collection("people").count, 2)
      yield* fresh.collection("people").insert({ city: "Bern" }, { id: "cleo" })
    })
  )

  test(
    "no files of a format stay where a collection was empty when the format changed",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const { format: _, ...options } = indexed
      const store = yield* Store.make(options)
      const people = store.collection("people")
      yield* people.insert({ city: "Rome" }, { id: "ada" })
      yield* store.collection("others").insert({ n: 1 })
      yield* people.delete("ada")
      for (const format of [2, 1, 2] as const) {
        yield* store.reindex({ format })
        yield* people.insert({ city: "Oslo" }, { id: "ada" })
        assert.deepStrictEqual(yield* foundIds(store, "Oslo"), ["ada"])
        assert.strictEqual(yield* people.count, 1)
        const there = (yield* paths(remote)).filter((path) =>
          format === 2
            ? path === "_index/people/city.json" || path === "_manifest/people.json"
            : path === "_index/people/city/_header.json" || path === "_manifest/people/_header.json"
        )
        assert.deepStrictEqual(there, [], `format ${format}`)
        yield* people.delete("ada")
      }
    })
  )

  test(
    "fields with the same file and tree name can change their format",
    Effect.gen(function* () {
      const store = yield* Store.make({ indexes: { people: ["city", "city.json"] } })
      const people = store.collection("people")
      yield* people.insert({ city: "Rome", "city.json": 1 }, { id: "ada" })
      for (const format of [2, 1, 2] as const) {
        yield* store.reindex({ format })
        const fresh = (yield* Store.make()).collection("people")
        assert.deepInclude(yield* fresh.explain("city", "Rome"), { source: "index", current: true })
        assert.deepInclude(yield* fresh.explain("city.json", 1), { source: "index", current: true })
        assert.lengthOf(yield* fresh.findBy("city", "Rome"), 1)
        assert.lengthOf(yield* fresh.findBy("city.json", 1), 1)
      }
    })
  )
})

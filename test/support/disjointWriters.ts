import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { StoreService } from "../../src/store/StoreService.js"

/** Writers that each update fields of their own of one document, all from versions that are out of date. */
export const disjointWriters = (
  stores: ReadonlyArray<StoreService>,
  writers: number,
  updates: number
): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    const notes = stores.map((store) => store.collection("notes"))
    yield* notes[0]!.insert({ title: "shared" }, { id: "x" })
    const base = Option.getOrThrow(yield* notes[0]!.version("x"))
    const each = Math.ceil(updates / writers)
    const names = (writer: number) => Array.from({ length: each }, (_, at) => `w${writer}_${at}`)
    const write = (writer: number) =>
      Effect.forEach(names(writer), (name, at) => {
        const collection = notes[writer % notes.length]!
        return at % 2 === 0
          ? collection.update("x", { [name]: at }, { base })
          : collection.edit("x", (document) => ({ ...document, [name]: at }))
      })
    const all = Array.from({ length: writers }, (_, writer) => writer)
    yield* Effect.forEach(all, write, { concurrency: "unbounded", discard: true })
    const document = Option.getOrThrow(yield* notes[0]!.get("x", { fresh: true }))
    const lost = all.flatMap(names).filter((name) => document[name] === undefined)
    assert.deepStrictEqual(lost, [])
    assert.strictEqual(document._rev, 1 + writers * each)
  })

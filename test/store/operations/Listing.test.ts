import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, FastCheck as fc, Schema, Stream } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import { plainLayout } from "../../../src/domain/settings/Settings.js"
import { placeOf } from "../../../src/store/DocumentPath.js"
import { inChunks, listingOf, slice } from "../../../src/store/internal/snapshot/Listing.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import { StoreArbitrary } from "../../../src/testing/index.js"

const oid = fc.hexaString({ minLength: 40, maxLength: 40 }) as unknown as fc.Arbitrary<Oid>
const layout = fc.record({
  shardBy: fc.constantFrom("hash" as const, "leading" as const),
  shardDepth: fc.integer({ min: 0, max: 2 }),
  shardWidth: fc.integer({ min: 1, max: 3 })
})
const isHeld = (path: string) => !/(^|\/)(\.|\.git)\//i.test(path)

describe("a packed listing", () => {
  it.live.prop(
    "equals queries of plain lists of its documents",
    [
      layout,
      fc.uniqueArray(fc.tuple(StoreArbitrary.id, oid), { selector: ([id]) => id, maxLength: 40 }),
      fc.tuple(fc.nat(45), StoreArbitrary.id, fc.integer({ min: 1, max: 9 }))
    ],
    ([shards, given, [limit, after, size]]) =>
      Effect.gen(function* () {
        const plain = given
          .map(([id, blob]) => ({ id, oid: blob, path: placeOf(shards, id) }))
          .filter(({ path }) => isHeld(path))
          .sort((a, b) => (a.id < b.id ? -1 : 1))
        const entries = plain.map(({ oid, path }) => ({
          path,
          oid,
          mode: "100644" as const,
          kind: "blob" as const
        }))
        const tree = { oid: "0".repeat(40) as Oid, entries: entries.toReversed() }
        const listing = yield* listingOf(tree, shards)
        assert.deepStrictEqual(listing.entries(), plain)
        assert.deepStrictEqual(
          plain.map((_, at) => [listing.id(at), listing.oid(at), listing.path(at)]),
          plain.map(({ id, oid, path }) => [id, oid, path])
        )
        for (const { oid, path } of plain) assert.strictEqual(listing.find(path), oid)
        assert.isUndefined(listing.find(`nowhere/${after}.json`))
        const wanted = plain.filter(({ id }) => id > after).slice(0, limit + 1)
        const cut = slice(listing, limit + 1, after)
        assert.deepStrictEqual(cut.entries(), wanted)
        assert.deepStrictEqual(
          slice(cut, undefined, wanted[0]?.id).ids(),
          wanted.slice(1).map(({ id }) => id)
        )
        const parts = Chunk.toReadonlyArray(yield* Stream.runCollect(inChunks(cut, size)))
        assert.deepStrictEqual(
          parts.flatMap((part) => part.entries()),
          wanted
        )
        assert.isTrue(parts.every((part) => part.length > 0 && part.length <= size))
      }),
    { fastCheck: { numRuns: 200 } }
  )
})

describe("a listing of many documents", () => {
  it.live("lets other work run while it is made", () =>
    Effect.gen(function* () {
      const entries = Array.from({ length: 200_000 }, (_, n) => ({
        path: `d${(n * 7_919) % 200_000}.json`,
        oid: String(n).padStart(40, "0") as Oid,
        mode: "100644" as const,
        kind: "blob" as const
      }))
      let turns = 0
      const timer = setInterval(() => turns++, 0)
      const listing = yield* listingOf({ oid: "0".repeat(40) as Oid, entries }, plainLayout)
      clearInterval(timer)
      assert.strictEqual(listing.length, 200_000)
      assert.deepStrictEqual([listing.id(0), listing.id(1), listing.id(2)], ["d0", "d1", "d10"])
      assert.isAbove(turns, 3)
    })
  )
})

// Decoding takes a millisecond a document here, and the timer is due at once.
const slow = (onDecode: () => void) =>
  Schema.transform(Schema.Struct({ n: Schema.Number }), Schema.Struct({ n: Schema.Number }), {
    decode: (given) => {
      onDecode()
      const began = performance.now()
      while (performance.now() - began < 1);
      return given
    },
    encode: (given) => given
  })

it.live("reading many documents lets timers run in between", () =>
  Effect.gen(function* () {
    const store = yield* Effect.provideService(Store.make({}), GitRemote, yield* Memory.make())
    yield* store.batch({}, (batch) =>
      Effect.forEach(Array.from({ length: 200 }), (_, n) => batch.insert("c", { n }, { id: `${n}` }), {
        discard: true
      })
    )
    let decoded = 0
    let atTimer: number | undefined
    const schema = slow(() => {
      if (decoded++ === 0) {
        setTimeout(() => {
          atTimer = decoded
        }, 0)
      }
    })
    assert.strictEqual(Chunk.size(yield* Stream.runCollect(store.collection("c", schema).all())), 200)
    assert.isDefined(atTimer)
    assert.isBelow(atTimer!, 200)
  })
)

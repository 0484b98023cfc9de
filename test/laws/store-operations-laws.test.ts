import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { LocalGit } from "chainstore/local"
import { Memory, Store, type StoreService } from "chainstore/store"
import { StoreLaws } from "chainstore/testing"
import { Effect, Exit, Layer, Option } from "effect"
import { hosted } from "../store/core/Remotes.js"

const directory = mkdtempSync(join(tmpdir(), "store-laws-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const indexed = { indexes: { things: ["n"] } }

const layers: ReadonlyArray<readonly [string, Layer.Layer<Store, unknown>]> = [
  ["memory", Layer.provide(Store.layer(), Memory.layer())],
  [
    "memory, sharded, without a cache",
    Layer.provide(Store.layer({ shardBy: "hash", shardDepth: 2, cache: false }), Memory.layer())
  ],
  ["memory, at the root", Layer.provide(Store.layer({ root: "", ...indexed }), Memory.layer())],
  [
    "a bare repository",
    Layer.provide(Store.layer(indexed), LocalGit.layer({ directory, durability: "none" }))
  ],
  ...hosted.map(([name, remote]) => [name, Layer.provide(Store.layer(indexed), Layer.fresh(remote))] as const)
]

describe.each(layers)("the laws of a store on %s", (_name, layer) => {
  for (const law of StoreLaws.all) {
    it.live(law.name, () => Effect.provide(law.check, layer))
  }
})

describe("the laws notice", () => {
  /** A store that does not find every third document. */
  const forgetful = Layer.effect(
    Store,
    Effect.gen(function* () {
      const store = yield* Store.make()
      let reads = 0
      return {
        ...store,
        collection: (name: string) => {
          const collection = store.collection(name)
          return {
            ...collection,
            get: (id: string) =>
              Effect.map(collection.get(id), (found) => (++reads % 3 === 0 ? Option.none() : found))
          }
        }
      } as StoreService
    })
  ).pipe(Layer.provide(Memory.layer()))

  it.live("a store that forgets", () =>
    Effect.gen(function* () {
      const exits = yield* Effect.forEach(StoreLaws.all, (law) =>
        Effect.exit(Effect.provide(law.check, forgetful))
      )
      assert.isAbove(exits.filter(Exit.isFailure).length, 1)
    })
  )

  it.live("and find it again by the seed that they tell", () =>
    Effect.gen(function* () {
      const violated = Effect.flip(Effect.provide(StoreLaws.roundTrip.check, forgetful))
      const first = yield* violated
      assert.instanceOf(first, StoreLaws.StoreLawViolation)
      assert.include(first.message, `seed ${first.seed}`)
      const again = yield* Effect.provideService(violated, StoreLaws.Seed, first.seed)
      assert.strictEqual(String(again), String(first))
    })
  )
})

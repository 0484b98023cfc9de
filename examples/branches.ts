/**
 * Branches: prepare a change on a branch, compare it, and merge it field by field.
 *
 * Output:
 * changed products/tea
 * merge of 1 document
 * tea costs 5 and is called Green tea
 * conflict: products/tea was changed on both branches at price
 * decided: 7
 */
import { Memory, Store } from "chainstore/store"
import { Effect, Layer, Stream } from "effect"

const program = Effect.gen(function* () {
  const store = yield* Store
  const products = store.collection("products")
  yield* products.insert({ name: "Tea", price: 4 }, { id: "tea" })

  yield* store.createBranch("autumn")
  const autumn = store.onBranch("autumn").collection("products")
  yield* autumn.update("tea", { price: 5 })
  yield* products.update("tea", { name: "Green tea" })

  yield* Stream.runForEach(store.compare("main", "autumn"), ({ collection, id, kind }) =>
    Effect.sync(() => console.log(`${kind} ${collection}/${id}`))
  )
  const merged = yield* store.merge("autumn")
  console.log(`${merged.kind} of ${merged.documents.length} document`)
  const tea = yield* Effect.flatten(products.get("tea"))
  console.log(`tea costs ${tea["price"]} and is called ${tea["name"]}`)

  yield* products.update("tea", { price: 6 })
  yield* autumn.update("tea", { price: 7 })
  const { conflicts } = yield* store.merge("autumn", { dryRun: true })
  for (const { problem } of conflicts) console.log(`conflict: ${problem}`)
  yield* store.merge("autumn", { onConflict: ({ kind }) => (kind === "changed" ? "theirs" : undefined) })
  console.log(`decided: ${(yield* Effect.flatten(products.get("tea")))["price"]}`)
})

await Effect.runPromise(Effect.provide(program, Layer.provide(Store.layer(), Memory.layer())))

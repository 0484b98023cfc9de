/**
 * Proposals: edits on a separate branch that somebody reviews and accepts.
 *
 * Output:
 * open: Autumn prices
 * changed products/tea
 * tea still costs 4
 * conflict: products/tea was changed on both branches at price
 * merge, and tea costs 5
 * accepted: Autumn prices
 */
import { Memory, Store } from "chainstore/store"
import { Effect, Layer, Stream } from "effect"

const program = Effect.gen(function* () {
  const store = yield* Store
  const products = store.collection("products")
  yield* products.insert({ name: "Tea", price: 4 }, { id: "tea" })

  const { proposal } = yield* store.propose({ title: "Autumn prices", body: "Tea is dearer now." }, (draft) =>
    draft.collection("products").update("tea", { price: 5 })
  )
  console.log(`${proposal.state}: ${proposal.title}`)

  const it = store.proposal(proposal.id)
  yield* Stream.runForEach(it.compare(), ({ collection, id, kind }) =>
    Effect.sync(() => console.log(`${kind} ${collection}/${id}`))
  )
  console.log(`tea still costs ${(yield* Effect.flatten(products.get("tea")))["price"]}`)

  yield* products.update("tea", { price: 6 })
  const { conflicts } = yield* it.preview()
  for (const { problem } of conflicts) console.log(`conflict: ${problem}`)
  yield* it.rebase({ onConflict: "ours" })
  const { kind } = yield* it.accept()
  console.log(`${kind}, and tea costs ${(yield* Effect.flatten(products.get("tea")))["price"]}`)

  for (const { state, title } of yield* store.proposals({ state: "all" })) console.log(`${state}: ${title}`)
})

await Effect.runPromise(Effect.provide(program, Layer.provide(Store.layer(), Memory.layer())))

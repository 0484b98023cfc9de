/**
 * A transaction: several commits that become visible together, or not at all.
 *
 * Output:
 * inside 70 and 80, outside 100 and 50
 * after it 70 and 80
 * refused: overdrawn
 * still 70 and 80
 */
import { Memory, Store, type StoreService } from "chainstore/store"
import { Effect, Layer } from "effect"

const balances = (store: Pick<StoreService, "collection">) =>
  Effect.gen(function* () {
    const accounts = store.collection("accounts")
    const ada = yield* Effect.flatten(accounts.get("ada"))
    const bob = yield* Effect.flatten(accounts.get("bob"))
    return { ada: Number(ada["balance"]), bob: Number(bob["balance"]) }
  })

const show = ({ ada, bob }: { readonly ada: number; readonly bob: number }) => `${ada} and ${bob}`

const transfer = (store: StoreService, amount: number) =>
  store.transaction({}, (tx) =>
    Effect.gen(function* () {
      const before = yield* balances(tx)
      yield* tx.collection("accounts").update("bob", { balance: before.bob + amount })
      yield* tx.collection("accounts").update("ada", { balance: before.ada - amount })
      const inside = yield* balances(tx)
      if (inside.ada < 0) return yield* Effect.fail("overdrawn" as const)
      return `inside ${show(inside)}, outside ${show(yield* balances(store))}`
    })
  )

const program = Effect.gen(function* () {
  const store = yield* Store
  yield* store.batch({}, (batch) =>
    Effect.all([
      batch.put("accounts", "ada", { balance: 100 }),
      batch.put("accounts", "bob", { balance: 50 })
    ])
  )
  console.log((yield* transfer(store, 30)).result)
  console.log(`after it ${show(yield* balances(store))}`)
  yield* Effect.catchAll(transfer(store, 1_000), (error) =>
    Effect.sync(() => console.log(`refused: ${error}`))
  )
  console.log(`still ${show(yield* balances(store))}`)
})

const layer = Layer.provide(Store.layer(), Memory.layer())
await Effect.runPromise(Effect.provide(program, layer))

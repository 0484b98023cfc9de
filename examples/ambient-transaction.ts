/**
 * An ambient transaction: services without code for transactions join the transaction of their caller.
 *
 * Output:
 * ada 100, bob 50
 * refused: Overdrawn
 * ada 100, bob 50
 * ada 70, bob 80, 1 entry in the journal
 * 2 commits became visible together
 */
import { Memory, Store } from "chainstore/store"
import { Chunk, Console, Data, Effect, Layer, Option, Stream } from "effect"

class Overdrawn extends Data.TaggedError("Overdrawn")<{ readonly account: string }> {}

/** Opens its collection once, when its layer is built. */
class Accounts extends Effect.Service<Accounts>()("example/Accounts", {
  effect: Effect.map(Store, (store) => {
    const accounts = store.collection("accounts")
    const balance = (id: string) =>
      Effect.map(
        accounts.get(id),
        Option.match({ onNone: () => 0, onSome: (account) => Number(account["balance"]) })
      )
    return {
      deposit: (id: string, amount: number) =>
        Effect.flatMap(balance(id), (before) => accounts.upsert(id, { balance: before + amount })),
      withdraw: (id: string, amount: number) =>
        Effect.gen(function* () {
          const before = yield* balance(id)
          if (before < amount) return yield* new Overdrawn({ account: id })
          yield* accounts.update(id, { balance: before - amount })
        }),
      balances: Effect.map(Stream.runCollect(accounts.all()), (all) =>
        Chunk.toReadonlyArray(all)
          .map(({ _id, balance }) => `${_id} ${balance}`)
          .join(", ")
      )
    }
  })
}) {}

class Journal extends Effect.Service<Journal>()("example/Journal", {
  effect: Effect.map(Store, (store) => {
    const entries = store.collection("journal")
    return {
      // A transaction of its own, which becomes part of the caller's.
      note: (text: string) => store.withTransaction(entries.insert({ text })),
      size: entries.count
    }
  })
}) {}

const transfer = (from: string, to: string, amount: number) =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const journal = yield* Journal
    yield* journal.note(`${amount} from ${from} to ${to}`)
    yield* accounts.deposit(to, amount)
    yield* accounts.withdraw(from, amount)
  }).pipe(Store.withTransaction({ message: "transfer" }))

const program = Effect.gen(function* () {
  const accounts = yield* Accounts
  const journal = yield* Journal
  yield* accounts.deposit("ada", 100)
  yield* accounts.deposit("bob", 50)
  yield* Console.log(yield* accounts.balances)

  yield* transfer("ada", "bob", 1_000).pipe(
    Effect.catchTag("Overdrawn", ({ _tag }) => Console.log(`refused: ${_tag}`))
  )
  yield* Console.log(yield* accounts.balances)

  yield* transfer("ada", "bob", 30)
  yield* Console.log(`${yield* accounts.balances}, ${yield* journal.size} entry in the journal`)
  const { collection } = yield* Store
  const [ada, bob] = yield* Effect.all([
    collection("accounts").history("ada"),
    collection("accounts").history("bob")
  ])
  yield* Console.log(`${ada.length + bob.length - 2} commits became visible together`)
})

const layer = Layer.mergeAll(Accounts.Default, Journal.Default).pipe(
  Layer.provideMerge(Layer.provide(Store.layer(), Memory.layer()))
)
await Effect.runPromise(Effect.provide(program, layer))

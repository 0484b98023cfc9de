/**
 * A batch: several operations in one commit, with preconditions.
 *
 * Output:
 * 3 operations, one commit: true
 * refused: stock/pears has revision 1, expected 7
 * apples 5, pears 3, cherries none
 */
import { Memory, Store } from "chainstore/store"
import { Effect, Layer, Option } from "effect"

const program = Effect.gen(function* () {
  const store = yield* Store
  const stock = store.collection("stock")

  const { commitSha, result } = yield* store.batch({ message: "open the shop" }, (batch) =>
    Effect.gen(function* () {
      yield* batch.expect("stock", "apples", { absent: true })
      yield* batch.put("stock", "apples", { count: 5 })
      yield* batch.put("stock", "pears", { count: 3 })
      yield* batch.insert("log", { event: "opened" })
      return yield* batch.operations
    })
  )
  const view = yield* store.at(Option.getOrThrow(commitSha))
  const together =
    (yield* view.collection("stock").count) === 2 && (yield* view.collection("log").count) === 1
  console.log(`${result} operations, one commit: ${together}`)

  // Nothing of a batch is written when one of its expectations does not hold.
  yield* store
    .batch({}, (batch) =>
      Effect.zipRight(
        batch.put("stock", "cherries", { count: 1 }),
        batch.expect("stock", "pears", { rev: 7 })
      )
    )
    .pipe(
      Effect.catchTag("ConflictError", (error) => Effect.sync(() => console.log(`refused: ${error.message}`)))
    )

  const count = (id: string) =>
    Effect.map(stock.get(id), Option.match({ onNone: () => "none", onSome: (found) => `${found["count"]}` }))
  console.log(
    `apples ${yield* count("apples")}, pears ${yield* count("pears")}, cherries ${yield* count("cherries")}`
  )
})

const layer = Layer.provide(Store.layer(), Memory.layer())
await Effect.runPromise(Effect.provide(program, layer))

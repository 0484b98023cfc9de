/**
 * Time travel: history, views of a commit, and restoring a version.
 *
 * Output:
 * insert prices/tea, update prices/tea, update prices/tea
 * the price was 3, then 4, and is 5
 * before the raise there were 1 prices, now 2
 * restored: 4, as revision 4
 */
import { Memory, Store } from "chainstore/store"
import { Effect, Layer, Option } from "effect"

const program = Effect.gen(function* () {
  const store = yield* Store
  const prices = store.collection("prices")
  yield* prices.insert({ euro: 3 }, { id: "tea" })
  yield* prices.update("tea", { euro: 4 })
  const before = yield* store.snapshot
  yield* prices.update("tea", { euro: 5 })
  yield* prices.insert({ euro: 2 }, { id: "milk" })

  const history = (yield* prices.history("tea")).toReversed()
  console.log(history.map(({ message }) => message).join(", "))

  const euro = (sha: string) =>
    Effect.gen(function* () {
      const view = yield* store.at(sha)
      return Option.getOrThrow(yield* view.collection("prices").get("tea"))["euro"]
    })
  const [first, second, third] = yield* Effect.forEach(history, ({ sha }) => euro(sha))
  console.log(`the price was ${first}, then ${second}, and is ${third}`)

  const then = yield* before.collection("prices").count
  console.log(`before the raise there were ${then} prices, now ${yield* prices.count}`)

  const { sha } = yield* Option.fromNullable(history[1])
  const restored = yield* prices.restore("tea", sha)
  console.log(`restored: ${restored["euro"]}, as revision ${restored._rev}`)
})

const layer = Layer.provide(Store.layer(), Memory.layer())
await Effect.runPromise(Effect.provide(program, layer))

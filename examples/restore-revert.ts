/**
 * Looking back: restore one document, revert a whole commit; history only ever grows.
 *
 * Output:
 * restored revision 3: draft
 * reverted 2 documents: draft again, and the note is back
 * revert …, a bad idea, restore pages/home from …, update pages/home, insert pages/home
 */
import { Memory, Store } from "chainstore/store"
import { Effect, Layer, Option } from "effect"

const program = Effect.gen(function* () {
  const store = yield* Store
  const pages = store.collection("pages")

  yield* pages.insert({ text: "draft" }, { id: "home" })
  yield* pages.update("home", { text: "oops", color: "red" })
  const [, first] = yield* pages.history("home")
  const { sha } = yield* Option.fromNullable(first)
  const restored = yield* pages.restore("home", sha)
  console.log(`restored revision ${restored._rev}: ${restored["text"]}`)

  yield* pages.insert({ text: "remember" }, { id: "note" })
  const { commitSha } = yield* store.batch({ message: "a bad idea" }, (batch) =>
    Effect.zipRight(batch.put("pages", "home", { text: "worse" }), batch.delete("pages", "note"))
  )
  const { documents } = yield* store.revert(Option.getOrThrow(commitSha))
  const home = yield* Effect.flatten(pages.get("home"))
  const note = yield* pages.exists("note")
  console.log(
    `reverted ${documents.length} documents: ${home["text"]} again, and the note is ${note ? "back" : "lost"}`
  )
  console.log(
    (yield* pages.history("home")).map(({ message }) => message.replace(/[0-9a-f]{7}$/, "…")).join(", ")
  )
})

const layer = Layer.provide(Store.layer(), Memory.layer())
await Effect.runPromise(Effect.provide(program, layer))

/**
 * Two people change one document: changes of different fields are merged; a field that both changed is a conflict.
 *
 * Output:
 * Pencil costs 2, 4 in stock, tags: new
 * conflict at name: Pen, Ballpen or Pencil?
 * decided: Ballpen pencil, revision 4
 * 10 visits were counted
 */
import { MergeRuleId } from "chainstore/merge"
import { Collection, Memory, Store } from "chainstore/store"
import { Effect, Layer, Option, Schema } from "effect"

const Product = Schema.Struct({
  name: Schema.String,
  price: Schema.Number,
  visits: Schema.Number,
  stock: Schema.Number.annotations({ [MergeRuleId]: "counter" }),
  tags: Schema.Array(Schema.String).annotations({ [MergeRuleId]: "set" })
})
const definition = Collection.define("products", Product)

const program = Effect.gen(function* () {
  const store = yield* Store
  const products = store.collection(definition)
  yield* products.insert({ name: "Pen", price: 1, visits: 0, stock: 6, tags: ["old"] }, { id: "pen" })

  // Ada and Bob open the same version.
  const base = Option.getOrThrow(yield* products.version("pen"))
  yield* products.update("pen", { name: "Pencil", stock: 5, tags: [] }, { base })
  const merged = yield* products.update("pen", { price: 2, stock: 5, tags: ["old", "new"] }, { base })
  console.log(
    `${merged.name} costs ${merged.price}, ${merged.stock} in stock, tags: ${merged.tags.join(", ")}`
  )

  yield* products
    .update("pen", { name: "Ballpen" }, { base })
    .pipe(
      Effect.catchTag("ConflictError", ({ merge }) =>
        Effect.forEach(merge?.conflicts ?? [], ({ base, ours, path, theirs }) =>
          Effect.sync(() => console.log(`conflict at ${path.join(".")}: ${base}, ${ours} or ${theirs}?`))
        )
      )
    )
  const decided = yield* products.update(
    "pen",
    { name: "Ballpen" },
    {
      base,
      onConflict: ({ document }) => ({ ...document, name: `${document["name"]} pencil` })
    }
  )
  console.log(`decided: ${decided.name}, revision ${decided._rev}`)

  const visit = products.edit("pen", (product) => ({ ...product, visits: product.visits + 1 }))
  yield* Effect.replicateEffect(visit, 10, { concurrency: "unbounded" })
  const { visits } = Option.getOrThrow(yield* products.get("pen"))
  console.log(`${visits} visits were counted`)
})

await Effect.runPromise(Effect.provide(program, Layer.provide(Store.layer(), Memory.layer())))

import { Effect } from "effect"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import type { StoreService } from "../../../src/store/StoreService.js"

const words =
  "anvil brass copper dowel easel funnel gimlet hinge ingot jig kiln lathe mallet nail oilcan plane quill rasp saw tongs".split(
    " "
  )
const categories = ["tools", "kitchen", "garden", "office"]

export const product = (i: number): JsonObject => ({
  name: `${words[i % 20]} no. ${i}`,
  category: categories[i % 4]!,
  price: Math.round(i * 137.3) / 100,
  inStock: i % 3 !== 0,
  tags: [words[(i + 3) % 20]!, words[(i + 7) % 20]!],
  size: { width: i % 40, height: (i * 7) % 40 },
  description: `A ${words[i % 20]} made by hand, with care, from local materials. It will last for many years when oiled twice a year and kept dry.`
})

export const productId = (i: number) => `p-${String(i).padStart(4, "0")}`

/** Twenty columns. */
const wide = (i: number): JsonObject =>
  Object.fromEntries(
    Array.from({ length: 17 }, (_, column) => [`field${column + 1}`, `row ${i} column ${column + 1}`])
  )

export const hostile: Readonly<Record<string, JsonObject>> = {
  script: {
    title: "<script>window.__hostile = 1; alert(1)</script>",
    html: '<img src=x onerror="window.__hostile = 2">',
    link: "javascript:window.__hostile=3"
  },
  bidi: { title: "\u202Eevil\u202C \u2066mark\u2069", "\u202Ekey": "\u0000\u0007" },
  long: { [`k${"e".repeat(10_000)}y`]: "v".repeat(20_000) },
  proto: JSON.parse(
    '{"__proto__": {"polluted": true}, "constructor": {"prototype": 1}, "toString": "text"}'
  ) as JsonObject,
  formula: { title: '=HYPERLINK("http://example.invalid")', minus: "-1+1", at: "@SUM(1)" },
  style: { title: "</td></tr></table><style>*{display:none}</style>" }
}

const put = (store: StoreService, collection: string, documents: Iterable<readonly [string, JsonObject]>) =>
  store.batch({ message: `seed ${collection}` }, (batch) =>
    Effect.forEach(documents, ([id, document]) => batch.put(collection, id, document), { discard: true })
  )

const count = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

const megabyte: JsonObject = {
  rows: count(6000).map((i) => ({
    i,
    name: `${words[i % 20]} ${i}`,
    text: "x".repeat(100),
    flags: [true, null]
  }))
}

/** Collections with an index, a manifest and some history. */
export const seed = (store: StoreService) =>
  Effect.gen(function* () {
    yield* put(
      store,
      "products",
      count(200).map((i) => [productId(i), product(i)] as const)
    )
    yield* put(
      store,
      "articles",
      count(12).map(
        (i) =>
          [`a-${i}`, { title: `On ${words[i]}`, body: "Long. ".repeat(200), draft: i % 2 === 0 }] as const
      )
    )
    yield* put(store, "hostile", Object.entries(hostile))
    const products = store.collection("products")
    yield* products.update(productId(2), { price: 9.99, note: "on sale" }, { message: "lower a price" })
    yield* products.update(productId(2), { price: 12.5 }, { message: "raise it again" })
  })

/** 500 rows of 20 columns, and a document of a megabyte. */
export const seedBroad = (store: StoreService) =>
  Effect.zipRight(
    put(
      store,
      "wide",
      count(500).map((i) => [`w-${String(i).padStart(3, "0")}`, wide(i)] as const)
    ),
    put(store, "big", [["megabyte", megabyte]])
  )

/** A large collection: 10,000 documents. */
export const seedLarge = (store: StoreService) =>
  put(
    store,
    "many",
    count(10_000).map((i) => [`m-${String(i).padStart(5, "0")}`, { n: i, name: words[i % 20]! }] as const)
  )

export const layout = {
  indexes: { products: ["category"] },
  manifests: {
    many: ["n", "name"],
    products: ["_rev", "_updated_at", "category", "name", "price"],
    wide: ["_rev", "_updated_at", ...Object.keys(wide(0))]
  }
}

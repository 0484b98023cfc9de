/**
 * Queries: conditions, an order, pages, selected fields; an index changes what is read, never the result.
 *
 * Output:
 * 14 Way: 14 since 2026-01-15
 * 12 Way: 12 since 2026-01-13
 * then 10 Way
 * index in order, 1 range; a scan where no index fits
 * 10 places in Rome, in all of Oslo, Rome
 */
import { Memory, Store } from "chainstore/store"
import { Effect, Layer, Schema } from "effect"

const Place = Schema.Struct({
  city: Schema.String,
  price: Schema.Number,
  since: Schema.Date,
  address: Schema.Struct({ street: Schema.String })
})

const program = Effect.gen(function* () {
  const store = yield* Store
  const places = store.collection("places", Place)
  yield* places.importRecords(
    Array.from({ length: 20 }, (_, n) => ({
      _id: `p${n}`,
      city: n % 2 === 0 ? "Rome" : "Oslo",
      price: n,
      since: new Date(Date.UTC(2026, 0, 1 + n)).toISOString(),
      address: { street: `${n} Way` }
    }))
  )

  const wanted = {
    where: { city: "Rome", price: { atLeast: 5, lessThan: 15 } },
    orderBy: [{ field: "price", order: "desc" }],
    limit: 2
  } as const
  const page = yield* places.query(wanted)
  for (const { address, price, since } of page.documents) {
    console.log(`${address.street}: ${price} since ${since.toISOString().slice(0, 10)}`)
  }
  const next = yield* places.query({ ...wanted, cursor: page.cursor, select: ["address.street"] })
  console.log(`then ${next.documents[0]?.address.street}`)

  const how = yield* places.explainQuery(wanted)
  const before = yield* places.explainQuery({ where: { "address.street": "4 Way" } })
  console.log(
    `${how.source}${how.ordered ? " in order" : ""}, ${how.ranges} range; a ${before.source} where no index fits`
  )
  const cities = yield* places.distinct("city")
  console.log(`${yield* places.countWhere({ city: "Rome" })} places in Rome, in all of ${cities.join(", ")}`)
})

const layer = Layer.provide(
  Store.layer({ format: 2, indexes: { places: [{ fields: ["city", "price"] }] } }),
  Memory.layer()
)
await Effect.runPromise(Effect.provide(program, layer))

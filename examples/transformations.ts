/**
 * Schema transformations between the program's documents and the stored JSON: a class, a date and a duration, a renamed
 * key, a default, a value that is redacted in logs.
 *
 * Output:
 * Ada owes 12.5 EUR until 2030-01-31, reminded every 7d
 * the file holds {"amount":1250,"due":"2030-01-31T00:00:00.000Z","owner":"Ada","remind":604800000,"token":"t-1"}
 * <redacted>
 * overdue: true
 */
import { Collection, Memory, Store } from "chainstore/store"
import { DateTime, Duration, Effect, Layer, Option, Schema } from "effect"

/** Cents in the file, a decimal in the program. */
const Money = Schema.transform(Schema.Int, Schema.Number, {
  strict: true,
  decode: (cents) => cents / 100,
  encode: (amount) => Math.round(amount * 100)
})

class Invoice extends Schema.Class<Invoice>("Invoice")({
  amount: Money,
  due: Schema.DateTimeUtc,
  debtor: Schema.propertySignature(Schema.NonEmptyString).pipe(Schema.fromKey("owner")),
  remind: Schema.optionalWith(Schema.DurationFromMillis, { default: () => Duration.days(7) }),
  token: Schema.Redacted(Schema.String)
}) {
  isOverdue(now: DateTime.Utc): boolean {
    return DateTime.lessThan(this.due, now)
  }
}

const Invoices = Collection.define("invoices", Invoice)

const program = Effect.gen(function* () {
  const store = yield* Store
  const invoices = store.collection(Invoices)
  const token = yield* Schema.decode(Schema.Redacted(Schema.String))("t-1")
  const due = DateTime.unsafeMake("2030-01-31")
  yield* invoices.insert({ amount: 12.5, due, debtor: "Ada", token }, { id: "first" })

  const first = Option.getOrThrow(yield* invoices.get("first"))
  const { amount, debtor, remind } = first
  console.log(
    `${debtor} owes ${amount} EUR until ${DateTime.formatIsoDateUtc(first.due)}, reminded every ${Duration.format(remind)}`
  )
  const { _created_at, _id, _rev, _updated_at, ...stored } = Option.getOrThrow(
    yield* store.collection("invoices").get("first")
  )
  console.log(`the file holds ${JSON.stringify(stored)}`)
  console.log(String(first.token))
  console.log(`overdue: ${first.isOverdue(DateTime.unsafeMake("2031-01-01"))}`)
})

await Effect.runPromise(Effect.provide(program, Layer.provide(Store.layer(), Memory.layer())))

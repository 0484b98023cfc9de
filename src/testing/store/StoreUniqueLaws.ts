import * as Effect from "effect/Effect"
import { law, promiseOf } from "./StoreLaw.js"

const mail = { indexes: { people: [{ fields: ["mail"], unique: true }] } }

/** A value of a unique index belongs to one document, whoever writes it. */
export const uniqueValues = law(
  "uniqueValues",
  promiseOf("indexes")(
    "a value of a unique index belongs to one document",
    "unique-indexes",
    "Of many writers of one value exactly one succeeds."
  ),
  ({ open, people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      const other = (yield* open()).collection("people")
      yield* people.insert({ mail: "first" }, { id: "first" })
      const tried = yield* Effect.forEach(
        ["a", "b", "c", "d", "e", "f"],
        (id, n) => Effect.either((n % 2 === 0 ? people : other).insert({ mail: "one" }, { id })),
        { concurrency: "unbounded" }
      )
      const [winner, ...more] = tried.flatMap((one) => (one._tag === "Right" ? [one.right] : []))
      yield* expectEqual("the writers that succeeded", more, [])
      const found = yield* people.findBy("mail", "one")
      yield* expectEqual(
        "the document with the value",
        found.map(({ _id }) => _id),
        [winner]
      )
      const error = yield* expectFailure(
        "a second one",
        people.update("first", { mail: ["x", "one"] }),
        "ConflictError"
      )
      yield* expectEqual(
        "what the error says",
        [error.reason, error.violations],
        [
          "UniqueViolation",
          [{ collection: "people", index: "mail", value: "one", id: "first", other: winner }]
        ]
      )
      const put = (first: string, second: string) =>
        store.batch({}, (batch) =>
          Effect.zipRight(
            batch.put("people", "first", { mail: first }),
            batch.put("people", winner!, { mail: second })
          )
        )
      yield* put("one", "first")
      yield* expectFailure("two of one batch", put("same", "same"), "ConflictError")
      yield* people.insert({ mail: null }, { id: "g" })
      yield* people.insert({ mail: null }, { id: "h" })
      yield* people.delete("first")
      yield* people.update("g", { mail: "one" })
      yield* expectEqual("all documents", (yield* people.list()).length, 3)
    }),
  mail
)

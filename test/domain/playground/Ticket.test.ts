import { assert, it } from "@effect/vitest"
import { Either, FastCheck as fc, ParseResult, Schema } from "effect"
import { isUrgent, Ticket } from "../../../src/domain/playground/Ticket.js"

it("a ticket's id is an int32, and an absent priority is normal", () => {
  const decode = Schema.decodeUnknownEither(Ticket)
  fc.assert(
    fc.property(fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger()), (id) => {
      assert.strictEqual(
        Either.isRight(decode({ id, kind: "other" })),
        Number.isInteger(id) && (id | 0) === id
      )
    })
  )
  assert.isFalse(isUrgent({ id: 1, kind: "other" }))
  assert.isTrue(isUrgent({ id: 1, kind: "other", priority: "urgent" }))
})

it("the problems of a ticket are named, each with its field", () => {
  const problems = (ticket: unknown) =>
    Either.match(Schema.decodeUnknownEither(Ticket)(ticket), {
      onLeft: ({ issue }) =>
        ParseResult.ArrayFormatter.formatIssueSync(issue).map(({ message, path }) =>
          [...path, message].join(" ")
        ),
      onRight: () => []
    })
  assert.deepStrictEqual(problems({ id: 7.0, kind: "refund", priority: "normal" }), [])
  assert.deepStrictEqual(problems({ id: "1", kind: "joke", priority: null }), [
    "id must be an integer within int32 (-2147483648 to 2147483647)",
    'kind must be one of "refund", "passwordReset", "other"',
    'priority must be one of "normal", "urgent"'
  ])
  for (const other of [null, 1, "refund", [1]]) assert.deepStrictEqual(problems(other), ["must be an object"])
})

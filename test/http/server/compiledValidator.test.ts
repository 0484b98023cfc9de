import { assert, it } from "@effect/vitest"
import { Arbitrary, Either, FastCheck as fc, Schema } from "effect"
import { ChainExecutionRequest } from "../../../src/domain/playground/ChainExecution.js"
import { Ticket } from "../../../src/domain/playground/Ticket.js"
import * as CompiledValidator from "../../../src/http/server/CompiledValidator.js"

const json = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(Number.POSITIVE_INFINITY, 0, "refund", null, {})
)

const rebuilt = (value: object, entries: ReadonlyArray<readonly [string, unknown]>): unknown =>
  Array.isArray(value) ? entries.map(([, one]) => one) : Object.fromEntries(entries)

/** Generates a value with one part replaced, removed or added, at any depth. */
const changed = (value: unknown): fc.Arbitrary<unknown> => {
  if (typeof value !== "object" || value === null) return json
  const entries = Object.entries(value)
  const added = fc
    .tuple(fc.constantFrom("__proto__", "constructor", "equals", "name", "x"), json)
    .map((entry) => rebuilt(value, [...entries, entry]))
  if (entries.length === 0) return added
  const at = fc.nat(entries.length - 1)
  const left = at.map((index) => rebuilt(value, entries.toSpliced(index, 1)))
  const inside = at.chain((index) => {
    const [name, inner] = entries[index]!
    return changed(inner).map((one) => rebuilt(value, entries.with(index, [name, one])))
  })
  return fc.oneof({ weight: 4, arbitrary: inside }, left, added, json)
}

const agrees = <A, I>(name: string, schema: Schema.Schema<A, I>) => {
  const guard = CompiledValidator.compile(schema.ast)!
  const decode = Schema.decodeUnknownEither(schema)
  const valid = Arbitrary.make(schema)
  it.prop(`accepts every ${name}`, [valid], ([value]) => {
    assert.isTrue(guard(value))
  })
  it.prop(
    `accepts no other value than a ${name}, and none that decoding would change`,
    [valid.chain(changed)],
    ([value]) => {
      if (guard(value)) assert.deepStrictEqual(decode(value), Either.right(value as A))
    },
    { fastCheck: { numRuns: 1000 } }
  )
}

agrees("chain", ChainExecutionRequest)
agrees("ticket", Ticket)

it("has no guard for a schema that changes values, at any depth", () => {
  const trimmed = Schema.Struct({ names: Schema.Array(Schema.Struct({ name: Schema.Trim })) })
  assert.isUndefined(CompiledValidator.compile(trimmed.ast))
  assert.isUndefined(CompiledValidator.compile(Schema.Struct({ at: Schema.declare(Either.isEither) }).ast))
})

it("leaves to decoding what has an unexpected field", () => {
  const guard = CompiledValidator.compile(Schema.Struct({ name: Schema.String }).ast)!
  assert.isTrue(guard({ name: "a" }))
  assert.isFalse(guard({ name: "a", other: 1 }))
  assert.isFalse(guard(JSON.parse('{"name":"a","__proto__":1}')))
})

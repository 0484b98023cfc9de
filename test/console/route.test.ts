import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { fromHash, initialRoute, type Route, toHash } from "../../src/console/navigation/Route.js"
import type { Json } from "../../src/domain/json/Json.js"
import { operators, takesValue } from "../../src/store/browse/Filter.js"

const name = fc.string({ minLength: 1 })
const optional = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: undefined })

const filter = fc
  .tuple(fc.string(), fc.constantFrom(...operators), fc.jsonValue())
  .map(([path, operator, value]) =>
    takesValue(operator)
      ? { path, operator, value: JSON.parse(JSON.stringify(value)) as Json }
      : { path, operator }
  )

const route: fc.Arbitrary<Route> = fc
  .record({
    api: optional(name),
    repo: optional(name),
    branch: optional(name),
    root: optional(fc.string()),
    collection: optional(name),
    filters: fc.array(filter, { maxLength: 4 }),
    invalidFilters: fc.array(
      fc.constantFrom("", "[]", '["a"]', '["a","is"]', '["a","near",1]', '["a","exists",1]', "x"),
      {
        maxLength: 2
      }
    ),
    sort: fc.array(
      fc.record({
        path: fc.oneof(fc.string(), fc.constantFrom("-a", "+a", "--", "")),
        descending: fc.boolean()
      }),
      { maxLength: 3 }
    ),
    columns: optional(fc.oneof(fc.array(fc.string()), fc.constant("all" as const))),
    limit: fc.integer({ min: 1, max: 500 }),
    whole: fc.boolean(),
    document: optional(name),
    version: optional(name),
    at: optional(name),
    panel: optional(fc.constantFrom("history" as const, "commits" as const))
  })
  // A version is one of the open document.
  .map((given): Route => (given.document === undefined ? { ...given, version: undefined } : given))

describe("the route in the address", () => {
  it.prop("survives the address bar", [route], ([given]) => {
    assert.deepStrictEqual(fromHash(toHash(given)), given)
  })

  it.prop("whatever the address says, it can be read", [fc.string()], ([hash]) => {
    const read = fromHash(`#${hash}`)
    assert.isTrue(read.limit >= 1 && read.limit <= 500)
  })

  it("leaves out what makes no sense, and knows nothing of tokens", () => {
    const read = fromHash("#limit=9000&columns={}&panel=x&token=secret")
    assert.deepStrictEqual(toHash(read), toHash(initialRoute))
    assert.notInclude(JSON.stringify(read), "secret")
  })

  it("keeps filters that it does not understand, because rows without them would be another result", () => {
    const texts = ["[1]", "nonsense", '["name","resembles","x"]', '["name","is"]', '["name","exists",1]']
    const hash = texts.map((text) => `where=${encodeURIComponent(text)}`).join("&")
    const read = fromHash(`#${hash}&where=${encodeURIComponent('["name","is","x"]')}`)
    assert.deepStrictEqual(read.invalidFilters, texts)
    assert.deepStrictEqual(read.filters, [{ path: "name", operator: "is", value: "x" }])
  })
})

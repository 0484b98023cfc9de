import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import {
  applyChange,
  type BulkChange,
  fieldProblem,
  parseTypedValue
} from "../../src/console/edit/BulkChange.js"

const set = (field: string, raw: string): BulkChange => ({ _tag: "Set", field, raw })
const remove = (field: string): BulkChange => ({ _tag: "Remove", field })
const changed = (text: string, change: BulkChange) => Either.getOrThrow(applyChange(text, change))

describe("a change of several documents", () => {
  const text = '{\n  "price": {\n    "amount": 7.10\n  },\n  "a.b": 1,\n  "n": 1.50\n}\n'

  it("changes one value, and leaves every other digit and space as it is", () => {
    assert.strictEqual(changed(text, set("price.amount", "8.00")), text.replace("7.10", "8.00"))
    assert.strictEqual(changed(text, set("a.b", "2")), text.replace('"a.b": 1', '"a.b": 2'))
    assert.strictEqual(changed(text, remove("n")), text.replace(',\n  "n": 1.50', ""))
    assert.strictEqual(changed(text, set("n", "1.50")), text)
  })

  it("makes what is missing above a field, and removes nothing that is not there", () => {
    assert.deepStrictEqual(JSON.parse(changed("{}", set("a.b", "[1]"))!), { a: { b: [1] } })
    for (const field of ["none", "price.none", "n.none"])
      assert.strictEqual(changed(text, remove(field)), text)
    assert.isNull(changed("{", { _tag: "Delete" }))
  })

  it("replaces no value by an object to put a field into it", () => {
    for (const field of ["n.x", "price.amount.x", "list.0"]) {
      const refused = applyChange('{"n": 1, "price": {"amount": 2}, "list": [1]}', set(field, "1"))
      assert.match(
        String(Either.isLeft(refused) && refused.left),
        /^has a value that is not an object at (n|price\.amount|list)$/
      )
    }
  })

  it("is refused for a text that is not a document, or that would be stored as another one", () => {
    for (const wrong of ["{", "[]", '{"n": 9007199254740993}', '{"n": 1, "n": 2}'])
      assert.isTrue(Either.isLeft(applyChange(wrong, set("m", "1"))), wrong)
  })

  it("takes what is typed as JSON where it is JSON, and as a text otherwise", () => {
    assert.deepStrictEqual(
      ["12", " 1.10 ", "true", '"12"', "[1]", "Tea", '1, "x": 2', ""].map(
        (typed) => parseTypedValue(typed).raw
      ),
      ["12", "1.10", "true", '"12"', "[1]", '"Tea"', '"1, \\"x\\": 2"', '""']
    )
    assert.match(parseTypedValue("9007199254740993").problem!, /9007199254740993/)
    assert.match(parseTypedValue('{"a": 1, "a": 2}').problem!, /twice/)
    assert.match(parseTypedValue("1e400").problem!, /1e400/)
  })

  it("is of no field that the store writes", () => {
    for (const field of ["_id", "_rev", "_created_at", "_updated_at", "_rev.x", "a..b", ".a"])
      assert.isString(fieldProblem(field))
    for (const field of ["a", "a.b", "_other"]) assert.isUndefined(fieldProblem(field))
  })
})

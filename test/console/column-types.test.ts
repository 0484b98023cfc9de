import { assert, it } from "@effect/vitest"
import { columnType } from "../../src/console/results/table/ColumnTypes.js"
import { dateText, isDate } from "../../src/console/values/DateText.js"
import type { Json } from "../../src/domain/json/Json.js"

const typeOf = (...values: ReadonlyArray<Json>) =>
  columnType(
    "a",
    values.map((a) => ({ a }))
  )

it("a column has the type that all its values have, absent ones and null aside", () => {
  assert.strictEqual(typeOf(1, null, 2.5), "number")
  assert.strictEqual(typeOf("a", "b"), "text")
  assert.strictEqual(typeOf(true, false), "boolean")
  assert.strictEqual(typeOf([1], []), "list")
  assert.strictEqual(typeOf({ b: 1 }), "object")
  assert.strictEqual(typeOf(1, "1"), "mixed")
  assert.strictEqual(typeOf("2026-11-25T17:53:26.084Z", "2026-11-25"), "date")
  assert.strictEqual(typeOf("2026-11-25", "soon"), "mixed")
  assert.strictEqual(typeOf(null), undefined)
  assert.strictEqual(columnType("b", [{ a: 1 }]), undefined)
  assert.strictEqual(columnType("a.b", [{ a: { b: 1 } }]), "number")
})

it("only a complete date with its offset is shown in other words", () => {
  const shown = dateText("2026-11-25T17:53:26.084Z")
  assert.strictEqual(dateText("2026-11-25T18:53:26+01:00"), shown)
  assert.include(shown, "2026")
  for (const value of [
    "2026-11-25",
    "2026-11-25T17:53:26",
    "2026-13-25T17:53:26Z",
    "at 2026-11-25T17:53:26Z",
    " 2026-11-25T17:53:26Z",
    20261125,
    null,
    undefined
  ])
    assert.strictEqual(dateText(value), undefined, String(value))
  assert.isTrue(isDate("2026-11-25"))
  assert.isFalse(isDate("2026-13-45"))
  assert.isFalse(isDate("2026-11"))
})

import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import {
  arrangeColumns,
  columnWidth,
  moveColumn,
  parseLayout,
  resizeColumn,
  togglePin
} from "../../src/console/results/table/ColumnLayout.js"

const none = parseLayout(null)
const names = ["_id", "a", "b", "c", "__proto__"]
const change = fc.tuple(
  fc.constantFrom("move", "pin", "widen"),
  fc.constantFrom(...names),
  fc.constantFrom(...names)
)
const layout = fc
  .array(change, { maxLength: 8 })
  .map((changes) =>
    changes.reduce(
      (before, [what, one, other]) =>
        what === "move"
          ? moveColumn(before, names, one, other)
          : what === "pin"
            ? togglePin(before, one)
            : resizeColumn(before, one, 100),
      none
    )
  )

describe("the layout of columns", () => {
  it.prop(
    "loses and adds no column, and the ids stay first",
    [layout, fc.subarray(names)],
    ([given, shown]) => {
      const found = arrangeColumns(shown, given)
      assert.deepStrictEqual([...found].sort(), [...shown].sort())
      if (shown.includes("_id")) assert.strictEqual(found[0], "_id")
      const rest = found.filter((one) => one !== "_id").map((one) => given.pinned.includes(one))
      assert.deepStrictEqual(
        rest,
        [...rest].sort((a, b) => Number(b) - Number(a)),
        "pinned ones come first"
      )
    }
  )

  it.prop(
    "puts a column in the place of another one",
    [fc.constantFrom("a", "b", "c"), fc.constantFrom("a", "b", "c")],
    ([one, other]) => {
      const before = arrangeColumns(names, none)
      const after = arrangeColumns(names, moveColumn(none, names, one, other))
      assert.strictEqual(after.indexOf(one), before.indexOf(other))
      const others = (all: ReadonlyArray<string>) => all.filter((name) => name !== one)
      assert.deepStrictEqual(others(after), others(before))
    }
  )

  it.prop("is read as it was kept", [layout], ([given]) => {
    assert.deepStrictEqual(parseLayout(JSON.stringify(given)), given)
  })

  it.prop("whatever the browser has kept can be read", [fc.oneof(fc.string(), fc.json())], ([text]) => {
    arrangeColumns(names, parseLayout(text))
  })

  it("has widths that can be used", () => {
    const { widths } = parseLayout('{"widths": {"a": -5, "b": 1e9, "c": "wide", "d": null}}')
    assert.deepStrictEqual({ ...widths }, { a: 48, b: 1200 })
    for (const name of ["constructor", "__proto__"]) {
      assert.isUndefined(columnWidth(none, name))
      assert.strictEqual(columnWidth(resizeColumn(none, name, 100), name), 100)
    }
    assert.deepStrictEqual({ ...resizeColumn(resizeColumn(none, "a", 99.6), "a", undefined).widths }, {})
  })
})

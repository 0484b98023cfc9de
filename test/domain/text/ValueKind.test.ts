import { assert, it } from "@effect/vitest"
import { kindOf } from "../../../src/domain/text/ValueKind.js"

it("a value is named by its kind", () => {
  for (const [value, kind] of [
    [null, "null"],
    [undefined, "undefined"],
    [[], "a list"],
    [{}, "an object"],
    [new Date(0), "an object"],
    [1, "a number"],
    ["", "a string"],
    [() => 1, "a function"]
  ] as const)
    assert.strictEqual(kindOf(value), kind)
})

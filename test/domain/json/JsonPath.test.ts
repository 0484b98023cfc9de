import { assert, it } from "@effect/vitest"
import { appendToPath } from "../../../src/domain/json/JsonPath.js"

it("a path has names behind dots, and positions and other keys in brackets", () => {
  const path = (...keys: ReadonlyArray<string | number>) => keys.reduce<string>(appendToPath, "")
  assert.strictEqual(path(), "")
  assert.strictEqual(path("address"), "address")
  assert.strictEqual(path("address", "lines", 2), "address.lines[2]")
  assert.strictEqual(path(0, "a"), "[0].a")
  assert.strictEqual(path("a", "b c"), 'a["b c"]')
  assert.strictEqual(path('"', "a"), '["\\""].a')
  for (const name of ["_id", "$ref", "a1-b_c$", "Z"]) assert.strictEqual(path("a", name), `a.${name}`)
  for (const key of ["", "1a", "-a", "a.b", "a ", " a", "é", "a\n"]) {
    assert.strictEqual(path("a", key), `a[${JSON.stringify(key)}]`)
  }
})

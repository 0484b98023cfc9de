import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import type { Json, JsonObject } from "../../src/domain/json/Json.js"
import { type Difference, differences, printPath } from "../../src/store/browse/Difference.js"

const key = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString"))

const object = fc
  .dictionary(key, fc.oneof(fc.jsonValue(), fc.dictionary(key, fc.jsonValue())), { noNullPrototype: true })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject)

type Mutable = Record<string | number, Json | undefined>

/** Applies differences as a reader would understand them. */
const apply = (before: JsonObject, changes: ReadonlyArray<Difference>): unknown => {
  const document = structuredClone(before) as unknown as Mutable
  const removedItems = new Set<Array<unknown>>()
  for (const { after, kind, path } of changes) {
    let at = document
    for (const key of path.slice(0, -1)) at = at[key] as unknown as Mutable
    const last = path[path.length - 1]!
    if (kind === "removed") {
      delete at[last]
      if (Array.isArray(at)) removedItems.add(at)
    } else
      Object.defineProperty(at, last, { value: after, enumerable: true, configurable: true, writable: true })
  }
  for (const list of removedItems) list.length = list.reduce<number>((n, _, i) => Math.max(n, i + 1), 0)
  return document
}

describe("differences", () => {
  it("names every field that changed", () => {
    assert.deepStrictEqual(
      differences(
        { name: "a", price: 1, size: { w: 1, h: 2 }, tags: ["x", "y"], gone: true },
        { name: "a", price: 2, size: { w: 1, h: 3 }, tags: ["x"], new: null }
      ).map(({ kind, path }) => `${kind} ${printPath(path)}`),
      ["removed gone", "added new", "changed price", "changed size.h", "removed tags[1]"]
    )
  })

  it("writes paths that can be read", () => {
    assert.strictEqual(printPath(["a", 0, "b c", "d"]), 'a[0]["b c"].d')
  })

  it("does not trip over keys of the prototype", () => {
    const hostile = JSON.parse('{"__proto__": {"x": 1}, "constructor": 1}') as JsonObject
    assert.strictEqual(differences({}, hostile).length, 2)
    assert.strictEqual(differences(hostile, {}).length, 2)
    const other = JSON.parse('{"__proto__": {"x": 2}, "constructor": 1}') as JsonObject
    assert.deepStrictEqual(differences(hostile, other), [
      { path: ["__proto__", "x"], kind: "changed", before: 1, after: 2 }
    ])
    assert.deepStrictEqual(differences({ toString: "own" }, {}), [
      { path: ["toString"], kind: "removed", before: "own" }
    ])
  })

  it("takes another kind of value for a change of the whole", () => {
    const kinds: ReadonlyArray<Json> = [[1], { 0: 1 }, null, "1", 1, true]
    for (const before of kinds) {
      for (const after of kinds) {
        const expected = before === after ? [] : [{ path: ["a"], kind: "changed" as const, before, after }]
        assert.deepStrictEqual(differences({ a: before }, { a: after }), expected)
      }
    }
  })

  it("takes -0 for 0, and a missing document for an empty one", () => {
    assert.deepStrictEqual(differences({ a: 0 }, { a: -0 }), [])
    assert.deepStrictEqual(differences(null, { a: 0 }), [{ path: ["a"], kind: "added", after: 0 }])
    assert.deepStrictEqual(differences(null, null), [])
  })

  it("orders what it lists by path, positions of lists by number", () => {
    const list = (step: number) => ({
      b: 0,
      a: Array.from({ length: 12 }, (_, i) => i * step),
      B: { c: step }
    })
    assert.deepStrictEqual(
      differences(list(1), list(2)).map(({ path }) => printPath(path)),
      ["B.c", ...Array.from({ length: 11 }, (_, i) => `a[${i + 1}]`)]
    )
  })

  it.prop("a document does not differ from itself", [object], ([document]) => {
    assert.deepStrictEqual(differences(document, structuredClone(document)), [])
  })

  it.prop("what is listed turns one version into the other", [object, object], ([before, after]) => {
    assert.deepStrictEqual(apply(before, differences(before, after)), after)
  })
})

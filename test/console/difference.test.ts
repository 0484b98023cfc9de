import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import type { Json, JsonObject } from "../../src/domain/Document.js"
import { type Difference, differences, printPath } from "../../src/store/browse/Difference.js"

const object = fc
  .dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true })
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
  })

  it.prop("a document does not differ from itself", [object], ([document]) => {
    assert.deepStrictEqual(differences(document, structuredClone(document)), [])
  })

  it.prop("what is listed turns one version into the other", [object, object], ([before, after]) => {
    assert.deepStrictEqual(apply(before, differences(before, after)), after)
  })
})

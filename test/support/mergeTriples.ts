import * as fc from "fast-check"
import type { Json, JsonObject } from "../../src/domain/Document.js"
import type { DocumentSides, MergeRules } from "../../src/domain/merge/index.js"
import { isList, isObject } from "../../src/domain/merge/JsonIdentity.js"

/*
 * Triples of documents for the laws of merging: a base, and what two sides made of it by a few changes each.
 */

const names = ["a", "b", "c", "__proto__", "a.b", "tags", "rows", "steps", "text", "count"]

const leaf: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(0, 1, 2, 1.5, "", "x", "y", "1", null, true, false),
  fc.integer({ min: -3, max: 1e9 })
)

const anyValue = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names.slice(0, 5)), tie("json"), { maxKeys: 3 })
  )
})).json

const row = fc.record({ id: fc.constantFrom<Json>("p", "q", "r", 1, 2), n: leaf, count: fc.nat(5) })
const rows = fc.uniqueArray(row, { maxLength: 4, selector: ({ id }) => JSON.stringify(id) })
const lines = fc.array(fc.constantFrom("one", "two", "three", ""), { maxLength: 5 })

const fitting: { readonly [name: string]: fc.Arbitrary<Json> } = {
  tags: fc.array(leaf, { maxLength: 4 }),
  rows: rows as fc.Arbitrary<Json>,
  steps: fc.array(fc.constantFrom<Json>("s1", "s2", "s3", 4, { s: 5 }), { maxLength: 5 }),
  text: lines.map((all) => all.join("\n")),
  count: fc.integer({ min: -5, max: 5 })
}

const valueOf = (name: string): fc.Arbitrary<Json> =>
  Object.hasOwn(fitting, name) ? fc.oneof({ weight: 6, arbitrary: fitting[name]! }, anyValue) : anyValue

const setAll = (
  object: JsonObject,
  members: ReadonlyArray<readonly [string, Json | undefined]>
): JsonObject =>
  Object.fromEntries(
    [...new Map<string, Json | undefined>([...Object.entries(object), ...members])].filter(
      (member): member is [string, Json] => member[1] !== undefined
    )
  )

const member = fc
  .constantFrom(...names)
  .chain((name) => valueOf(name).map((value): readonly [string, Json] => [name, value]))

const document = fc.array(member, { maxLength: 8 }).map((members) => setAll({}, members))

/** A value with some changes deep inside it. */
const changed = (value: Json, name: string): fc.Arbitrary<Json | undefined> => {
  const other = fc.oneof({ weight: 3, arbitrary: valueOf(name) }, fc.constant<Json | undefined>(undefined))
  if (isObject(value)) {
    return fc.oneof({ weight: 4, arbitrary: changedObject(value as JsonObject) }, other)
  }
  if (!isList(value)) return other
  const at = fc.nat(value.length)
  const items = value as ReadonlyArray<Json>
  return fc.oneof(
    { weight: 2, arbitrary: at.map((at) => items.filter((_, index) => index !== at)) },
    {
      weight: 2,
      arbitrary: fc.tuple(at, leaf).map(([at, item]) => [...items.slice(0, at), item, ...items.slice(at)])
    },
    {
      weight: 2,
      arbitrary: at.chain((at) =>
        changed(items[at] ?? null, "").map((item) =>
          item === undefined || at === items.length ? items : items.with(at, item)
        )
      )
    },
    { weight: 1, arbitrary: fc.constant([...items].reverse()) },
    other
  )
}

const changedObject = (object: JsonObject): fc.Arbitrary<JsonObject> => {
  const change = fc
    .constantFrom(...names, ...Object.keys(object))
    .chain((name) =>
      (Object.hasOwn(object, name) ? changed(object[name]!, name) : valueOf(name)).map(
        (value): readonly [string, Json | undefined] => [name, value]
      )
    )
  return fc.array(change, { maxLength: 3 }).map((changes) => setAll(object, changes))
}

export const triple: fc.Arbitrary<DocumentSides> = document.chain((base) =>
  fc.record({
    base: fc.oneof({ weight: 9, arbitrary: fc.constant(base) }, fc.constant(undefined)),
    ours: changedObject(base),
    theirs: changedObject(base)
  })
)

/** Rules for the members that the triples have. */
export const rules: MergeRules = {
  fields: {
    tags: "set",
    rows: { key: "id", fields: { count: "counter" } },
    steps: "sequence",
    text: "lines",
    count: "counter",
    "*": "whole"
  }
}

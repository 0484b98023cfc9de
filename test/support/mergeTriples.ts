import * as fc from "fast-check"
import * as Steps from "../../src/domain/concurrency/Steps.js"
import type { Json, JsonObject } from "../../src/domain/json/Json.js"
import type { LosslessJson } from "../../src/domain/json/LosslessJson.js"
import type { DocumentSides, MergedDocument, MergeRules } from "../../src/domain/merge/index.js"
import {
  byValue,
  isList,
  isObject,
  namesIn as namesInSteps,
  type Optional,
  own,
  valueText as textInSteps
} from "../../src/domain/merge/JsonIdentity.js"

const isEqual = (a: Optional, b: Optional): boolean => Steps.runSync(byValue().isSame(a, b))
const namesIn = (...objects: ReadonlyArray<JsonObject>) => [...Steps.runSync(namesInSteps(...objects))]
const valueText = (value: LosslessJson): string => Steps.runSync(textInSteps(value))

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

/** What a change made of the value at a path: nothing where it removed it. */
interface Change {
  readonly path: ReadonlyArray<string>
  readonly value: Json | undefined
}

/** The changes of one side, as deep inside objects as both have them. */
const changesOf = (
  base: Json | undefined,
  side: Json | undefined,
  path: ReadonlyArray<string>
): ReadonlyArray<Change> => {
  if (isEqual(base, side)) return []
  const isNew = base === undefined && isObject(side) && Object.keys(side).length > 0
  if (!(isObject(base) || isNew) || !isObject(side)) return [{ path, value: side }]
  const before = (base ?? {}) as JsonObject
  return namesIn(before, side).flatMap((name) =>
    changesOf(own(before, name) as Json | undefined, own(side, name) as Json | undefined, [...path, name])
  )
}

const at = (document: Json | undefined, path: ReadonlyArray<string>): Json | undefined =>
  path.reduce<Json | undefined>(
    (value, name) => (isObject(value) ? (own(value, name) as Json | undefined) : undefined),
    document
  )

const begins = (path: ReadonlyArray<string | number>, start: ReadonlyArray<string | number>): boolean =>
  start.every((step, index) => path[index] === step)

/** An empty object is there where the other side has put something into it. */
const isThere = (found: Json | undefined, value: Json | undefined): boolean =>
  isEqual(found, value) || (isObject(value) && isObject(found) && Object.keys(value).length === 0)

/** The changes of either side that are neither in the merged document nor in a conflict, without rules. */
export const lostChanges = (
  { base, ours, theirs }: DocumentSides,
  { conflicts, document }: MergedDocument
): ReadonlyArray<Change> =>
  [ours, theirs]
    .flatMap((side) => changesOf(base ?? {}, side, []))
    .filter(
      ({ path, value }) =>
        !isThere(at(document, path), value) && !conflicts.some((conflict) => begins(path, conflict.path))
    )

/** What the document has that no side has at the same place, without rules. */
export const inventedValues = ({ ours, theirs }: DocumentSides, { document }: MergedDocument) =>
  changesOf({}, document, []).filter(
    ({ path, value }) => ![ours, theirs].some((side) => isThere(at(side, path), value))
  )

const countOf = (list: ReadonlyArray<Json>, item: string): number =>
  list.filter((one) => valueText(one) === item).length

/** What the rules promise of a merge without a conflict, member by member; the first promise that is broken. */
export const brokenRule = (
  { base, ours, theirs }: DocumentSides,
  { document }: MergedDocument
): string | undefined => {
  const [before, left, right] = [base ?? {}, ours, theirs].map((side) => (name: string) => own(side, name))
  const versions = (name: string) => [before!(name), left!(name), right!(name)] as const
  const bothChanged = (name: string) => {
    const [b, o, t] = versions(name)
    return !isEqual(b, o) && !isEqual(b, t)
  }
  const result = (name: string) => own(document, name)
  const [b, o, t] = versions("count")
  if (bothChanged("count") && [b ?? 0, o, t].every((value) => typeof value === "number")) {
    const sum = (o as number) + (t as number) - ((b ?? 0) as number)
    if (result("count") !== sum) return `count is ${String(result("count"))}, not ${sum}`
  }
  const [tagsBefore = [], tagsLeft, tagsRight] = versions("tags")
  if (bothChanged("tags") && isList(tagsBefore) && isList(tagsLeft) && isList(tagsRight)) {
    const merged = new Set((result("tags") as ReadonlyArray<Json>).map(valueText))
    for (const tag of [...tagsBefore, ...tagsLeft, ...tagsRight].map(valueText)) {
      const [was, isLeft, isRight] = [tagsBefore, tagsLeft, tagsRight].map(
        (list) => countOf(list as ReadonlyArray<Json>, tag) > 0
      )
      if (merged.has(tag) !== (was ? isLeft! && isRight! : isLeft! || isRight!)) return `tags: ${tag}`
    }
  }
  const [stepsBefore = [], stepsLeft, stepsRight] = versions("steps")
  if (bothChanged("steps") && isList(stepsBefore) && isList(stepsLeft) && isList(stepsRight)) {
    const lists = [stepsBefore, stepsLeft, stepsRight, result("steps")] as ReadonlyArray<ReadonlyArray<Json>>
    for (const step of new Set(lists.flat().map(valueText))) {
      const [was, isLeft, isRight, is] = lists.map((list) => countOf(list, step)) as [
        number,
        number,
        number,
        number
      ]
      const changes = [isLeft - was, isRight - was, isLeft + isRight - 2 * was]
      // An equal change of both sides is there once.
      if (is - was < Math.min(...changes) || is - was > Math.max(...changes)) return `steps: ${step}`
    }
  }
  return undefined
}

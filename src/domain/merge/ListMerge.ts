import * as Steps from "../concurrency/Steps.js"
import { type LosslessJson, type LosslessObject, toJson } from "../json/LosslessJson.js"
import { compareCodePoints } from "../text/CodePointOrder.js"
import { isNumber, isObject, type Optional, own, type SpelledList, valueText } from "./JsonIdentity.js"

type Items = ReadonlyMap<string, LosslessJson>
type Keys = ReadonlyArray<string>

const isSameOrder = (a: Keys, b: Keys): boolean => a.every((key, at) => key === b[at])

/** The merged order of the same keys; undefined if both sides changed the order differently. */
const mergedOrder = (base: Keys, ours: Keys, theirs: Keys): Keys | undefined => {
  if (isSameOrder(base, theirs) || isSameOrder(ours, theirs)) return ours
  return isSameOrder(base, ours) ? theirs : undefined
}

function* itemsOf(list: SpelledList): Steps.Steps<Items> {
  const items = new Map<string, LosslessJson>()
  for (const [at, item] of list.entries()) {
    items.set(yield* valueText(item), item)
    if (at % Steps.stepSize === 0) yield
  }
  return items
}

/** Merges lists as sets. `merge` selects one of the spellings of an item. */
export function* mergeSet(
  base: SpelledList,
  ours: SpelledList,
  theirs: SpelledList,
  merge: (base: Optional, ours: Optional, theirs: Optional) => Steps.Steps<Optional>
): Steps.Steps<SpelledList> {
  const [before, left, right] = [yield* itemsOf(base), yield* itemsOf(ours), yield* itemsOf(theirs)]
  const kept = (items: Items) =>
    [...items.keys()].filter((key) => before.has(key) && left.has(key) && right.has(key))
  const added = [...new Set([...left.keys(), ...right.keys()])].filter((key) => !before.has(key))
  yield
  const order = mergedOrder(kept(before), kept(left), kept(right)) ?? kept(before)
  const merged: Array<LosslessJson> = []
  for (const key of [...order, ...(yield* Steps.sorted(added, compareCodePoints))]) {
    merged.push((yield* merge(before.get(key), left.get(key), right.get(key)))!)
    if (merged.length % Steps.stepSize === 0) yield
  }
  return merged
}

/** The items of a list by their key; undefined if an item has no key or two items have the same key. */
function* byKey(list: SpelledList, name: string): Steps.Steps<Items | undefined> {
  const items = new Map<string, LosslessJson>()
  for (const item of list) {
    const key = isObject(item) ? own(item, name) : undefined
    if (typeof key !== "string" && !isNumber(key)) return undefined
    const text = yield* valueText(key)
    if (items.has(text)) return undefined
    items.set(text, item)
    if (items.size % Steps.stepSize === 0) yield
  }
  return items
}

/** The runs of keys that a side inserted, by the kept key before them; at the start of the list by the empty text. */
const insertions = (keys: Keys, kept: ReadonlySet<string>): ReadonlyMap<string, Keys> => {
  const runs = new Map<string, Array<string>>()
  let anchor = ""
  for (const key of keys) {
    if (kept.has(key)) anchor = key
    else {
      const run = runs.get(anchor)
      if (run === undefined) runs.set(anchor, [key])
      else run.push(key)
    }
  }
  return runs
}

/** Compares runs by their first keys that differ. If one begins with the other, their keys are the same in any order. */
const compareRuns = (a: Keys, b: Keys): number => {
  const at = a.findIndex((key, at) => at < b.length && key !== b[at])
  return at === -1 ? 0 : compareCodePoints(a[at]!, b[at]!)
}

/** The merged items in our order. `theirs` is set if both sides changed the order differently. */
interface KeyedMerge {
  readonly ours: SpelledList
  readonly theirs: SpelledList | undefined
}

/**
 * Merges lists of objects with a key; `merge` merges two objects with the same key. Undefined if an item has no key or
 * two items have the same key.
 */
export function* mergeKeyed(
  lists: { readonly base: SpelledList; readonly ours: SpelledList; readonly theirs: SpelledList },
  name: string,
  merge: (key: string | number, base: Optional, ours: Optional, theirs: Optional) => Steps.Steps<Optional>
): Steps.Steps<KeyedMerge | undefined> {
  const base = yield* byKey(lists.base, name)
  const ours = yield* byKey(lists.ours, name)
  const theirs = yield* byKey(lists.theirs, name)
  if (base === undefined || ours === undefined || theirs === undefined) return undefined
  const merged = new Map<string, LosslessJson>()
  for (const key of new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])) {
    const item = (base.get(key) ?? ours.get(key) ?? theirs.get(key)) as LosslessObject
    const shown = toJson(item[name]) as string | number
    const value = yield* merge(shown, base.get(key), ours.get(key), theirs.get(key))
    if (value !== undefined) merged.set(key, value)
    if (merged.size % Steps.stepSize === 0) yield
  }
  yield
  const inAll = (key: string) => base.has(key) && ours.has(key) && theirs.has(key)
  const keptOf = (items: Items) => [...items.keys()].filter(inAll)
  const kept = new Set(keptOf(base))
  const left = insertions([...ours.keys()], kept)
  const right = insertions([...theirs.keys()], kept)
  const listIn = (order: Keys): SpelledList => {
    const keys = ["", ...order].flatMap((anchor) => [
      anchor,
      ...[left.get(anchor) ?? [], right.get(anchor) ?? []].sort(compareRuns).flat()
    ])
    return [...new Set(keys)].flatMap((key) => (merged.has(key) ? [merged.get(key)!] : []))
  }
  const order = mergedOrder([...kept], keptOf(ours), keptOf(theirs))
  return order === undefined
    ? { ours: listIn(keptOf(ours)), theirs: listIn(keptOf(theirs)) }
    : { ours: listIn(order), theirs: undefined }
}

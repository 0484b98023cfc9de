import { compareCodePoints } from "../CanonicalJson.js"
import { asRead, type SpelledJson, type SpelledObject } from "../SpelledJson.js"
import { isNumber, isObject, type Optional, own, type SpelledList, valueText } from "./JsonIdentity.js"

type Items = ReadonlyMap<string, SpelledJson>
type Keys = ReadonlyArray<string>

const isSameOrder = (a: Keys, b: Keys): boolean => a.every((key, at) => key === b[at])

/** The order that one side gave to the same keys, if the other side left theirs alone. */
const mergedOrder = (base: Keys, ours: Keys, theirs: Keys): Keys | undefined => {
  if (isSameOrder(base, theirs) || isSameOrder(ours, theirs)) return ours
  return isSameOrder(base, ours) ? theirs : undefined
}

const byValue = (list: SpelledList): Items => new Map(list.map((item) => [valueText(item), item]))

/** Merges lists whose order has no meaning; `merge` chooses among the spellings of one item. */
export const mergeSet = (
  base: SpelledList,
  ours: SpelledList,
  theirs: SpelledList,
  merge: (base: Optional, ours: Optional, theirs: Optional) => Optional
): SpelledList => {
  const [before, left, right] = [byValue(base), byValue(ours), byValue(theirs)]
  const kept = (items: Items) =>
    [...items.keys()].filter((key) => before.has(key) && left.has(key) && right.has(key))
  const added = [...new Set([...left.keys(), ...right.keys()])].filter((key) => !before.has(key))
  const order = mergedOrder(kept(before), kept(left), kept(right)) ?? kept(before)
  return [...order, ...added.sort(compareCodePoints)].map(
    (key) => merge(before.get(key), left.get(key) ?? right.get(key), right.get(key) ?? left.get(key))!
  )
}

/** The items of a list by the values of a member; undefined where an item has none, or two have the same. */
const byKey = (list: SpelledList, name: string): Items | undefined => {
  const items = new Map<string, SpelledJson>()
  for (const item of list) {
    const key = isObject(item) ? own(item, name) : undefined
    if (typeof key !== "string" && !isNumber(key)) return undefined
    const text = valueText(key)
    if (items.has(text)) return undefined
    items.set(text, item)
  }
  return items
}

/** The runs of keys that a side inserted, by the kept key before them; those at the beginning by the empty text. */
const insertions = (keys: Keys, kept: ReadonlySet<string>): ReadonlyMap<string, Keys> => {
  const runs = new Map<string, Array<string>>()
  let anchor = ""
  for (const key of keys) {
    if (kept.has(key)) anchor = key
    else runs.set(anchor, [...(runs.get(anchor) ?? []), key])
  }
  return runs
}

const compareRuns = (a: Keys, b: Keys): number => {
  const at = a.findIndex((key, at) => key !== b[at])
  return at === -1 ? a.length - b.length : at >= b.length ? 1 : compareCodePoints(a[at]!, b[at]!)
}

/** The merged items in our order and, if each side gave another order to what both have, in theirs. */
interface KeyedMerge {
  readonly ours: SpelledList
  readonly theirs: SpelledList | undefined
}

/**
 * Merges lists of objects that are told apart by a member; `merge` merges one of them. Undefined where a list has an
 * item without that member, or two with the same.
 */
export const mergeKeyed = (
  lists: { readonly base: SpelledList; readonly ours: SpelledList; readonly theirs: SpelledList },
  name: string,
  merge: (key: string | number, base: Optional, ours: Optional, theirs: Optional) => Optional
): KeyedMerge | undefined => {
  const base = byKey(lists.base, name)
  const ours = byKey(lists.ours, name)
  const theirs = byKey(lists.theirs, name)
  if (base === undefined || ours === undefined || theirs === undefined) return undefined
  const merged = new Map<string, SpelledJson>()
  for (const key of new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])) {
    const item = (base.get(key) ?? ours.get(key) ?? theirs.get(key)) as SpelledObject
    const value = merge(asRead(item[name]) as string | number, base.get(key), ours.get(key), theirs.get(key))
    if (value !== undefined) merged.set(key, value)
  }
  const inAll = (key: string) => merged.has(key) && base.has(key) && ours.has(key) && theirs.has(key)
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

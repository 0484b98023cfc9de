import { diff3MergeRegions } from "node-diff3"
import { compareCodePoints } from "../CanonicalJson.js"
import type { SpelledJson } from "../SpelledJson.js"
import { eitherOf, isEqual, type SpelledList, spelledText, valueText } from "./JsonIdentity.js"

type Texts = ReadonlyArray<string>

/** How many items are alike at the beginning of all lists. */
const commonStart = (first: Texts, ...others: ReadonlyArray<Texts>): number => {
  let at = 0
  while (at < first.length && others.every((other) => at < other.length && other[at] === first[at])) at++
  return at
}

const reversed = (texts: Texts): Texts => [...texts].reverse()

/** The lists without what all of them begin and end with. */
const trimmed = <const L extends ReadonlyArray<Texts>>(...lists: L) => {
  const [first, ...others] = lists as unknown as readonly [Texts, ...ReadonlyArray<Texts>]
  const start = commonStart(first, ...others)
  const rests = lists.map((list) => list.slice(start))
  const [rest, ...otherRests] = rests.map(reversed) as [Texts, ...Array<Texts>]
  const end = commonStart(rest, ...otherRests)
  return {
    before: first.slice(0, start),
    after: first.slice(first.length - end),
    middles: rests.map((list) => list.slice(0, list.length - end))
  }
}

/** The most steps that a comparison may take: about a second. */
const mostSteps = 100_000_000

/** About how many steps the comparison of two lists takes: it tries each pair of equal items, and counts through what it has found. */
const stepsOf = (from: Texts, to: Texts): number => {
  const counts = new Map<string, number>()
  for (const text of to) counts.set(text, (counts.get(text) ?? 0) + 1)
  let [pairs, matched] = [0, 0]
  for (const text of from) {
    const count = counts.get(text) ?? 0
    pairs += count
    if (count > 0) matched++
  }
  return pairs + (matched * Math.min(matched, to.length)) / 2
}

const compareLists = (a: Texts, b: Texts): number => {
  const at = commonStart(a, b)
  return at === a.length || at === b.length ? a.length - b.length : compareCodePoints(a[at]!, b[at]!)
}

/** Two insertions, one behind the other; what both begin and end with is there once, if one equal change `isOnce`. */
const bothInserted = (ours: Texts, theirs: Texts, isOnce: boolean): Texts => {
  if (!isOnce) return [ours, theirs].sort(compareLists).flat()
  const { before, after, middles } = trimmed(ours, theirs)
  return [...before, ...middles.sort(compareLists).flat(), ...after]
}

const isSame = (a: Texts, b: Texts): boolean => a.length === b.length && commonStart(a, b) === a.length

const mergeTexts = (
  base: Texts,
  ours: Texts,
  theirs: Texts,
  byContent: boolean,
  isOnce: boolean
): Texts | undefined => {
  const { before, after, middles } = trimmed(base, ours, theirs)
  const [o, a, b] = middles as [Array<string>, Array<string>, Array<string>]
  if (stepsOf(o, a) + stepsOf(o, b) > mostSteps) return undefined
  const result: Array<Texts> = [before]
  for (const region of diff3MergeRegions(a, o, b)) {
    if (region.stable) result.push(region.bufferContent)
    else if (isOnce && isSame(region.aContent, region.bContent)) result.push(region.aContent)
    else if (byContent && region.oLength === 0) {
      result.push(bothInserted(region.aContent, region.bContent, isOnce))
    } else return undefined
  }
  return [...result, after].flat()
}

/**
 * Merges lists in order; undefined where both sides changed one place (one equal change counts `isOnce`), or where they
 * are too long to compare.
 */
export const mergeSequence = (
  {
    base,
    ours,
    theirs
  }: { readonly base: SpelledList; readonly ours: SpelledList; readonly theirs: SpelledList },
  byContent: boolean,
  isOnce: boolean
): SpelledList | undefined => {
  const mergedBy = (textOf: (item: SpelledJson) => string): SpelledList | undefined => {
    const items = new Map<string, SpelledJson>()
    const textsOf = (list: SpelledList, choose: (item: SpelledJson, before: SpelledJson) => SpelledJson) =>
      list.map((item) => {
        const text = textOf(item)
        items.set(text, choose(item, items.get(text) ?? item))
        return text
      })
    const [a, b] = [textsOf(ours, eitherOf), textsOf(theirs, eitherOf)]
    const merged = mergeTexts(
      textsOf(base, (item) => item),
      a,
      b,
      byContent,
      isOnce
    )
    return merged?.map((text) => items.get(text)!)
  }
  const byValue = mergedBy(valueText)
  if (byValue === undefined) return undefined
  // Items that a side only spelled otherwise keep that spelling where it makes no other difference.
  const all = [...base, ...ours, ...theirs]
  if (new Set(all.map(spelledText)).size === new Set(all.map(valueText)).size) return byValue
  const bySpelling = mergedBy(spelledText)
  return bySpelling !== undefined && isEqual(bySpelling, byValue) ? bySpelling : byValue
}

/** Merges texts by lines; undefined as for lists. */
export const mergeLines = (base: string, ours: string, theirs: string, isOnce: boolean): string | undefined =>
  mergeTexts(base.split("\n"), ours.split("\n"), theirs.split("\n"), false, isOnce)?.join("\n")

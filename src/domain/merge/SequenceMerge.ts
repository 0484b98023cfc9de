import * as Steps from "../concurrency/Steps.js"
import type { LosslessJson } from "../json/LosslessJson.js"
import { compareCodePoints } from "../text/CodePointOrder.js"
import { byValue, eitherOf, type SpelledList, spelledText, valueText } from "./JsonIdentity.js"
import { commonStart, isSame, regionsOf } from "./ListComparison.js"

type Texts = ReadonlyArray<string>

const reversed = (texts: Texts): Texts => [...texts].reverse()

/** Splits the common prefix and suffix from lists. */
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

/** The maximum number of pairs of equal items that are compared: seconds of work. */
const mostPairs = 100_000_000

/** The number of pairs of equal items in two lists. */
const pairsOf = (from: Texts, to: Texts): number => {
  const counts = new Map<string, number>()
  for (const text of to) counts.set(text, (counts.get(text) ?? 0) + 1)
  return from.reduce((pairs, text) => pairs + (counts.get(text) ?? 0), 0)
}

const compareLists = (a: Texts, b: Texts): number => {
  const at = commonStart(a, b)
  return at === a.length || at === b.length ? a.length - b.length : compareCodePoints(a[at]!, b[at]!)
}

/** Concatenates two insertions, sorted by content. With `isOnce`, their common prefix and suffix is inserted once. */
const bothInserted = (ours: Texts, theirs: Texts, isOnce: boolean): Texts => {
  if (!isOnce) return [ours, theirs].sort(compareLists).flat()
  const { before, after, middles } = trimmed(ours, theirs)
  return [...before, ...middles.sort(compareLists).flat(), ...after]
}

function* mergeTexts(
  base: Texts,
  ours: Texts,
  theirs: Texts,
  byContent: boolean,
  isOnce: boolean
): Steps.Steps<Texts | undefined> {
  const { before, after, middles } = trimmed(base, ours, theirs)
  const [o, a, b] = middles as unknown as readonly [Texts, Texts, Texts]
  yield
  if (pairsOf(o, a) + pairsOf(o, b) > mostPairs) return undefined
  const result: Array<Texts> = [before]
  for (const region of yield* regionsOf(o, a, b)) {
    if (region._tag === "Merged") result.push(region.items)
    else if (isOnce && isSame(region.ours, region.theirs)) result.push(region.ours)
    else if (byContent && region.base.length === 0) {
      result.push(bothInserted(region.ours, region.theirs, isOnce))
    } else return undefined
  }
  return [...result, after].flat()
}

/**
 * Merges ordered lists. Undefined if both sides changed the same place (with `isOnce`, an equal change is not a
 * conflict), or if the lists are too long to compare.
 */
export function* mergeSequence(
  {
    base,
    ours,
    theirs
  }: { readonly base: SpelledList; readonly ours: SpelledList; readonly theirs: SpelledList },
  byContent: boolean,
  isOnce: boolean
): Steps.Steps<SpelledList | undefined> {
  function* mergedBy(
    textOf: (item: LosslessJson) => Steps.Steps<string>
  ): Steps.Steps<SpelledList | undefined> {
    const items = new Map<string, LosslessJson>()
    function* textsOf(
      list: SpelledList,
      choose: (item: LosslessJson, before: LosslessJson) => Steps.Steps<LosslessJson>
    ): Steps.Steps<Texts> {
      const texts: Array<string> = []
      for (const item of list) {
        const text = yield* textOf(item)
        const before = items.get(text)
        items.set(text, before === undefined ? item : yield* choose(item, before))
        if (texts.push(text) % Steps.stepSize === 0) yield
      }
      return texts
    }
    const [a, b] = [yield* textsOf(ours, eitherOf), yield* textsOf(theirs, eitherOf)]
    const merged = yield* mergeTexts(
      yield* textsOf(base, function* (item) {
        return item
      }),
      a,
      b,
      byContent,
      isOnce
    )
    return merged?.map((text) => items.get(text)!)
  }
  function* countOf(textOf: (item: LosslessJson) => Steps.Steps<string>): Steps.Steps<number> {
    const texts = new Set<string>()
    for (const [at, item] of [...base, ...ours, ...theirs].entries()) {
      texts.add(yield* textOf(item))
      if (at % Steps.stepSize === 0) yield
    }
    return texts.size
  }
  const merged = yield* mergedBy(valueText)
  if (merged === undefined) return undefined
  // If a side changed only the spelling of items, that spelling is kept if the merged values stay equal.
  if ((yield* countOf(spelledText)) === (yield* countOf(valueText))) return merged
  const spelled = yield* mergedBy(spelledText)
  return (yield* byValue().isSame(spelled, merged)) ? spelled : merged
}

/** Merges texts by lines; undefined as in `mergeSequence`. */
export function* mergeLines(
  base: string,
  ours: string,
  theirs: string,
  isOnce: boolean
): Steps.Steps<string | undefined> {
  const merged = yield* mergeTexts(base.split("\n"), ours.split("\n"), theirs.split("\n"), false, isOnce)
  return merged?.join("\n")
}

import * as Steps from "../concurrency/Steps.js"

type Texts = ReadonlyArray<string>

/** The length of the common prefix of all lists. */
export const commonStart = (first: Texts, ...others: ReadonlyArray<Texts>): number => {
  let at = 0
  while (at < first.length && others.every((other) => other[at] === first[at])) at++
  return at
}

/** Whether two lists have the same items in the same order. */
export const isSame = (a: Texts, b: Texts): boolean => a.length === b.length && commonStart(a, b) === a.length

/** A common subsequence of two lists, as a linked list from its last pair of items. */
interface Common {
  readonly from: number
  readonly to: number
  readonly before: Common | undefined
}

/** The length of the longest subsequence found so far, at least `low`, that `to` can extend. */
const lastBefore = (longest: ReadonlyArray<Common>, low: number, to: number): number | undefined => {
  if (longest[low]!.to >= to) return undefined
  let [first, last] = [low, longest.length - 1]
  while (first < last) {
    const middle = (first + last + 1) >>> 1
    if (longest[middle]!.to < to) first = middle
    else last = middle - 1
  }
  return longest[first + 1]?.to === to ? undefined : first
}

/** The longest common subsequence of two lists by the algorithm of J. W. Hunt and M. D. McIlroy (1976), in steps. */
function* commonOf(from: Texts, to: Texts): Steps.Steps<Common> {
  const places = new Map<string, Array<number>>()
  for (const [at, text] of to.entries()) {
    const same = places.get(text)
    if (same === undefined) places.set(text, [at])
    else same.push(at)
    if (at % Steps.stepSize === 0) yield
  }
  // For each length, the common subsequence that ends first in the second list.
  const longest: Array<Common> = [{ from: -1, to: -1, before: undefined }]
  let visited = 0
  for (const [at, text] of from.entries()) {
    if (++visited % Steps.stepSize === 0) yield
    let length = 0
    let next = longest[0]!
    for (const place of places.get(text) ?? []) {
      if (++visited % Steps.stepSize === 0) yield
      const found = lastBefore(longest, length, place)
      if (found === undefined) continue
      const longer = { from: at, to: place, before: longest[found] }
      longest[length] = next
      length = found + 1
      next = longer
      if (length === longest.length) break
    }
    longest[length] = next
  }
  return longest.at(-1)!
}

/** A range of the base that one side has replaced. */
interface Hunk {
  readonly isOurs: boolean
  readonly start: number
  readonly end: number
  readonly sideStart: number
  readonly sideEnd: number
}

/** The replaced ranges, from the last to the first. */
function* hunksOf(base: Texts, side: Texts, isOurs: boolean): Steps.Steps<Array<Hunk>> {
  const hunks: Array<Hunk> = []
  let [end, sideEnd] = [base.length, side.length]
  let common: Common | undefined = yield* commonOf(base, side)
  for (; common !== undefined; common = common.before) {
    const [start, sideStart] = [common.from + 1, common.to + 1]
    if (start < end || sideStart < sideEnd) hunks.push({ isOurs, start, end, sideStart, sideEnd })
    end = common.from
    sideEnd = common.to
  }
  return hunks
}

/** A region of the merge of two lists: changed by at most one side, or by both. */
export type Region =
  | { readonly _tag: "Merged"; readonly items: Texts }
  | { readonly _tag: "Both"; readonly base: Texts; readonly ours: Texts; readonly theirs: Texts }

/** The items of a side that replace a range of the base. */
const spanOf = (hunks: ReadonlyArray<Hunk>, side: Texts, start: number, end: number): Texts => {
  const [first, last] = [hunks[0]!, hunks.at(-1)!]
  return side.slice(first.sideStart + start - first.start, last.sideEnd + end - last.end)
}

/** Compares two lists with their base, in steps (diff3). */
export function* regionsOf(base: Texts, ours: Texts, theirs: Texts): Steps.Steps<Array<Region>> {
  const hunks = [...(yield* hunksOf(base, ours, true)), ...(yield* hunksOf(base, theirs, false))].sort(
    (a, b) => a.start - b.start
  )
  const regions: Array<Region> = []
  let done = 0
  for (let at = 0; at < hunks.length; ) {
    const { start } = hunks[at]!
    const overlapping: Array<Hunk> = []
    let end = start
    for (let next = hunks[at]; next !== undefined && next.start <= end; next = hunks[++at]) {
      overlapping.push(next)
      end = Math.max(end, next.end)
    }
    if (start > done) regions.push({ _tag: "Merged", items: base.slice(done, start) })
    const [left, right] = [
      overlapping.filter(({ isOurs }) => isOurs),
      overlapping.filter(({ isOurs }) => !isOurs)
    ]
    if (left.length > 0 && right.length > 0) {
      regions.push({
        _tag: "Both",
        base: base.slice(start, end),
        ours: spanOf(left, ours, start, end),
        theirs: spanOf(right, theirs, start, end)
      })
    } else {
      const items = left.length > 0 ? spanOf(left, ours, start, end) : spanOf(right, theirs, start, end)
      if (items.length > 0) regions.push({ _tag: "Merged", items })
    }
    done = end
    yield
  }
  if (base.length > done) regions.push({ _tag: "Merged", items: base.slice(done) })
  return regions
}

import * as Steps from "../concurrency/Steps.js"
import { type LosslessJson, type LosslessObject, toJson } from "../json/LosslessJson.js"
import { compareCodePoints } from "../text/CodePointOrder.js"
import { byValue, type Optional, own } from "./JsonIdentity.js"

const later = (values: ReadonlyArray<string>): string =>
  values.reduce((a, b) => (compareTimes(a, b) >= 0 ? a : b))

const earlier = (values: ReadonlyArray<string>): string =>
  values.reduce((a, b) => (compareTimes(a, b) <= 0 ? a : b))

const compareTimes = (a: string, b: string): number =>
  Date.parse(a) - Date.parse(b) || compareCodePoints(a, b)

const isTime = (value: unknown): value is string =>
  typeof value === "string" && !Number.isNaN(Date.parse(value))

const isRevision = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const combine = <V extends LosslessJson>(
  is: (value: unknown) => value is V,
  both: (values: ReadonlyArray<V>) => V
) => {
  return (ours: Optional, theirs: Optional): Optional => {
    const values = [ours, theirs].map((value): unknown => toJson(value)).filter(is)
    return values.length === 0 ? undefined : both(values)
  }
}

const same = (ours: Optional, theirs: Optional): Optional =>
  Steps.runSync(byValue().isSame(ours, theirs)) ? ours : undefined

/** The merge function of each metadata field. */
const members = new Map([
  ["_id", same],
  ["_rev", combine(isRevision, (values) => Math.max(...values) + 1)],
  ["_created_at", combine(isTime, earlier)],
  ["_updated_at", combine(isTime, later)]
])

/**
 * Merges the metadata of a document that both sides changed. The result is the same for everybody who merges. Fields
 * with invalid values on both sides are left out, and merged like other members.
 */
export const mergeMetadata = (
  ours: LosslessObject,
  theirs: LosslessObject
): ReadonlyMap<string, LosslessJson> => {
  const merged = new Map<string, LosslessJson>()
  for (const [name, both] of members) {
    const value = both(own(ours, name), own(theirs, name))
    if (value !== undefined) merged.set(name, value)
  }
  return merged
}

import type { Json, JsonObject } from "../../domain/Document.js"
import { sameJson } from "./Filter.js"

/** One field that differs between two versions of a document; `path` is made of keys and positions in lists. */
export interface Difference {
  readonly path: ReadonlyArray<string | number>
  readonly kind: "added" | "removed" | "changed"
  readonly before?: Json | undefined
  readonly after?: Json | undefined
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const compare = (
  path: ReadonlyArray<string | number>,
  before: Json | undefined,
  after: Json | undefined,
  into: Array<Difference>
): void => {
  if (before === undefined && after === undefined) return
  if (before === undefined) into.push({ path, kind: "added", after })
  else if (after === undefined) into.push({ path, kind: "removed", before })
  else if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    for (const key of keys) {
      compare(
        [...path, key],
        Object.hasOwn(before, key) ? before[key] : undefined,
        Object.hasOwn(after, key) ? after[key] : undefined,
        into
      )
    }
  } else if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length)
    for (let i = 0; i < length; i++) compare([...path, i], before[i], after[i], into)
  } else if (!sameJson(before, after)) into.push({ path, kind: "changed", before, after })
}

/** Every field that differs, in order of path; a missing document counts as an empty one. */
export const differences = (
  before: JsonObject | null,
  after: JsonObject | null
): ReadonlyArray<Difference> => {
  const into: Array<Difference> = []
  compare([], before ?? {}, after ?? {}, into)
  return into
}

/** A path as people write it: `variants[0].price`; keys that are not plain names are quoted. */
export const printPath = (path: ReadonlyArray<string | number>): string =>
  path
    .map((part, i) => {
      if (typeof part === "number") return `[${part}]`
      if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(part)) return `[${JSON.stringify(part)}]`
      return i === 0 ? part : `.${part}`
    })
    .join("")

import microdiff, { type Difference as MicrodiffChange } from "microdiff"
import type { Json, JsonObject } from "../../domain/json/Json.js"

/**
 * One field that differs between two versions of a document; `path` is made of keys and positions in lists.
 *
 * @since 0.1.0
 * @category models
 */
export interface Difference {
  /** Where in the document, by names of fields and places in lists. */
  readonly path: ReadonlyArray<string | number>
  /** What happened to the value. */
  readonly kind: "added" | "removed" | "changed"
  /** The value in the first document; absent where it was added. */
  readonly before?: Json | undefined
  /** The value in the second document; absent where it was removed. */
  readonly after?: Json | undefined
}

/** The same value in objects without a prototype: the library asks for keys with `in`, which finds inherited ones. */
const bare = (value: Json): Json => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(bare)
  const copy: Record<string, Json> = Object.create(null)
  for (const [key, member] of Object.entries(value)) copy[key] = bare(member)
  return copy
}

const toDifference = (found: MicrodiffChange): Difference => {
  const { path } = found
  if (found.type === "CREATE") return { path, kind: "added", after: found.value }
  if (found.type === "REMOVE") return { path, kind: "removed", before: found.oldValue }
  return { path, kind: "changed", before: found.oldValue, after: found.value }
}

const byPath = (a: Difference, b: Difference): number => {
  const at = a.path.findIndex((part, i) => part !== b.path[i])
  const left = a.path[at]
  const right = b.path[at]
  return left === undefined || right === undefined ? 0 : left < right ? -1 : 1
}

/**
 * Every field that differs, in order of path; a missing document counts as an empty one, and -0 as 0.
 *
 * @since 0.1.0
 * @category queries
 */
export const differences = (before: JsonObject | null, after: JsonObject | null): ReadonlyArray<Difference> =>
  microdiff(bare(before ?? {}) as JsonObject, bare(after ?? {}) as JsonObject, { cyclesFix: false })
    .map(toDifference)
    .filter(({ after, before, kind }) => kind !== "changed" || before !== after)
    .sort(byPath)

/**
 * A path as people write it: `variants[0].price`; keys that are not plain names are quoted.
 *
 * @since 0.1.0
 * @category text
 */
export const printPath = (path: ReadonlyArray<string | number>): string =>
  path
    .map((part, i) => {
      if (typeof part === "number") return `[${part}]`
      if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(part)) return `[${JSON.stringify(part)}]`
      return i === 0 ? part : `.${part}`
    })
    .join("")

/** Whether two paths lead to the same place. */
export const samePath = (a: ReadonlyArray<string | number>, b: ReadonlyArray<string | number>): boolean =>
  a.length === b.length && a.every((step, at) => step === b[at])

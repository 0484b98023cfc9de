import microdiff, { type Difference as MicrodiffChange } from "microdiff"
import type { Json, JsonObject } from "../../domain/json/Json.js"

/**
 * One field that differs between two versions of a document.
 *
 * @since 0.1.0
 * @category models
 */
export interface Difference {
  /** The path of the value: names of fields and indexes of lists. */
  readonly path: ReadonlyArray<string | number>
  /** The kind of the difference. */
  readonly kind: "added" | "removed" | "changed"
  /** The value in the first document; absent if it was added. */
  readonly before?: Json | undefined
  /** The value in the second document; absent if it was removed. */
  readonly after?: Json | undefined
}

/** Copies a value to objects without a prototype: microdiff tests keys with `in`, which finds inherited keys. */
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
 * The fields that differ, in the order of their paths. A missing document counts as an empty one, and -0 as 0.
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
 * The text of a path, such as `variants[0].price`. Keys that are not identifiers are quoted.
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

/** Whether two paths are equal. */
export const samePath = (a: ReadonlyArray<string | number>, b: ReadonlyArray<string | number>): boolean =>
  a.length === b.length && a.every((step, at) => step === b[at])

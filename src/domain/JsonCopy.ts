import { isPlainObject, maxDepth, tooDeep } from "./CanonicalJson.js"

/**
 * A copy that no later change of the original reaches: of lists, and of the objects that `isCopied` takes for JSON.
 * What is no JSON stays what it is, for the printer to name. Throws where the value is nested too deeply for JSON.
 */
export const copyOf = (
  value: unknown,
  isCopied: (value: object) => boolean = isPlainObject,
  depth = 0
): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (depth > maxDepth) throw new RangeError(tooDeep)
  if (Array.isArray(value)) return Array.from(value, (item) => copyOf(item, isCopied, depth + 1))
  if (!isCopied(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, copyOf(member, isCopied, depth + 1)])
  )
}

/** Whether an object is no instance of a class. */
export const isLiteral = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Whether a value is nested more than so many levels deep. */
export const isDeeperThan = (value: unknown, levels: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (levels === 0) return true
  for (const member of Object.values(value)) if (isDeeperThan(member, levels - 1)) return true
  return false
}

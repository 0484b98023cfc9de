import * as Steps from "../concurrency/Steps.js"
import { isPlainObject, type JsonProblem, maxDepth, tooDeepMessage } from "./CanonicalJson.js"
import { appendToPath } from "./JsonPath.js"

/** The value is nested too deeply, or contains a cycle. */
export class CopyError extends RangeError {
  override readonly name = "CopyError"
  constructor(readonly problem: JsonProblem) {
    super(`${problem.path === "" ? "the document" : problem.path}: ${problem.message}`)
  }
}

type Members = { readonly [key: string]: unknown }

/** Sets a member as `JSON.parse` does: `__proto__` becomes an own property. */
export const setMember = (object: { [key: string]: unknown }, key: string, value: unknown): void => {
  if (key !== "__proto__") object[key] = value
  else Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true })
}

/** Which objects are copied, and whether their undefined members are kept. */
export interface CopyRules {
  readonly isCopied: (value: object) => boolean
  readonly keepsUndefined: boolean
}

const jsonRules: CopyRules = { isCopied: isPlainObject, keepsUndefined: false }

/**
 * A deep copy of lists and of the objects that the rules accept. Other values are not copied; the printer reports them
 * later. Throws `CopyError` if the value is nested too deeply. The copy is made without a pause, so that the caller
 * cannot change the original meanwhile.
 */
export const copyJson = (value: unknown, { isCopied, keepsUndefined }: CopyRules = jsonRules): unknown => {
  const copy = (value: unknown, depth: number): unknown => {
    if (typeof value !== "object" || value === null) return value
    if (depth > maxDepth) throw tooDeepAt
    if (Array.isArray(value)) {
      const list: Array<unknown> = []
      // By index: a list may have holes, and `Array.from` takes several times as long.
      for (let at = 0; at < value.length; at++) list.push(copy(value[at], depth + 1))
      return list
    }
    if (!isCopied(value)) return value
    const object: { [key: string]: unknown } = {}
    for (const key of Object.keys(value)) {
      const given = (value as Members)[key]
      const member = typeof given === "object" ? copy(given, depth + 1) : given
      if (member !== undefined || keepsUndefined) setMember(object, key, member)
    }
    return object
  }
  try {
    return copy(value, 0)
  } catch (error) {
    throw error === tooDeepAt ? new CopyError(cycleIn(value, isCopied)) : error
  }
}

/** Merges two objects. If both have a member, the second one's is used. */
export function* mergeMembers(below: Members, above: Members): Steps.Steps<Members> {
  const object: { [key: string]: unknown } = {}
  for (const members of [below, above]) {
    let visited = 0
    for (const key of Object.keys(members)) {
      setMember(object, key, members[key])
      if (++visited % Steps.stepSize === 0) yield
    }
  }
  return object
}

const tooDeepAt = new RangeError(tooDeepMessage)

/** The path of a cycle in a value. If there is none, the value is nested too deeply. */
const cycleIn = (value: unknown, isCopied: (value: object) => boolean): JsonProblem => {
  const around = new Map<object, string>()
  const done = new Set<object>()
  const look = (value: unknown, path: string): JsonProblem | undefined => {
    if (typeof value !== "object" || value === null || done.has(value)) return undefined
    const above = around.get(value)
    if (above !== undefined) {
      return { path, message: `is ${above === "" ? "the document itself" : `${above} again`}: a cycle` }
    }
    if (around.size > maxDepth || (!Array.isArray(value) && !isCopied(value))) return undefined
    around.set(value, path)
    const members: Iterable<readonly [string | number, unknown]> = Array.isArray(value)
      ? value.entries()
      : Object.entries(value)
    for (const [key, member] of members) {
      const found = look(member, appendToPath(path, key))
      if (found !== undefined) return found
    }
    around.delete(value)
    done.add(value)
    return undefined
  }
  return look(value, "") ?? { path: "", message: tooDeepMessage }
}

/** Whether an object is not an instance of a class. */
export const isLiteral = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Whether a value is nested deeper than `levels`. */
export const isDeeperThan = (value: unknown, levels: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (levels === 0) return true
  for (const member of Object.values(value)) if (isDeeperThan(member, levels - 1)) return true
  return false
}

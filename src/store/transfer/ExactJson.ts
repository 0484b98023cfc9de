import { runSync } from "../../domain/concurrency/Steps.js"
import { inexactNumbers } from "../../domain/json/JsonText.js"
import { repeatedKeySteps } from "../../domain/json/RepeatedKey.js"
import { UnheldNumber } from "./UnheldNumber.js"

const encoder = new TextEncoder()
const possiblyInexact = /\d{16}|\d[.\d]{15}|\d[eE][+-]?\d/
const pathStep = /\.?([A-Za-z_$][\w$-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gs

/** The number of object members in a value, at all depths. Uses no recursion, so depth is not limited by the stack. */
const countMembers = (root: unknown): number => {
  const left = [root]
  let count = 0
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value !== "object" || value === null) continue
    const members: ReadonlyArray<unknown> = Object.values(value)
    if (!Array.isArray(value)) count += members.length
    for (const member of members) if (typeof member === "object") left.push(member)
  }
  return count
}

/** Throws if an object has a key twice: `JSON.parse` would keep the last value only. */
const rejectRepeatedKey = (text: string, value: unknown): void => {
  // Each key is followed by a colon. Strings may contain that pattern too, so a higher count only asks for a check.
  if ((text.match(/"\s*:/g)?.length ?? 0) === countMembers(value)) return
  const repeated = runSync(repeatedKeySteps(text))
  if (repeated === undefined) return
  const { lines, path } = repeated
  const replaceNumber = lines[1] === 1 ? "" : `, on lines ${lines.join(" and ")}`
  throw new Error(`it has ${path} twice${replaceNumber}, and only the last would be stored`)
}

/**
 * Parses a JSON text. A number that JavaScript cannot represent exactly becomes an `UnheldNumber`. Throws if an object
 * has a key twice.
 */
export const parseExactly = (text: string): unknown => {
  const value: unknown = JSON.parse(text)
  rejectRepeatedKey(text, value)
  if (!possiblyInexact.test(text)) return value
  const root = { value }
  for (const found of inexactNumbers(encoder.encode(text))) place(root, found.path, found.text)
  return root.value
}

const memberOf = (holder: any, step: string | number) =>
  typeof holder === "object" && holder !== null && Object.hasOwn(holder, step) ? holder[step] : undefined

const place = (root: any, path: string, text: string) => {
  const steps = Array.from(path.matchAll(pathStep), ([, name, index, quoted]) =>
    quoted === undefined ? (name ?? Number(index)) : (JSON.parse(quoted) as string)
  )
  const last = steps.pop()
  let holder = root.value
  for (const one of steps) holder = memberOf(holder, one)
  const value = new UnheldNumber(text)
  if (last === undefined) root.value = value
  else if (typeof memberOf(holder, last) === "number")
    Object.defineProperty(holder, last, { value, configurable: true, enumerable: true, writable: true })
}

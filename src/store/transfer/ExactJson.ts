import { runSync } from "../../domain/concurrency/TimeSlice.js"
import { inexactNumbers } from "../../domain/json/JsonText.js"
import { repeatedKeySteps } from "../../domain/json/RepeatedKey.js"
import { UnheldNumber } from "./UnheldNumber.js"

const encoder = new TextEncoder()
const suspicious = /\d{16}|\d[.\d]{15}|\d[eE][+-]?\d/
const step = /\.?([A-Za-z_$][\w$-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gs

/** How many members a value has, at all depths, however many there are. */
const membersIn = (root: unknown): number => {
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

/** Of a key that an object has twice, `JSON.parse` keeps the last value. */
const refuseRepeatedKey = (text: string, value: unknown): void => {
  // Each key is followed by a colon; a string may hold such a thing, too, so that more of them prove nothing.
  if ((text.match(/"\s*:/g)?.length ?? 0) === membersIn(value)) return
  const repeated = runSync(repeatedKeySteps(text))
  if (repeated === undefined) return
  const { lines, path } = repeated
  const place = lines[1] === 1 ? "" : `, on lines ${lines.join(" and ")}`
  throw new Error(`it has ${path} twice${place}, and only the last would be stored`)
}

/**
 * The value of a JSON text; a number that JavaScript cannot hold exactly becomes an `UnheldNumber`. Throws where an
 * object has a key twice.
 */
export const parseExactly = (text: string): unknown => {
  const value: unknown = JSON.parse(text)
  refuseRepeatedKey(text, value)
  if (!suspicious.test(text)) return value
  const root = { value }
  for (const found of inexactNumbers(encoder.encode(text))) place(root, found.path, found.text)
  return root.value
}

const own = (holder: any, step: string | number) =>
  typeof holder === "object" && holder !== null && Object.hasOwn(holder, step) ? holder[step] : undefined

const place = (root: any, path: string, text: string) => {
  const steps = Array.from(path.matchAll(step), ([, name, index, quoted]) =>
    quoted === undefined ? (name ?? Number(index)) : (JSON.parse(quoted) as string)
  )
  const last = steps.pop()
  let holder = root.value
  for (const one of steps) holder = own(holder, one)
  const value = new UnheldNumber(text)
  if (last === undefined) root.value = value
  else if (typeof own(holder, last) === "number")
    Object.defineProperty(holder, last, { value, configurable: true, enumerable: true, writable: true })
}

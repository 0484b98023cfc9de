import { inexactNumbers } from "../../domain/JsonText.js"

/**
 * A number of a JSON text that a JavaScript number cannot hold: its text, so that nothing is silently changed.
 *
 * @since 0.1.0
 * @category models
 */
export class UnheldNumber {
  /** @param text The number as its file has it. */
  constructor(readonly text: string) {}
  /** The number as its file has it. */
  toString() {
    return this.text
  }
}

const encoder = new TextEncoder()
const suspicious = /\d{16}|\d[.\d]{15}|\d[eE][+-]?\d/
const step = /\.?([A-Za-z_$][\w$-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gs

/** The value of a JSON text; a number that JavaScript cannot hold exactly becomes an `UnheldNumber`. */
export const parseExactly = (text: string): unknown => {
  const value: unknown = JSON.parse(text)
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
  // Of a repeated key JSON.parse keeps the last value, so the place of an earlier number may be gone.
  for (const one of steps) holder = own(holder, one)
  const value = new UnheldNumber(text)
  if (last === undefined) root.value = value
  else if (typeof own(holder, last) === "number")
    Object.defineProperty(holder, last, { value, configurable: true, enumerable: true, writable: true })
}

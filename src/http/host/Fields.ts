import { Effect } from "effect"
import { badRequest, type Problem, unprocessable } from "./Problem.js"

/** The members of a request body, read one by one so that a refusal has GitHub's words. */
export type Fields = Readonly<Record<string, unknown>>

const shown = (value: unknown): string =>
  value === null
    ? "nil"
    : Array.isArray(value)
      ? "[]"
      : typeof value === "object"
        ? "{}"
        : String(JSON.stringify(value)).slice(0, 80)

const article = (kind: string) => (/^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`)

const wrong = (path: string, value: unknown, kind: string) =>
  unprocessable(`Invalid request.\n\nFor '${path}', ${shown(value)} is not ${article(kind)}.`)

/** A body that must be a JSON object. */
export const parse = (text: string): Effect.Effect<Fields, Problem> =>
  Effect.suspend(() => {
    let body: unknown
    try {
      body = JSON.parse(text)
    } catch {
      return Effect.fail(badRequest("Problems parsing JSON"))
    }
    return isObject(body) ? Effect.succeed(body) : Effect.fail(badRequest("Body should be a JSON object"))
  })

export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const own = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** Fails naming every field that is missing. */
export const supplied = (fields: Fields, ...names: ReadonlyArray<string>): Effect.Effect<void, Problem> => {
  const missing = names.filter((name) => own(fields, name) === undefined)
  return missing.length === 0
    ? Effect.void
    : Effect.fail(
        unprocessable(
          `Invalid request.\n\n${missing.map((name) => `"${name}"`).join(", ")} ${missing.length === 1 ? "wasn't" : "weren't"} supplied.`
        )
      )
}

const reader =
  <A>(kind: string, is: (value: unknown) => value is A) =>
  (fields: Fields, name: string, path = `properties/${name}`): Effect.Effect<A | undefined, Problem> => {
    const value = own(fields, name)
    return value === undefined || is(value) ? Effect.succeed(value) : Effect.fail(wrong(path, value, kind))
  }

export const string = reader("string", (value): value is string => typeof value === "string")
export const boolean = reader("boolean", (value): value is boolean => typeof value === "boolean")
export const object = reader("object", isObject)
export const array = reader("array", (value): value is ReadonlyArray<unknown> => Array.isArray(value))

/** A string that must be there. */
export const text = (fields: Fields, name: string): Effect.Effect<string, Problem> =>
  Effect.zipRight(
    supplied(fields, name),
    Effect.map(string(fields, name), (value) => value ?? "")
  )

const base64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Bytes from base64 whose alphabet and padded length are right; white space is allowed, as GitHub allows it. */
export const fromBase64 = (content: string): Effect.Effect<Uint8Array, Problem> =>
  Effect.suspend(() => {
    const bare = /\s/.test(content) ? content.replace(/\s+/g, "") : content
    return bare.length % 4 === 0 && base64.test(bare)
      ? Effect.succeed(Buffer.from(bare, "base64"))
      : Effect.fail(unprocessable("content is not valid Base64"))
  })

/** How many characters of a long content are looked at at once. */
const atOnce = 4 * 65_536

/** The same from the text's own bytes, which never become one text. */
export const fromBase64Bytes = (content: Buffer): Effect.Effect<Uint8Array, Problem> =>
  Effect.suspend(() => {
    if (content.length % 4 !== 0) return fromBase64(content.toString("latin1"))
    const decoded = Buffer.allocUnsafeSlow((content.length / 4) * 3)
    let filled = 0
    for (let at = 0; at < content.length; at += atOnce) {
      const part = content.toString("latin1", at, at + atOnce)
      const last = at + atOnce >= content.length
      if (!base64.test(part) || (!last && part.endsWith("="))) return fromBase64(content.toString("latin1"))
      filled += decoded.write(part, filled, "base64")
    }
    return Effect.succeed(decoded.subarray(0, filled))
  })

/** How many bytes are a line of base64. */
export const lineBytes = 45

/** Base64 with a line break after every sixty characters, and one at the end. */
export const toWrappedBase64 = (content: Uint8Array): string => {
  const plain = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64")
  const lines: Array<string> = []
  for (let index = 0; index < plain.length; index += 60) lines.push(plain.slice(index, index + 60))
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`
}

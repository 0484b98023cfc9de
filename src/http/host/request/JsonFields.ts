import { Effect } from "effect"
import * as JsonSteps from "../../../domain/json/JsonParser.js"
import { isTooDeep } from "../../../domain/json/JsonText.js"
import { badRequest, type HostError, unprocessable } from "../reply/HostError.js"
import { LongText } from "./LongText.js"

/** The members of a JSON object. They are checked one by one, so that errors have GitHub's messages. */
export type Fields = Readonly<Record<string, unknown>>

const valueText = (value: unknown): string =>
  value === null
    ? "nil"
    : Array.isArray(value)
      ? "[]"
      : typeof value === "object"
        ? "{}"
        : String(JSON.stringify(value)).slice(0, 80)

const article = (kind: string) => (/^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`)

const wrongType = (path: string, value: unknown, kind: string) =>
  unprocessable(`Invalid request.\n\nFor '${path}', ${valueText(value)} is not ${article(kind)}.`)

const notJson = Effect.fail(badRequest("Problems parsing JSON"))

/** Parses a body that must be a JSON object. */
export const parse = (text: string): Effect.Effect<Fields, HostError> =>
  Effect.suspend(() =>
    isTooDeep(text) ? notJson : Effect.catchAll(JsonSteps.parseSliced(text), () => notJson)
  ).pipe(Effect.filterOrFail(isObject, () => badRequest("Body should be a JSON object")))

export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const own = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** Fails if a field is missing, and names all that are. */
export const requireFields = (
  fields: Fields,
  ...names: ReadonlyArray<string>
): Effect.Effect<void, HostError> => {
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
  (fields: Fields, name: string, path = `properties/${name}`): Effect.Effect<A | undefined, HostError> => {
    const value = own(fields, name)
    return value === undefined || is(value)
      ? Effect.succeed(value)
      : Effect.fail(wrongType(path, value, kind))
  }

export const string = reader("string", (value): value is string => typeof value === "string")
/** A string that may be a file content. */
export const content = reader(
  "string",
  (value): value is string | LongText => typeof value === "string" || value instanceof LongText
)
export const boolean = reader("boolean", (value): value is boolean => typeof value === "boolean")
export const object = reader("object", isObject)
export const array = reader("array", (value): value is ReadonlyArray<unknown> => Array.isArray(value))

/** A required string. */
export const text = (fields: Fields, name: string): Effect.Effect<string, HostError> =>
  Effect.zipRight(
    requireFields(fields, name),
    Effect.map(string(fields, name), (value) => value ?? "")
  )

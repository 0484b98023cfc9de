import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Steps from "../concurrency/Steps.js"
import * as TimeSlice from "../concurrency/TimeSlice.js"
import { maxDepth } from "./CanonicalJson.js"
import type { JsonObject } from "./Json.js"
import * as JsonSteps from "./JsonParser.js"
import { appendToPath } from "./JsonPath.js"
import { decimal } from "./NumberText.js"

/**
 * A number in a text that JavaScript cannot represent exactly.
 *
 * @since 0.1.0
 * @category models
 */
export interface InexactNumber {
  /** The path of the number in the document. */
  readonly path: string
  /** The number as it is written in the text. */
  readonly text: string
  /** The value that JavaScript reads. */
  readonly value: number
}

const decoder = new TextDecoder("utf-8", { fatal: true })

const [quote, backslash, comma, openList, openObject, closeList, closeObject] = Array.from(
  '"\\,[{]}',
  (text) => text.charCodeAt(0)
)

/** The number of characters per step: about a millisecond. */
const stepLength = 131_072

/** The largest file of a document in bytes. GitHub accepts no larger file. */
export const maxDocumentBytes = 100 * 1024 * 1024

/** The largest number of values in the lists and objects of a text. So many take about 400 MB. */
export const maxDocumentValues = 5_000_000

const tooLarge = "exceeds 100 MiB or 5 million values"

/** The problem of a JSON text that is nested too deeply for recursion over its value, or has too many values for the memory. */
export function* shapeProblem(text: string): Steps.Steps<string | undefined> {
  if (text.length <= maxDepth) return undefined
  let depth = 0
  let values = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    if (at % stepLength === stepLength - 1) yield
    const unit = text.charCodeAt(at)
    if (inString) {
      if (unit === backslash) at++
      else if (unit === quote) inString = false
    } else if (unit === quote) inString = true
    else if (unit === comma) values++
    else if (unit === openList || unit === openObject) {
      values++
      if (++depth > maxDepth) return `is nested deeper than ${maxDepth} levels`
    } else if (unit === closeList || unit === closeObject) depth--
  }
  return values > maxDocumentValues ? tooLarge : undefined
}

/** Whether recursion over the value of a JSON text could overflow the stack, or the value the memory. */
export const isTooDeep = (text: string): boolean => Steps.runSync(shapeProblem(text)) !== undefined

/** The problem of a document's file that is too large. A value takes two characters at least, with its separator. */
export function* sizeProblem(content: Uint8Array): Steps.Steps<string | undefined> {
  if (content.length > maxDocumentBytes) return tooLarge
  return content.length > 2 * maxDocumentValues ? yield* shapeProblem(decoder.decode(content)) : undefined
}

const refused = (error: unknown): Either.Either<never, string> =>
  Either.left(error instanceof SyntaxError ? `is not JSON (${error.message})` : "is not text in UTF-8")

/**
 * The approximate length of the file of a document with this JSON text. In the file each member has its own indented
 * line, so it can be hundreds of times as long as the text.
 */
export function* fileLength(text: string): Steps.Steps<number> {
  let length = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (at % Steps.stepSize === 0) yield
    const unit = text.charCodeAt(at)
    const start = at
    if (unit === quote) at = JsonSteps.endOfString(text, at)
    if (unit === openList || unit === openObject) depth++
    if (unit === closeList || unit === closeObject) depth--
    const isLine =
      unit === comma || unit === openList || unit === openObject || unit === closeList || unit === closeObject
    length += at - start + (isLine ? 2 + 2 * depth : 1)
  }
  return length
}

const objectOf = (value: unknown): Either.Either<JsonObject, string> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Either.right(value as JsonObject)
    : Either.left("does not hold a JSON object")

/** Parses a file's bytes as a JSON object. The error is the problem in words. */
export const parseObject = (content: Uint8Array): Either.Either<JsonObject, string> => {
  try {
    const text = decoder.decode(content)
    const problem = Steps.runSync(shapeProblem(text))
    return problem === undefined ? objectOf(JSON.parse(text)) : Either.left(problem)
  } catch (error) {
    return refused(error)
  }
}

/** Like `parseObject`, in steps and up to the size of a document, for content from outside. */
export function* parseObjectSteps(content: Uint8Array): Steps.Steps<Either.Either<JsonObject, string>> {
  if (content.length > maxDocumentBytes) return Either.left(tooLarge)
  try {
    const text = decoder.decode(content)
    const problem = yield* shapeProblem(text)
    return problem === undefined ? objectOf(yield* JsonSteps.parse(text)) : Either.left(problem)
  } catch (error) {
    return refused(error)
  }
}

/** The maximum length of content that is parsed without a pause. */
const short = 16_384

/** Like `parseObject`, with pauses if the content is long. */
export const parseObjectSliced = (content: Uint8Array): Effect.Effect<Either.Either<JsonObject, string>> =>
  content.length <= short
    ? Effect.succeed(parseObject(content))
    : Effect.zipRight(
        TimeSlice.yieldIfSpent(),
        Steps.run(() => parseObjectSteps(content))
      )

/** Whether JavaScript reads a number without changing its value. */
export const isExact = (text: string): boolean => {
  if (text.length < 16 && !/[eE]/.test(text)) return true
  const value = Number(text)
  return Number.isFinite(value) && decimal(text) === decimal(String(value))
}

/**
 * Matches the tokens of a JSON text, but only the opening quote of a string: a regular expression cannot match very long
 * strings. Every text needs its own expression, because the reads of several texts can be interleaved.
 */
const tokens = () => /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[[\]{}:,]/g

type Path = ReadonlyArray<string | number>
type Visit = (path: Path, part: string) => void

interface Visitor {
  /** Called for each number. The path must not be kept: it is reused. */
  readonly number?: Visit
  /** Called at the start of an object; `depth` is the length of its members' paths. */
  readonly object?: (depth: number) => void
  /** Called for each key, with its position in the text. The path ends with the key. */
  readonly key?: (path: Path, at: number) => void
}

/** Visits the tokens of a valid JSON text, in steps. */
export function* visitTokens(text: string, visit: Visitor): Steps.Steps<void> {
  const token = tokens()
  const steps: Array<string | number> = []
  let key: readonly [from: number, to: number] = [0, 0]
  let visited = 0
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    if (++visited % Steps.stepSize === 0) yield
    const [part] = match
    const first = part[0]!
    const last = steps.length - 1
    if (first === "{") {
      const depth = steps.push("")
      visit.object?.(depth)
    } else if (first === "[") steps.push(0)
    else if (first === "}" || first === "]") steps.pop()
    else if (first === '"') {
      token.lastIndex = JsonSteps.endOfString(text, match.index) + 1
      key = [match.index, token.lastIndex]
    } else if (first === ":") {
      const written = text.slice(...key)
      steps[last] = written.includes("\\") ? (JSON.parse(written) as string) : written.slice(1, -1)
      visit.key?.(steps, key[0])
    } else if (first === ",") {
      const step = steps[last]
      if (typeof step === "number") steps[last] = step + 1
    } else visit.number?.(steps, part)
  }
}

/** Visits every number of a valid JSON text, in steps. The path must not be kept: it is reused. */
export const visitNumbers = (text: string, visit: Visit): Steps.Steps<void> =>
  visitTokens(text, { number: visit })

/** Whether a JSON text may contain a number that JavaScript reads as another one. */
export const mayBeInexact = (text: string): boolean => /\d[.\d]{15}|\d[eE][+-]?\d/.test(text)

/** Like `inexactNumbers`, for a text and in steps. */
export function* inexactNumbersSteps(text: string): Steps.Steps<ReadonlyArray<InexactNumber>> {
  if (!mayBeInexact(text)) return []
  const found: Array<InexactNumber> = []
  yield* visitNumbers(text, (steps, part) => {
    if (isExact(part)) return
    found.push({ path: steps.reduce<string>(appendToPath, ""), text: part, value: Number(part) })
  })
  return found
}

/**
 * Every number of a valid JSON text that would change if it were read and written again.
 *
 * @since 0.1.0
 * @category utilities
 */
export const inexactNumbers = (content: Uint8Array): ReadonlyArray<InexactNumber> =>
  Steps.runSync(inexactNumbersSteps(decoder.decode(content)))

/** The first of the inexact numbers whose rounded value occurs anywhere inside a value. */
export function* roundedWithin(
  value: unknown,
  inexact: ReadonlyArray<InexactNumber>
): Steps.Steps<InexactNumber | undefined> {
  if (inexact.length === 0) return undefined
  const held = yield* numbersWithin(value, new Set(inexact.map(({ value }) => value)))
  return inexact.find(({ value }) => held.has(value))
}

/** The wanted numbers that occur anywhere inside a value. */
export function* numbersWithin(
  value: unknown,
  wanted: ReadonlySet<number>
): Steps.Steps<ReadonlySet<number>> {
  const found = new Set<number>()
  const open = [value]
  for (let visited = 1; open.length > 0 && found.size < wanted.size; visited++) {
    const member = open.pop()
    if (typeof member === "number" && wanted.has(member)) found.add(member)
    else if (typeof member === "object" && member !== null) {
      for (const inner of Object.values(member)) open.push(inner)
    }
    if (visited % Steps.stepSize === 0) yield
  }
  return found
}

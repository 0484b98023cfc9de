import { isUtf8 } from "node:buffer"
import { randomBytes } from "node:crypto"
import type { HttpServerRequest } from "@effect/platform"
import { Effect, Stream } from "effect"
import * as Body from "./Body.js"
import * as Fields from "./Fields.js"
import { badRequest, type Problem } from "./Problem.js"

/** A JSON body and the bytes of its `content`, decoded when they are asked for. */
export interface ContentBody {
  /** Its members; `content` is one of them, but need not be what was sent. */
  readonly fields: Fields.Fields
  readonly base64: Effect.Effect<Uint8Array, Problem>
  readonly utf8: Effect.Effect<Uint8Array, Problem>
}

/** From this size on the content is decoded from the bytes that came, without becoming a text. */
const large = 1024 * 1024

const quote = 0x22
const backslash = 0x5c

const fromFields = (fields: Fields.Fields): ContentBody => {
  const text = Fields.text(fields, "content")
  return {
    fields,
    base64: Effect.flatMap(text, Fields.fromBase64),
    utf8: Effect.map(text, (one) => Buffer.from(one))
  }
}

/** Where the longest string of a JSON text lies, without its quotes; none where it is short or has escapes. */
const longest = (json: Buffer): readonly [start: number, end: number] | undefined => {
  let found: readonly [number, number] | undefined
  for (let open = json.indexOf(quote); open >= 0; ) {
    let close = json.indexOf(quote, open + 1)
    while (close >= 0 && escaped(json, close)) close = json.indexOf(quote, close + 1)
    if (close < 0) return undefined
    if (close - open > (found === undefined ? large / 2 : found[1] - found[0])) found = [open + 1, close]
    open = json.indexOf(quote, close + 1)
  }
  return found !== undefined && !json.subarray(...found).includes(backslash) ? found : undefined
}

const escaped = (json: Buffer, at: number): boolean => {
  let before = at
  while (json[before - 1] === backslash) before--
  return (at - before) % 2 === 1
}

const whole = (bytes: Buffer): Effect.Effect<ContentBody, Problem> =>
  Effect.map(Fields.parse(bytes.toString()), fromFields)

const parse = (bytes: Buffer): Effect.Effect<ContentBody, Problem> => {
  if (!isUtf8(bytes)) return Effect.fail(badRequest("Problems parsing JSON"))
  const place = longest(bytes)
  if (place === undefined) return whole(bytes)
  const [start, end] = place
  // Stands for the content in what is parsed; nobody can know it beforehand.
  const mark = randomBytes(16).toString("hex")
  return Effect.flatMap(
    Fields.parse(bytes.toString("utf8", 0, start) + mark + bytes.toString("utf8", end)),
    (fields) => {
      if (fields["content"] !== mark) return whole(bytes)
      const content = bytes.subarray(start, end)
      return Effect.succeed<ContentBody>({
        fields,
        base64: Effect.suspend(() => Fields.fromBase64Bytes(content)),
        utf8: Effect.succeed(content)
      })
    }
  )
}

/** A body of known length in one piece of memory. */
const collect = (request: HttpServerRequest.HttpServerRequest, length: number) =>
  Effect.suspend(() => {
    const bytes = Buffer.allocUnsafeSlow(length)
    let filled = 0
    return Effect.map(
      Stream.runForEach(request.stream, (chunk) =>
        Effect.sync(() => {
          bytes.set(chunk.subarray(0, length - filled), filled)
          filled = Math.min(length, filled + chunk.length)
        })
      ),
      () => bytes.subarray(0, filled)
    )
  })

/** A body that must be a JSON object of at most `maxBytes`, most of which may be the content of a file. */
export const read = (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number
): Effect.Effect<ContentBody, Problem> => {
  const declared = Number(request.headers["content-length"] ?? 0)
  return declared < large || declared > maxBytes
    ? Effect.map(Body.json(request, maxBytes), fromFields)
    : collect(request, declared).pipe(Effect.mapError(Body.refused), Effect.flatMap(parse))
}

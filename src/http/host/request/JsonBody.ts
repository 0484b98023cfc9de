import { isUtf8 } from "node:buffer"
import { FileSystem, HttpIncomingMessage } from "@effect/platform"
import { Effect, Option, type Schema, type Scope, Stream } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import * as TemporaryFile from "../../../git/disk/files/TemporaryFile.js"
import { badRequest, type HostError } from "../reply/HostError.js"
import * as BodyStream from "./BodyStream.js"
import * as DeclaredBody from "./DeclaredBody.js"
import type { HostCall } from "./HostCall.js"
import * as JsonFields from "./JsonFields.js"
import { type Extract, JsonScanner } from "./JsonScanner.js"
import { LongText } from "./LongText.js"

const mebibyte = 1024 * 1024

/** The size from which a body is streamed, and from which a string of it counts as long. */
const streamedBytes = mebibyte

/** The maximum part of a body in memory. File contents are in a temporary file. */
const maxInMemory = 50 * mebibyte

/** The memory of a JSON body as a multiple of its size: bytes, text and parsed strings. */
const copies = 3

const notJson = badRequest("Problems parsing JSON")

const readWhole = ({
  host: { maxBodyBytes },
  request
}: HostCall): Effect.Effect<JsonFields.Fields, HostError> =>
  request.text.pipe(
    // U+FFFD marks invalid UTF-8, but may also be part of valid text.
    Effect.filterOrElse(
      (text) => !text.includes("\uFFFD"),
      (text) => Effect.map(request.arrayBuffer, (bytes) => (isUtf8(new Uint8Array(bytes)) ? text : "?"))
    ),
    Effect.mapError(BodyStream.bodyError),
    HttpIncomingMessage.withMaxBodySize(Option.some(FileSystem.Size(maxBodyBytes))),
    Effect.flatMap((text) => (text === "" ? Effect.succeed({}) : JsonFields.parse(text)))
  )

/** A string of a body that was extracted to the temporary file. */
interface ExtractedString {
  readonly holder: object
  readonly key: string
  readonly extract: Extract
}

const extractedStrings = (
  body: JsonFields.Fields,
  extractOf: (value: string) => Extract | undefined
): Array<ExtractedString> => {
  const places: Array<ExtractedString> = []
  const holders: Array<object> = [body]
  for (let holder = holders.pop(); holder !== undefined; holder = holders.pop()) {
    for (const [key, value] of Object.entries(holder)) {
      if (typeof value === "object" && value !== null) holders.push(value)
      const extract = typeof value === "string" ? extractOf(value) : undefined
      if (extract !== undefined) places.push({ holder, key, extract })
    }
  }
  return places
}

const text = (pieces: Stream.Stream<Uint8Array, RemoteError>) =>
  Effect.suspend(() => {
    // A leading U+FEFF is part of the string.
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
    return Stream.runFold(pieces, "", (all, piece) => all + decoder.decode(piece, { stream: true }))
  })

const readStream = (
  call: HostCall,
  declared: number,
  fileKey: string | undefined
): Effect.Effect<JsonFields.Fields, HostError | RemoteError, Scope.Scope> =>
  Effect.gen(function* () {
    const scanner = new JsonScanner(streamedBytes)
    const temporary = yield* Effect.cached(TemporaryFile.make(call.host.repositories.directory))
    const budget = yield* Effect.once(call.host.bodyMemory.reserve(Math.min(declared, maxInMemory) * copies))
    let problem: HostError | undefined
    const scan = (bytes: Uint8Array) => {
      try {
        scanner.push(bytes)
        if (scanner.plainBytes > maxInMemory) problem = BodyStream.tooLarge
      } catch {
        problem = notJson
      }
    }
    yield* Stream.runForEach(BodyStream.stream(call, call.host.maxBodyBytes), (bytes) =>
      Effect.suspend(() => {
        // An invalid body is read to its end, so that the client receives the error.
        if (problem === undefined) scan(bytes)
        if (problem !== undefined) return Effect.void
        const keep = Effect.forEach(
          scanner.take(),
          (piece) => Effect.flatMap(temporary, (file) => file.append(piece)),
          { discard: true }
        )
        return scanner.plainBytes > streamedBytes ? Effect.zipRight(budget, keep) : keep
      })
    )
    if (problem !== undefined) return yield* problem
    const { extractOf, text: plain } = yield* Effect.try({ try: () => scanner.end(), catch: () => notJson })
    if (plain === "") return {}
    const fields = yield* JsonFields.parse(plain)
    let inMemory = scanner.plainBytes
    for (const { extract, holder, key } of extractedStrings(fields, extractOf)) {
      const size = extract.end - extract.start
      const pieces = (yield* temporary).read(extract.start, extract.end)
      const isFile = key === fileKey
      if (!isFile) {
        inMemory += size
        if (inMemory > maxInMemory) return yield* BodyStream.tooLarge
        yield* budget
      }
      const value = isFile ? new LongText(size, extract.base64, pieces) : yield* text(pieces)
      Object.defineProperty(holder, key, { value })
    }
    return fields
  })

/**
 * Reads a body that must be a JSON object in UTF-8. An empty body is an empty object. A long string in a member named
 * `fileKey`, at any depth, becomes a `LongText` in a temporary file. The rest, at most 50 MiB, is in memory.
 */
export const read = (
  call: HostCall,
  fileKey?: string
): Effect.Effect<JsonFields.Fields, HostError | RemoteError, Scope.Scope> => {
  const { headers } = call.request
  const declared =
    headers["transfer-encoding"] === undefined
      ? Number(headers["content-length"] ?? 0)
      : call.host.maxBodyBytes
  return declared > call.host.maxBodyBytes
    ? Effect.fail(BodyStream.tooLarge)
    : declared < streamedBytes
      ? readWhole(call)
      : readStream(call, declared, fileKey)
}

/** Reads a body and checks it against the endpoint's declaration. */
export const readDeclared = <B>(
  call: HostCall,
  endpoint: { readonly body: Schema.Schema<B, any> | undefined },
  fileKey?: string
) => Effect.flatMap(read(call, fileKey), (fields) => DeclaredBody.fromFields(endpoint, fields))

import { isUtf8 } from "node:buffer"
import { Chunk, Effect, Option, Stream } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import { notFound } from "../reply/HostError.js"
import * as Reply from "../reply/Reply.js"
import * as Base64Content from "./Base64Content.js"
import type { FileContent } from "./FileContent.js"
import type { HostCall } from "./HostCall.js"
import { incompleteBytes } from "./Utf8Boundary.js"

/** From this size on an answer is read and written piece by piece. */
const streamedBytes = 1024 * 1024

/** What is made whole is unpacked, and what it was unpacked from. */
const copies = 3

type Pieces = Stream.Stream<Uint8Array, RemoteError>

/**
 * The content of a blob of known size. A large one is inflated as the client takes it; where it is made whole for that,
 * it waits for room, which it keeps until the answer was sent.
 */
export const open = (call: HostCall, git: GitRepository, oid: Oid, size: number) =>
  size < streamedBytes
    ? Effect.flatMap(git.object(oid), (object) =>
        Option.isSome(object)
          ? Effect.succeed<FileContent>({ size: object.value.content.length, bytes: object.value.content })
          : notFound
      )
    : Effect.gen(function* () {
        const found = yield* git.openObject(oid)
        if (Option.isNone(found)) return yield* notFound
        if (found.value.isBuffered) yield* call.host.replyMemory.reserve(size * copies)
        return { size: found.value.size, bytes: found.value.pieces } satisfies FileContent
      })

const isText = (bytes: Uint8Array) => !bytes.includes(0) && isUtf8(bytes)

/** The bytes as they are; large ones as fast as the client takes them, and as text if they begin so. */
export const raw = ({ bytes, size }: FileContent) =>
  bytes instanceof Uint8Array
    ? Effect.succeed(Reply.bytes(bytes, isText(bytes)))
    : Effect.gen(function* () {
        const pull = yield* Stream.toPull(bytes)
        const first = yield* Effect.catchAll(pull, (end) =>
          Option.isSome(end) ? Effect.fail(end.value) : Effect.succeed(Chunk.empty<Uint8Array>())
        )
        const start = Option.getOrElse(Chunk.head(first), () => new Uint8Array())
        const whole = start.subarray(0, start.length - incompleteBytes(start))
        return Reply.bytes(
          Stream.concat(Stream.fromChunk(first), Stream.fromPull(Effect.succeed(pull))),
          isText(whole),
          size
        )
      })

/** Bytes that fill whole lines of base64, and the rest at the end. */
const inLines = (pieces: Pieces): Pieces =>
  Stream.suspend(() => {
    let rest = Buffer.alloc(0)
    const whole = Stream.map(pieces, (piece) => {
      const joined = Buffer.concat([rest, piece])
      const end = joined.length - (joined.length % Base64Content.lineBytes)
      rest = joined.subarray(end)
      return joined.subarray(0, end)
    })
    return Stream.concat(
      whole,
      Stream.sync(() => rest)
    )
  })

/** The JSON of `members` and the content in base64; a large one as a stream, so that it is never a text in memory. */
export const json = (
  members: Readonly<Record<string, unknown>>,
  { bytes, size }: FileContent
): Reply.Reply => {
  if (bytes instanceof Uint8Array) {
    return Reply.okJson({ ...members, content: Base64Content.encodeLines(bytes), encoding: "base64" })
  }
  const head = Buffer.from(`${JSON.stringify(members).slice(0, -1)},"content":"`)
  const tail = Buffer.from(`","encoding":"base64"}`)
  const lines = Math.ceil(size / Base64Content.lineBytes)
  const length = head.length + Math.ceil(size / 3) * 4 + 2 * lines + tail.length
  const encoded = Stream.map(inLines(bytes), (part) =>
    Buffer.from(Base64Content.encodeLines(part).replaceAll("\n", "\\n"), "latin1")
  )
  return Reply.make(
    200,
    { "content-type": Reply.jsonType, "content-length": String(length) },
    Stream.concat(Stream.make(head), Stream.concat(encoded, Stream.make(tail)))
  )
}

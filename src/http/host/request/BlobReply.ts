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

/** The size from which a blob is streamed. */
const streamedBytes = 1024 * 1024

/** The memory for reading a delta, as a multiple of the blob's size: the base, the delta and the result. */
const copies = 3

type Pieces = Stream.Stream<Uint8Array, RemoteError>

/**
 * Reads the content of a blob of known size. A large blob is a stream. If it has to be in memory as a whole, it waits
 * for the memory budget and holds its share until the reply is sent.
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

/** A reply with the bytes of a blob. A large blob is streamed. Its type is text if its first piece is text. */
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

/** Regroups pieces into whole lines of base64. The last piece has the rest. */
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

/** A JSON reply with `members` and the content in base64. A large blob is streamed and never in memory as a whole. */
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

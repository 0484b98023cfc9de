import { Effect, Option, Stream } from "effect"
import type { Oid } from "../../domain/Oid.js"
import type { GitRepository } from "../../store/git/GitRepository.js"
import type { Call } from "./Call.js"
import * as Fields from "./Fields.js"
import { notFound } from "./Problem.js"
import * as Reply from "./Reply.js"

/** From this size on an answer is written piece by piece. */
const large = 1024 * 1024

/** The engine hands out whole objects: unpacked, and what it was unpacked from. */
const copies = 3

/** The bytes of a blob of known size; a large one waits for room, which it keeps until the answer was sent. */
export const content = (call: Call, git: GitRepository, oid: Oid, size: number) =>
  Effect.zipRight(
    size < large ? Effect.void : call.room.hold(size * copies),
    Effect.flatMap(git.object(oid), (object) =>
      Option.isSome(object) ? Effect.succeed(object.value.content) : notFound
    )
  )

/** As many bytes as fill whole lines of base64. */
const piece = 45 * 4096

const pieces = (bytes: Uint8Array): Stream.Stream<Uint8Array> =>
  Stream.unfold(0, (at) =>
    at >= bytes.length ? Option.none() : Option.some([bytes.subarray(at, at + piece), at + piece])
  )

/** The bytes as they are; large ones as fast as the client takes them. */
export const raw = (bytes: Uint8Array): Reply.Reply => {
  const whole = Reply.bytes(bytes)
  return bytes.length < large
    ? whole
    : Reply.make(200, { ...whole.headers, "content-length": String(bytes.length) }, pieces(bytes))
}

/** The JSON of `members` and the content in base64; a large one as a stream, so that it is never a text in memory. */
export const json = (members: Readonly<Record<string, unknown>>, bytes: Uint8Array): Reply.Reply => {
  if (bytes.length < large) {
    return Reply.fromJson({ ...members, content: Fields.toWrappedBase64(bytes), encoding: "base64" })
  }
  const head = Buffer.from(`${JSON.stringify(members).slice(0, -1)},"content":"`)
  const tail = Buffer.from(`","encoding":"base64"}`)
  const lines = Math.ceil(bytes.length / 45)
  const length = head.length + Math.ceil(bytes.length / 3) * 4 + 2 * lines + tail.length
  const encoded = Stream.map(pieces(bytes), (part) =>
    Buffer.from(Fields.toWrappedBase64(part).replaceAll("\n", "\\n"), "latin1")
  )
  return Reply.make(
    200,
    { "content-type": Reply.jsonType, "content-length": String(length) },
    Stream.concat(Stream.make(head), Stream.concat(encoded, Stream.make(tail)))
  )
}

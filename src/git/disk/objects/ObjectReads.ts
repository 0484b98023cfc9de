import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { toRemoteError } from "../files/EngineError.js"
import { slices } from "../packs/ObjectStream.js"
import type { GitRepository } from "../port/GitRepository.js"
import type { NativeReads } from "./NativeReads.js"
import type { ObjectDatabase } from "./ObjectDatabase.js"

/** The size in bytes, and the number of blobs, of one chunk of a stream. */
const chunkBytes = 1024 * 1024
const chunkBlobs = 256
/** The size in bytes from which an object is streamed. */
const streamFromBytes = 256 * 1024

/** The methods that read objects by id. The returned arrays are copies. */
export const make = (
  directory: string,
  objects: ObjectDatabase,
  native: NativeReads
): Pick<GitRepository, "object" | "objectInfo" | "openObject" | "blobs"> => {
  const objectInfo: GitRepository["objectInfo"] = (oid) =>
    Effect.flatMap(
      native.run("GitRepository.objectInfo", () => objects.info(oid)),
      (info) =>
        info !== undefined
          ? Effect.succeedSome(info)
          : Effect.map(
              native.find("GitRepository.objectInfo", oid),
              Option.map(({ content, type }) => ({ type, size: content.length }))
            )
    )

  return {
    object: (oid) =>
      Effect.map(
        native.find("GitRepository.object", oid),
        Option.map(({ content, type }) => ({ type, content: new Uint8Array(content) }))
      ),

    objectInfo,

    openObject: (oid) =>
      Effect.gen(function* () {
        const operation = "GitRepository.openObject"
        const stream = yield* Effect.acquireRelease(
          native.run(operation, () => objects.open(oid, streamFromBytes)),
          (opened) => Effect.sync(() => opened?.close())
        )
        if (stream !== undefined) {
          const { size, type } = stream
          const pieces = Stream.suspend(() =>
            Stream.fromAsyncIterable(stream.pieces(), (cause) => toRemoteError(operation, directory, cause))
          )
          return Option.some({ type, size, isBuffered: false, pieces })
        }
        return Option.map(yield* objectInfo(oid), (info) => ({
          ...info,
          isBuffered: true,
          pieces: Stream.unwrap(
            native.run(operation, () => Stream.fromIteratorSucceed(slices(objects.read(oid).content), 1))
          )
        }))
      }),

    blobs: (oids) =>
      Stream.unfoldChunkEffect(0, (from) =>
        from >= oids.length
          ? Effect.succeedNone
          : native.run("GitRepository.blobs", () => {
              const blobs: Array<{ readonly oid: Oid; readonly content: Uint8Array }> = []
              let bytes = 0
              let at = from
              for (; at < oids.length && at - from < chunkBlobs && bytes < chunkBytes; at++) {
                const oid = oids[at]!
                const { content } = objects.read(oid)
                bytes += content.length
                blobs.push({ oid, content: new Uint8Array(content) })
              }
              return Option.some([Chunk.unsafeFromArray(blobs), at] as const)
            })
      )
  }
}

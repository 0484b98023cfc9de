import { Effect, type Stream } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import type { HostError } from "../reply/HostError.js"
import * as Base64Content from "./Base64Content.js"
import { LongText } from "./LongText.js"

/** The content of a file: bytes, or a stream if it is large. */
export interface FileContent {
  readonly size: number
  readonly bytes: Uint8Array | Stream.Stream<Uint8Array, RemoteError>
}

const inMemory = (bytes: Uint8Array): FileContent => ({ size: bytes.length, bytes })

export const fromUtf8 = (text: string | LongText): FileContent =>
  text instanceof LongText ? { size: text.size, bytes: text.utf8 } : inMemory(Buffer.from(text))

export const fromBase64 = (text: string | LongText): Effect.Effect<FileContent, HostError> => {
  if (!(text instanceof LongText)) return Effect.map(Base64Content.decode(text), inMemory)
  const { size } = text.base64
  return size === undefined
    ? Effect.fail(Base64Content.invalid)
    : Effect.succeed({ size, bytes: Base64Content.decodeStream(text.utf8) })
}

/** Writes the content as a blob. */
export const store = (git: GitRepository, { bytes, size }: FileContent): Effect.Effect<Oid, RemoteError> =>
  bytes instanceof Uint8Array ? git.writeObject("blob", bytes) : git.writeBlob(size, bytes)

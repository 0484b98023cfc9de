import { Effect, type Stream } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import type { Problem } from "../reply/Problem.js"
import * as Base64 from "./Base64.js"
import { LongText } from "./LongText.js"

/** The content of a file: in memory, or, of a large one, piece by piece. */
export interface FileContent {
  readonly size: number
  readonly bytes: Uint8Array | Stream.Stream<Uint8Array, RemoteError>
}

const inMemory = (bytes: Uint8Array): FileContent => ({ size: bytes.length, bytes })

export const fromUtf8 = (text: string | LongText): FileContent =>
  text instanceof LongText ? { size: text.size, bytes: text.utf8 } : inMemory(Buffer.from(text))

export const fromBase64 = (text: string | LongText): Effect.Effect<FileContent, Problem> => {
  if (!(text instanceof LongText)) return Effect.map(Base64.decode(text), inMemory)
  const { size } = text.base64
  return size === undefined
    ? Effect.fail(Base64.invalid)
    : Effect.succeed({ size, bytes: Base64.decoded(text.utf8) })
}

/** Writes it as a blob. */
export const store = (git: GitRepository, { bytes, size }: FileContent): Effect.Effect<Oid, RemoteError> =>
  bytes instanceof Uint8Array ? git.writeObject("blob", bytes) : git.writeBlob(size, bytes)

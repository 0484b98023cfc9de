import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { RemoteError } from "../../../../domain/errors/StoreError.js"
import * as GitObject from "../../../../git/GitObject.js"
import type { Blob } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import type { CallFailure, Client } from "../client/Client.js"
import { decodeBase64 } from "./Base64.js"
import type { ReadBlob } from "./BlobReads.js"
import type { ObjectCache } from "./ObjectCache.js"

type Failure = CallFailure | RemoteError

/** The reply to a request for a file, with its validator. No blob: there is no file. */
export interface FileRead {
  readonly blob: Option.Option<Blob>
  /** The kind of the entry if it is not a file. */
  readonly notAFile?: "tree" | "commit" | undefined
  readonly notModified: boolean
  readonly etag: string | undefined
  readonly generation: number
}

export const noFile: FileRead = { blob: Option.none(), notModified: false, etag: undefined, generation: 0 }

/** Reads a file of a branch or commit in one request. */
export interface FileReads {
  /** By the Contents API; a file without content in the reply is read as a blob. Fails if the revision or path does not exist. */
  readonly contents: (ref: string, path: string, etag?: string) => Effect.Effect<FileRead, Failure>
  /** From `rawUrl`. A failure does not mean that the file does not exist. */
  readonly raw: (ref: string, path: string, etag?: string) => Effect.Effect<FileRead, Failure>
}

export const makeFileReads = (client: Client, cache: ObjectCache, blob: ReadBlob): FileReads => ({
  contents: (ref, path, etag) =>
    client.call(Api.getContent, { path: { path }, query: { ref }, etag }).pipe(
      Effect.flatMap((reply): Effect.Effect<FileRead, Failure> => {
        const rest = { notModified: false, etag: reply.etag, generation: reply.generation }
        if (Option.isNone(reply.value)) {
          return Effect.succeed({ ...rest, blob: Option.none(), notModified: true })
        }
        const file = reply.value.value
        if ("length" in file || file.type !== "file") {
          const notAFile = "length" in file ? "tree" : file.type === "submodule" ? "commit" : undefined
          return Effect.succeed({ ...rest, blob: Option.none(), notAFile })
        }
        const content =
          file.encoding === "base64" && (file.content !== "" || file.size === 0)
            ? decodeBase64(file.content ?? "")
            : undefined
        if (content !== undefined && GitObject.hash("blob", content) === file.sha) {
          cache.putBlob(file.sha, content)
          return Effect.succeed({ ...rest, blob: Option.some({ path, oid: file.sha, content }) })
        }
        return Effect.map(blob(file.sha, path), (found) => ({ ...rest, blob: Option.some(found) }))
      })
    ),
  raw: (ref, path, etag) =>
    client.raw(ref, path, etag).pipe(
      Effect.map((reply) => ({
        blob: Option.map(reply.value, (content) => ({ path, oid: GitObject.hash("blob", content), content })),
        notModified: Option.isNone(reply.value),
        etag: reply.etag,
        generation: reply.generation
      }))
    )
})

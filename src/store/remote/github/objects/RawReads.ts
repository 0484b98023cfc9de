import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { RemoteError } from "../../../../domain/errors/StoreError.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import type { Blob, Head, TreeEntry } from "../../GitRemote.js"
import { isKind } from "../client/ApiFailure.js"
import type { CallFailure } from "../client/Client.js"
import type { ReadBlob } from "./BlobReads.js"
import { type FileRead, type FileReads, noFile } from "./FileReads.js"
import type { ObjectCache } from "./ObjectCache.js"

type Failure = CallFailure | RemoteError

/**
 * Reads files from `rawUrl`. It returns 404 for files of private repositories, and sometimes for other files that exist. Only
 * a tree proves that a file does not exist.
 */
export interface RawReads {
  readonly file: (
    at: Head,
    path: string,
    options?: { readonly oid?: Oid | undefined; readonly etag?: string | undefined }
  ) => Effect.Effect<FileRead, Failure>
  /** By branch name, which `rawUrl` may resolve to an older commit. */
  readonly atBranch: (branch: string, path: string, etag?: string) => Effect.Effect<FileRead, Failure>
  /** False once several existing files in succession returned 404: `rawUrl` does not serve this repository. */
  readonly serves: () => boolean
  readonly reset: () => void
}

interface Parts {
  readonly cache: ObjectCache
  readonly raw: FileReads["raw"]
  readonly blob: ReadBlob
  readonly head: (branch: string) => Effect.Effect<Option.Option<Head>, CallFailure>
  /** The cached entry of a path; undefined: unknown. */
  readonly located: (at: Head, path: string) => Option.Option<TreeEntry> | undefined
  /** The entry of a path, read from the tree of its directory. */
  readonly entry: (at: Head, path: string) => Effect.Effect<Option.Option<TreeEntry>, Failure>
  /** The file of a commit, read from the API. */
  readonly byApi: (at: Head, path: string) => Effect.Effect<Option.Option<Blob>, Failure>
}

/** The number of 404s in succession for existing files after which `rawUrl` is no longer used. */
const mostDenials = 3

/** A server that requires a login replies 401 or 403, or redirects to its login page. */
const isDenial = isKind("Missing", "EmptyRepository", "Credentials", "Forbidden", "Redirect")

export const makeRawReads = ({ blob, byApi, cache, entry, head, located, raw }: Parts): RawReads => {
  let denials = 0
  const serves = () => denials < mostDenials

  /** None if `rawUrl` does not serve the file. */
  const ask = (ref: string, path: string, etag?: string): Effect.Effect<Option.Option<FileRead>, Failure> =>
    Effect.suspend(() =>
      serves()
        ? Effect.catchIf(Effect.asSome(raw(ref, path, etag)), isDenial, () => Effect.succeedNone)
        : Effect.succeedNone
    )

  const served = (read: FileRead): FileRead => {
    denials = 0
    if (Option.isSome(read.blob)) cache.putBlob(read.blob.value.oid, read.blob.value.content)
    return read
  }

  const asRead = (found: Option.Option<Blob>): FileRead => ({ ...noFile, blob: found })

  const byOid = (oid: Oid, path: string) =>
    Effect.suspend(() => {
      denials++
      return Effect.map(blob(oid, path), (found) => asRead(Option.some(found)))
    })

  /** Reads a file of a commit that `rawUrl` does not serve. */
  const denied = (at: Head, path: string): Effect.Effect<FileRead, Failure> =>
    serves()
      ? entry(at, path).pipe(
          Effect.flatMap((found) =>
            Option.isSome(found) && found.value.kind === "blob"
              ? byOid(found.value.oid, path)
              : Effect.succeed(noFile)
          ),
          // The directory is too large for the host to list.
          Effect.catchIf(
            (error) => error._tag === "RemoteError" && error.reason === "Unsupported",
            () => Effect.map(byApi(at, path), asRead)
          )
        )
      : Effect.map(byApi(at, path), asRead)

  return {
    serves,
    file: (at, path, options = {}) =>
      Effect.suspend(() => {
        const listed = options.oid === undefined ? located(at, path) : undefined
        if (listed !== undefined && (Option.isNone(listed) || listed.value.kind !== "blob")) {
          return Effect.succeed(noFile)
        }
        const oid = options.oid ?? Option.getOrUndefined(listed ?? Option.none())?.oid
        const held = oid === undefined ? undefined : cache.blob(oid)
        if (oid !== undefined && held !== undefined && options.etag === undefined) {
          return Effect.succeed(asRead(Option.some({ path, oid, content: held })))
        }
        return Effect.flatMap(ask(at.commit, path, options.etag), (read) => {
          if (Option.isNone(read)) return oid === undefined ? denied(at, path) : byOid(oid, path)
          const sent = Option.getOrUndefined(read.value.blob)
          // A different version of the file counts as a failure.
          return oid === undefined || sent === undefined || sent.oid === oid
            ? Effect.succeed(served(read.value))
            : byOid(oid, path)
        })
      }),
    atBranch: (branch, path, etag) =>
      Effect.flatMap(
        ask(branch, path, etag),
        Option.match({
          onNone: () =>
            Effect.flatMap(
              head(branch),
              Option.match({ onNone: () => Effect.succeed(noFile), onSome: (at) => denied(at, path) })
            ),
          onSome: (read) => Effect.succeed(served(read))
        })
      ),
    reset: () => {
      denials = 0
    }
  }
}

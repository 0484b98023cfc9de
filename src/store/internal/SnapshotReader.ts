import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Bounded } from "../../domain/Bounded.js"
import type { ReadError } from "../../domain/StoreError.js"
import { type GitRemoteService, takesRequests } from "../remote/GitRemote.js"
import type { ResolvedOptions } from "../StoreOptions.js"
import type { Reader } from "./ordered-tree/Reader.js"
import type { Snapshot } from "./Snapshot.js"

/** Contents of files of trees, by the ids of their blobs. */
export type TreeFileCache = Bounded<Uint8Array>

interface Parts {
  readonly remote: Pick<GitRemoteService, "estimate">
  readonly options: Pick<ResolvedOptions, "concurrency">
  readonly derived: { readonly known: { readonly treeFiles: TreeFileCache } }
}

/** Reads trees of small files in a snapshot. A file that was read or written lately is not read again. */
export const readerOf = ({ derived, options, remote }: Parts, snapshot: Snapshot): Reader<ReadError> => {
  const known = derived.known.treeFiles
  return {
    concurrency: takesRequests(remote) ? options.concurrency : 1,
    directory: (path) =>
      Effect.map(snapshot.directory(path), (found) => {
        if (Option.isNone(found)) return undefined
        const { entries, oid } = found.value.tree
        return {
          oid,
          entries: entries.flatMap(({ kind, oid: id, path: name }) =>
            kind === "blob" || kind === "tree" ? [{ kind, oid: id, name }] : []
          )
        }
      }),
    files: (files) =>
      Effect.suspend(() => {
        const contents = files.map(({ oid }) => known.get(oid))
        const missing = files.filter((_, at) => contents[at] === undefined)
        if (missing.length === 0) return Effect.succeed(contents)
        const paths = missing.map(({ path }) => path)
        return Effect.map(
          Stream.runFold(
            snapshot.files(paths, options),
            new Map<string, Uint8Array>(),
            (all, { content, oid, path }) => all.set(path, known.set(oid, content))
          ),
          (found) => files.map(({ path }, at) => contents[at] ?? found.get(path))
        )
      })
  }
}

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { collect } from "../../../domain/concurrency/Streams.js"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { type GitRemoteService, takesRequests } from "../../remote/GitRemote.js"
import type { ResolvedOptions } from "../../StoreOptions.js"
import type { TreeReader } from "../ordered-tree/TreeReader.js"
import type { Snapshot } from "../snapshot/Snapshot.js"

interface Parts {
  readonly remote: Pick<GitRemoteService, "estimate">
  readonly options: Pick<ResolvedOptions, "concurrency">
}

/** Reads trees of small files from a snapshot. */
export const treeReader = ({ options, remote }: Parts, snapshot: Snapshot): TreeReader<ReadError> => {
  const isFree = !takesRequests(remote)
  return {
    concurrency: isFree ? 1 : options.concurrency,
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
    files: (paths) => {
      const [only] = paths
      // A stream of one file takes many times longer than reading the file.
      if (isFree && only !== undefined && paths.length === 1) {
        return Effect.map(snapshot.file(only), (file) => [Option.getOrUndefined(file)?.content])
      }
      return Effect.map(collect(snapshot.files(paths, options)), (blobs) => {
        const found = new Map(blobs.map(({ content, path }) => [path, content]))
        return paths.map((path) => found.get(path))
      })
    }
  }
}

import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { RemoteError } from "../../domain/errors/StoreError.js"
import { attempt } from "../disk/files/EngineError.js"
import { unlink } from "../disk/files/FileOperations.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { Repository } from "../Repository.js"

/**
 * Removes empty ref files, which a power cut may leave. The refs of a clone only cache those of the server, so a missing one is
 * written again.
 */
export const removeEmptyRefs = (directory: string): Effect.Effect<void> =>
  attempt("GitHost.layer", directory, () => {
    for (const entry of fs.readdirSync(path.join(directory, "refs"), {
      recursive: true,
      withFileTypes: true
    })) {
      const file = path.join(entry.parentPath, entry.name)
      if (!entry.isFile() || entry.name.endsWith(".lock")) continue
      if (fs.statSync(file, { throwIfNoEntry: false })?.size === 0) unlink(file)
    }
    // Another process that shares the clone may move a file meanwhile.
  }).pipe(Effect.ignore)

/** The repository with errors that explain how to replace a damaged clone. */
export const explainDamage = (
  directory: string,
  repository: Repository<ServerFailure>
): Repository<ServerFailure> => {
  const explain = <E>(error: E): E | RemoteError =>
    error instanceof RemoteError && error.reason === "Corrupt" && error.path === directory
      ? new RemoteError({
          operation: error.operation,
          reason: "Corrupt",
          path: directory,
          message: `the clone in ${directory} is damaged: ${error.message}`,
          hint: `end what uses it and remove ${directory}: what it holds is fetched again`,
          cause: error
        })
      : error
  const explained = <A, E>(effect: Effect.Effect<A, E>) => Effect.mapError(effect, explain)
  const { branches, defaultBranch, prefetchBlobs, updateRefs } = repository
  return {
    ...repository,
    object: (oid) => explained(repository.object(oid)),
    blobs: (oids) => Stream.mapError(repository.blobs(oids), explain),
    ...(prefetchBlobs === undefined ? {} : { prefetchBlobs: (oids) => explained(prefetchBlobs(oids)) }),
    resolve: (...args) => explained(repository.resolve(...args)),
    commit: (oid) => explained(repository.commit(oid)),
    lookup: (...args) => explained(repository.lookup(...args)),
    entries: (...args) => explained(repository.entries(...args)),
    tree: (...args) => explained(repository.tree(...args)),
    treeAfter: (...args) => explained(repository.treeAfter(...args)),
    ref: (...args) => explained(repository.ref(...args)),
    refs: (prefix) => explained(repository.refs(prefix)),
    updateRef: (...args) => explained(repository.updateRef(...args)),
    ...(updateRefs === undefined ? {} : { updateRefs: (updates) => explained(updateRefs(updates)) }),
    defaultBranch: explained(defaultBranch),
    branches: explained(branches),
    commitNext: (branch, build) => explained(repository.commitNext(branch, build)),
    log: (...args) => Stream.mapError(repository.log(...args), explain),
    diff: (...args) => explained(repository.diff(...args)),
    isAncestor: (...args) => explained(repository.isAncestor(...args)),
    mergeBases: (...args) => explained(repository.mergeBases(...args))
  }
}

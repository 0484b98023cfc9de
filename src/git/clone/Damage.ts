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
 * Removes refs without content, which a power cut may leave. In a clone a ref only notes what was seen of the server: one
 * that is missing is noted again.
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
    // Another process that shares the clone may move what is looked at.
  }).pipe(Effect.ignore)

/** A clone whose damaged files are said to be those of a copy: what it holds is on the server. */
export const explained = (
  directory: string,
  repository: Repository<ServerFailure>
): Repository<ServerFailure> => {
  const tell = <E>(error: E): E | RemoteError =>
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
  const told = <A, E>(effect: Effect.Effect<A, E>) => Effect.mapError(effect, tell)
  const { prefetchBlobs, defaultBranch, updateRefs } = repository
  return {
    ...repository,
    object: (oid) => told(repository.object(oid)),
    blobs: (oids) => Stream.mapError(repository.blobs(oids), tell),
    ...(prefetchBlobs === undefined ? {} : { prefetchBlobs: (oids) => told(prefetchBlobs(oids)) }),
    resolve: (revision) => told(repository.resolve(revision)),
    commit: (oid) => told(repository.commit(oid)),
    lookup: (...args) => told(repository.lookup(...args)),
    entries: (...args) => told(repository.entries(...args)),
    tree: (...args) => told(repository.tree(...args)),
    treeAfter: (...args) => told(repository.treeAfter(...args)),
    ref: (name) => told(repository.ref(name)),
    refs: (prefix) => told(repository.refs(prefix)),
    updateRef: (...args) => told(repository.updateRef(...args)),
    ...(updateRefs === undefined ? {} : { updateRefs: (updates) => told(updateRefs(updates)) }),
    defaultBranch: told(defaultBranch),
    commitNext: (branch, build) => told(repository.commitNext(branch, build)),
    log: (...args) => Stream.mapError(repository.log(...args), tell),
    diff: (...args) => told(repository.diff(...args)),
    isAncestor: (...args) => told(repository.isAncestor(...args)),
    mergeBases: (...args) => told(repository.mergeBases(...args))
  }
}

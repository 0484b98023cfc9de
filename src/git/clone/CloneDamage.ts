import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { RemoteError } from "../../domain/errors/StoreError.js"
import { attempt } from "../disk/files/EngineError.js"
import { unlink } from "../disk/files/FileOperations.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { Repository } from "../Repository.js"

/** Repairs HEAD, which a clone does not use, but without which Git refuses the repository. */
const repairHead = (directory: string): void => {
  const head = path.join(directory, "HEAD")
  if (/^ref: refs\/\S+\n$/.test(fs.readFileSync(head, "latin1"))) return
  fs.writeFileSync(`${head}.lock`, "ref: refs/heads/main\n", { flag: "wx" })
  fs.renameSync(`${head}.lock`, head)
}

/**
 * Repairs refs that a power cut may damage. The refs of a clone only cache those of the server, so an empty ref file is removed, and
 * written again.
 */
export const repairRefs = (directory: string): Effect.Effect<void> =>
  attempt("GitHost.layer", directory, () => {
    repairHead(directory)
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

const explanationOf = (directory: string, { message, reason }: RemoteError) =>
  reason === "Corrupt"
    ? {
        message: `the clone in ${directory} is damaged: ${message}`,
        hint: `end what uses it and remove ${directory}: what it holds is fetched again`
      }
    : reason === "Unreachable"
      ? {
          message: `the clone in ${directory} was removed: ${message}`,
          hint: "open the store again: what the clone held is fetched again"
        }
      : undefined

const explain =
  (directory: string) =>
  <E>(error: E): E | RemoteError => {
    if (!(error instanceof RemoteError) || error.path !== directory) return error
    const explanation = explanationOf(directory, error)
    if (explanation === undefined) return error
    const { operation, reason } = error
    return new RemoteError({ operation, reason, path: directory, ...explanation, cause: error })
  }

/** An effect whose errors explain how to replace a damaged or removed clone. */
export const explaining =
  (directory: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | RemoteError, R> =>
    Effect.mapError(effect, explain(directory))

/** The repository with errors that explain how to replace a damaged or removed clone. */
export const explainDamage = (
  directory: string,
  repository: Repository<ServerFailure>
): Repository<ServerFailure> => {
  const explained = explaining(directory)
  const { branches, defaultBranch, prefetchBlobs, updateRefs } = repository
  return {
    ...repository,
    object: (oid) => explained(repository.object(oid)),
    blobs: (oids) => Stream.mapError(repository.blobs(oids), explain(directory)),
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
    log: (...args) => Stream.mapError(repository.log(...args), explain(directory)),
    diff: (...args) => explained(repository.diff(...args)),
    isAncestor: (...args) => explained(repository.isAncestor(...args)),
    mergeBases: (...args) => explained(repository.mergeBases(...args))
  }
}

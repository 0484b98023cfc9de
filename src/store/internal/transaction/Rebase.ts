import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import {
  type DocumentConflict,
  NotFoundError,
  type ReadError,
  type WriteError
} from "../../../domain/errors/StoreError.js"
import type { Layout } from "../../../domain/settings/Settings.js"
import { documentPath, under } from "../../DocumentPath.js"
import type { CommitInfo, Head } from "../../remote/GitRemote.js"
import { snapshotAt } from "../../remote/RemoteSnapshot.js"
import type { DocumentOperation } from "../commit/DocumentEdit.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { pastVersion } from "../commit/VersionCodec.js"
import { makeSnapshot, type ReadSet } from "../snapshot/Snapshot.js"
import { type ChangedDocument, changesBetween, versionsAt } from "../write/ChangedDocuments.js"
import { keyOf } from "../write/OperationQueue.js"

const infoOf = (core: StoreCore, commit: Head["commit"]): Effect.Effect<CommitInfo, ReadError> =>
  Effect.flatMap(core.remote.commitInfo(commit), (info) =>
    Option.isSome(info)
      ? Effect.succeed(info.value)
      : new NotFoundError({
          operation: "Store.transaction",
          message: `the commit ${commit} is not in ${core.remote.name}`
        })
  )

/** Whether the transaction read a document: its file, its collection's directory, or the root. */
const wasRead = (core: StoreCore, layout: Layout, reads: ReadSet) => {
  const { root } = core.options
  return ({ after, before, collection, id }: ChangedDocument) =>
    reads.directories.has(root) ||
    reads.directories.has(under(root, collection)) ||
    // The layout may have changed since: a missing document was looked up at its path in the earlier layout.
    reads.files.has(documentPath(root, layout, collection, id)) ||
    [before, after].some((file) => file !== undefined && reads.files.has(file.path))
}

/** The documents that the transaction read or wrote and that another writer changed since `base`. */
export const conflictsSince = (
  core: StoreCore,
  base: Head,
  now: Head,
  work: Head,
  reads: ReadSet
): Effect.Effect<ReadonlyArray<DocumentConflict>, ReadError> =>
  Effect.gen(function* () {
    const theirs = yield* changesBetween(core, Option.some(base), now)
    const ours = yield* changesBetween(core, Option.some(base), work)
    const written = new Set(ours.documents.map(({ collection, id }) => keyOf(collection, id)))
    const { settings } = yield* core.repository.at(makeSnapshot(snapshotAt(core.remote, base)))
    const read = wasRead(core, settings, reads)
    return theirs.documents
      .filter((changed) => written.has(keyOf(changed.collection, changed.id)) || read(changed))
      .map(({ after, before, collection, id }) => ({
        collection,
        id,
        expected: before === undefined ? null : { sha: before.oid },
        actual: after === undefined ? null : { sha: after.oid }
      }))
  })

/** The commits from `base` (exclusive) to `head`, oldest first, each with its parent. */
const commitsSince = (core: StoreCore, base: Head, head: Head) =>
  Effect.gen(function* () {
    const commits: Array<{ readonly parent: Head; readonly commit: CommitInfo }> = []
    let commit = yield* infoOf(core, head.commit)
    while (commit.commit !== base.commit) {
      const first = commit.parents[0]
      if (first === undefined) break
      const parent: CommitInfo = first === base.commit ? { ...commit, ...base } : yield* infoOf(core, first)
      commits.push({ parent: { commit: parent.commit, tree: parent.tree }, commit })
      commit = parent
    }
    return commits.reverse()
  })

/**
 * Makes the commits of a work branch again on another branch, whose head has the same versions of the changed
 * documents. Messages and contents stay the same; index and manifest files are derived again.
 */
export const rebase = (
  core: StoreCore,
  base: Head,
  work: Head,
  onto: StoreCore
): Effect.Effect<void, WriteError> =>
  Effect.gen(function* () {
    for (const { commit, parent } of yield* commitsSince(core, base, work)) {
      const { derived, documents } = yield* changesBetween(core, Option.some(parent), commit)
      const versions = yield* versionsAt(
        core,
        commit,
        documents.flatMap(({ after }) => after ?? [])
      )
      const operations = documents.map(({ after, collection, id }): DocumentOperation => {
        const version = after === undefined ? undefined : versions.get(after.path)
        // The write adds one to the revision.
        const next = Effect.succeed({
          ...pastVersion(version),
          rev: version === undefined ? 0 : version.rev - 1
        })
        return { collection, id, needs: "any", next: () => next }
      })
      yield* onto.write({
        operation: "Store.transaction",
        message: commit.message,
        mode: "batch",
        operations,
        reindex: operations.length === 0 ? [...derived] : []
      })
    }
  })

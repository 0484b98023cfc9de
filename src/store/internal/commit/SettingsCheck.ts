import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type { RefMoved } from "../../../domain/errors/RefMoved.js"
import { AmbiguousWriteError, isUniqueViolation, type WriteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { settingsDifferences } from "../../../domain/settings/Settings.js"
import * as Monotonic from "../../../domain/time/MonotonicClock.js"
import { documentPath, under } from "../../DocumentPath.js"
import type { Change, CommitVerdict, CreatedCommit, NewCommit } from "../../remote/GitRemote.js"
import { emptySnapshot, snapshotAt } from "../../remote/RemoteSnapshot.js"
import { collectionTree } from "../derived/Derived.js"
import { makeSnapshot, type Snapshot } from "../snapshot/Snapshot.js"
import { type BuiltCommit, documentChange } from "./BuildCommit.js"
import type { DocumentEdit, EditOutcome } from "./DocumentEdit.js"
import type { EditDependencies } from "./EditPlan.js"

interface CheckDependencies extends EditDependencies {
  readonly branch: string
  readonly commitEdit: (edit: DocumentEdit) => Effect.Effect<EditOutcome, WriteError>
}

/** The delays between two attempts at a correction, while other writers move the branch. */
const retrySchedule = Schedule.jittered(Schedule.exponential("10 millis"))

/**
 * Retries a correction for this long while other writers move the branch: until it succeeds, the document stays in the wrong
 * place.
 */
export const retryUntil =
  (deadline: Duration.Duration) =>
  <A, E extends { readonly _tag: string }>(correction: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.flatMap(Monotonic.millis, (started) =>
      Effect.retry(correction, {
        schedule: retrySchedule,
        while: ({ _tag }) =>
          _tag === "RefMoved"
            ? Effect.map(Monotonic.millis, (now) => now - started < Duration.toMillis(deadline))
            : Effect.succeed(false)
      })
    )

const ambiguous = (edit: DocumentEdit, path: string, made: CreatedCommit, cause: WriteError | RefMoved) =>
  new AmbiguousWriteError({
    operation: edit.operation,
    collection: edit.operations[0]?.collection,
    id: edit.operations[0]?.id,
    path,
    message: `${path} was written in ${made.commit}, but whether the repository's settings still put it there could not be determined: ${cause.message}`,
    hint: "read the document before writing it again",
    cause
  })

/**
 * Writes the index and manifest files of a commit that wrote one document without them, if its settings require any.
 */
const writeMissingDerived = (
  { commitEdit, derived, remote, repository }: CheckDependencies,
  edit: DocumentEdit,
  built: BuiltCommit,
  made: CreatedCommit,
  at: Snapshot
) =>
  Effect.gen(function* () {
    const [outcome] = built.prepared
    if (outcome === undefined) return
    const { collection } = outcome
    const settings = yield* repository.at(at)
    const files = yield* derived.filesOf(at, settings, collection)
    if (files.indexes.size === 0 && files.manifest === undefined) return
    const parent = made.parents?.[0]
    const before = makeSnapshot(parent === undefined ? emptySnapshot : snapshotAt(remote, parent))
    const since = {
      before:
        made.parents === undefined ? undefined : collectionTree(yield* repository.at(before), collection),
      after: collectionTree(settings, collection)
    }
    const documents = [documentChange(outcome)]
    yield* commitEdit({
      operation: edit.operation,
      message: `reindex ${collection}`,
      mode: "document",
      operations: [],
      missingDerived: [{ collection, documents, changes: [], rebuild: false, since }]
    })
  })

/** Restores the previous version of a file, unless another writer has changed it since. */
const revertFile = (
  { branch, options, remote }: CheckDependencies,
  change: Change,
  built: BuiltCommit,
  made: CreatedCommit
) => {
  const { path } = change
  const before = Option.getOrUndefined(built.prepared[0]?.before ?? Option.none())
  const content = change._tag === "Put" ? change.content : new Uint8Array()
  const written = made.blobs.get(path)
  const back: Change =
    before === undefined ? { _tag: "Remove", path } : { _tag: "Put", path, content: before.content }
  const commit: NewCommit = {
    message: `Take ${path} back: the repository's settings have changed`,
    author: options.author,
    committer: options.committer,
    changes: [back]
  }
  return remote.commitNext(branch, (snapshot) =>
    Effect.map(
      snapshot.file(path, {
        assume: written === undefined ? "absent" : "cached",
        cached: Option.fromNullable(written && { oid: written, content })
      }),
      (found) => {
        const isOurs = Option.getOrUndefined(found)?.oid === written
        const isBack = before === undefined && written === undefined
        return { commit: isOurs && !isBack ? Option.some(commit) : Option.none(), result: undefined }
      }
    )
  )
}

/** Restores a file that a collection's directory replaced, unless its path is in use again. */
const restoreReplacedFile = (
  { branch, options, remote }: CheckDependencies,
  collection: string,
  oid: Oid
) => {
  const path = under(options.root, collection)
  const commit: NewCommit = {
    message: `Put ${path} back: it is not a collection`,
    author: options.author,
    committer: options.committer,
    changes: [{ _tag: "Link", path, oid }]
  }
  return remote.commitNext(branch, (snapshot) =>
    Effect.map(Effect.zipRight(snapshot.head, snapshot.directory(options.root)), (root) => {
      const isFree = !Option.exists(root, ({ tree }) =>
        tree.entries.some((entry) => entry.path === collection)
      )
      return { commit: isFree ? Option.some(commit) : Option.none(), result: undefined }
    })
  )
}

/**
 * Checks whether the one file that a commit changed is where the settings of that commit put it. The settings were
 * assumed, and the request that writes one file cannot check them. If another client had changed them, a second commit
 * completes the write or reverts it.
 */
export const checkSettings = (
  parts: CheckDependencies,
  edit: DocumentEdit,
  built: BuiltCommit,
  made: CreatedCommit
): Effect.Effect<CommitVerdict, WriteError> => {
  const [change] = Option.match(built.commit, { onNone: () => [], onSome: ({ changes }) => changes })
  if (change === undefined) return Effect.succeed("valid")
  return Effect.gen(function* () {
    const { options, repository } = parts
    const [outcome] = built.prepared
    const untilDeadline = retryUntil(options.deadline)
    const isBegun = outcome !== undefined && built.settings.entries.get(outcome.collection)?.kind !== "tree"
    const overlooked = yield* repository.brokenAssumptions(
      made,
      built.settings.settingsVersion,
      isBegun ? outcome.collection : undefined
    )
    if (outcome !== undefined && Option.isSome(overlooked.replacedFile)) {
      yield* untilDeadline(revertFile(parts, change, built, made))
      yield* untilDeadline(restoreReplacedFile(parts, outcome.collection, overlooked.replacedFile.value))
      return "reverted" as const
    }
    const at = Option.getOrUndefined(overlooked.settingsChangedAt)
    if (at === undefined) return "valid" as const
    const { frozen, mismatch, settings } = yield* repository.at(at)
    const path =
      outcome === undefined
        ? change.path
        : documentPath(options.root, settings, outcome.collection, outcome.id)
    // A document that was merged by outdated rules is reverted, and merged again by the current ones.
    const isMergedSo =
      outcome?.isMerged !== true ||
      settingsDifferences({ merge: built.settings.settings.merge }, settings).length === 0
    if (frozen === undefined && mismatch === undefined && path === change.path && isMergedSo) {
      const completed = yield* writeMissingDerived(parts, edit, built, made, at).pipe(
        Effect.as(true),
        // The document is reverted, and the write fails or is retried as if it had seen the other document.
        Effect.catchIf(isUniqueViolation, () => Effect.succeed(false))
      )
      if (completed) return "amended" as const
    }
    yield* untilDeadline(revertFile(parts, change, built, made))
    return "reverted" as const
  }).pipe(Effect.mapError((error) => ambiguous(edit, change.path, made, error)))
}

import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { RefMoved } from "../../../domain/errors/RefMoved.js"
import { AuthError, ConflictError, type WriteError } from "../../../domain/errors/StoreError.js"
import { lazyModule } from "../../../domain/runtime/LazyModule.js"
import * as Monotonic from "../../../domain/time/MonotonicClock.js"
import { type EditResult, type RemoteSnapshot, takesRequests } from "../../remote/GitRemote.js"
import type { FileCache } from "../snapshot/FileCache.js"
import { type BranchState, makeSnapshot, type ReadSet } from "../snapshot/Snapshot.js"
import { backOff } from "./Backoff.js"
import type { BuiltCommit } from "./BuildCommit.js"
import type { Edit, EditOutcome } from "./DocumentEdit.js"
import type { EditDependencies } from "./EditPlan.js"
import * as Preconditions from "./Preconditions.js"

// Loaded on first use, so that a page that only reads does not contain them.
const buildModule = lazyModule(() => import("./BuildCommit.js"))
const settingsCheckModule = lazyModule(() => import("./SettingsCheck.js"))

export interface CommitDependencies extends EditDependencies {
  readonly branch: string
  /** Versions of the branch's files, which may be outdated. */
  readonly cache: FileCache
  readonly branchState: BranchState
  /** Records the documents that edits read. */
  readonly readSet: ReadSet | undefined
  readonly isPinned: boolean
}

export const readOnlyError = (operation: string) =>
  new AuthError({
    operation,
    message: "this store was opened for reading",
    hint: "open it without readOnly and ref to write"
  })

const raceError = (edit: Edit, error: RefMoved, reason: string) =>
  new ConflictError({
    operation: edit.operation,
    message: `${error.message}: ${reason}`,
    hint: "the write did not happen: try again",
    conflicts: []
  })

/** Commits an edit. If another writer moved the branch first, the commit is built again on the new head. */
export const commitEdit = (
  dependencies: CommitDependencies,
  edit: Edit
): Effect.Effect<EditOutcome, WriteError> =>
  Effect.gen(function* () {
    const { branch, cache, options, branchState, readSet, remote } = dependencies
    const { buildCommit } = yield* buildModule
    const { checkSettings } = yield* settingsCheckModule
    const started = yield* Monotonic.millis
    const limit = Duration.toMillis(options.deadline)
    const conflicts = Preconditions.newConflictCount(edit.retries ?? options.conflictRetries)
    for (let attempt = 0; ; attempt++) {
      // If one call builds more than once, the earlier builds used assumed versions. They are not conflicts.
      const { counted, seen } = conflicts
      const build = (source: RemoteSnapshot) =>
        Effect.gen(function* () {
          Object.assign(conflicts, { counted, seen })
          const snapshot = makeSnapshot(source, {
            readSet,
            cache: { files: cache, of: "branch" },
            branch: branchState
          })
          const planned = "plan" in edit ? yield* edit.plan(snapshot) : Option.some(edit)
          if (Option.isNone(planned)) return { commit: Option.none(), result: undefined }
          const result = yield* buildCommit(dependencies, planned.value, snapshot, conflicts)
          return {
            commit: result.commit,
            result,
            verifyCommit: (commit) =>
              checkSettings(
                { ...dependencies, commitEdit: (other) => commitEdit(dependencies, other) },
                planned.value,
                result,
                commit
              )
          } satisfies EditResult<BuiltCommit | undefined, WriteError>
        })
      const answer = yield* Effect.either(remote.commitNext(branch, build))
      if (answer._tag === "Right") {
        const { committed, result } = answer.right
        if (result === undefined) return { committed: Option.none(), documents: [] }
        if (Option.isSome(committed)) result.onCommitted(committed.value)
        return {
          committed,
          documents: result.outcomes(Option.isSome(committed) ? committed.value.blobs : new Map())
        }
      }
      if (answer.left._tag !== "RefMoved") return yield* answer.left
      if (edit.mode === "batch" && attempt >= (edit.retries ?? options.batchRetries)) {
        return yield* raceError(edit, answer.left, `the branch moved ${attempt + 1} times during the write`)
      }
      yield* backOff(attempt)
      if ((yield* Monotonic.millis) - started >= limit) {
        return yield* raceError(edit, answer.left, "the branch kept moving until the deadline")
      }
    }
  })

/** A larger commit is cached only if reading a document takes a request: many versions would evict the ones in use. */
const maxCachedDocuments = 100

/** Caches the written versions for the next read or write of these documents. */
const cacheWritten = ({ cache, remote }: CommitDependencies, { documents }: EditOutcome) =>
  documents.length <= maxCachedDocuments || takesRequests(remote)
    ? Effect.forEach(
        documents,
        ({ after, path }) =>
          cache.set(
            path,
            Option.map(after, ({ content, sha }) => ({ content, oid: sha }))
          ),
        { discard: true }
      )
    : Effect.void

/** `StoreCore.write`: every write of the store is an edit that is committed here. */
export const makeWrite =
  (dependencies: CommitDependencies) =>
  (edit: Edit): Effect.Effect<EditOutcome, WriteError> =>
    Effect.suspend(() => {
      if (dependencies.options.readOnly || dependencies.isPinned) return readOnlyError(edit.operation)
      const wrong = Preconditions.editProblem(edit)
      if (wrong !== undefined) return wrong
      return Effect.tap(commitEdit(dependencies, edit), (outcome) =>
        Effect.zipRight(
          cacheWritten(dependencies, outcome),
          Effect.annotateCurrentSpan({
            branch: dependencies.branch,
            documents: outcome.documents.length,
            ...(edit.mode === "document" &&
              edit.operation.startsWith("Collection.") &&
              outcome.documents.length === 1 && { id: outcome.documents[0]!.id }),
            ...(Option.isSome(outcome.committed) && { commit: outcome.committed.value.commit })
          })
        )
      )
    })

import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { RefMoved } from "../../../domain/errors/RefMoved.js"
import { AuthError, ConflictError, type WriteError } from "../../../domain/errors/StoreError.js"
import { lazyModule } from "../../../domain/runtime/LazyModule.js"
import * as Monotonic from "../../../domain/time/MonotonicClock.js"
import { type EditResult, type RemoteSnapshot, takesRequests } from "../../remote/GitRemote.js"
import type { FileCache } from "../snapshot/FileCache.js"
import { type BranchState, makeSnapshot, type ReadSet } from "../snapshot/Snapshot.js"
import type { BuiltCommit } from "./BuildCommit.js"
import type { DocumentEdit, EditOutcome } from "./DocumentEdit.js"
import type { EditDependencies } from "./EditPlan.js"
import * as Preconditions from "./Preconditions.js"

// Loaded when they are used: a page that reads does not carry them.
const edits = lazyModule(() => import("./BuildCommit.js"))
const verification = lazyModule(() => import("./SettingsCheck.js"))

/** What commits are made with. */
export interface CommitDependencies extends EditDependencies {
  readonly branch: string
  /** The versions of the branch's files that edits begin with. */
  readonly cache: FileCache
  readonly branchState: BranchState
  /** What the documents of the edits are noted in. */
  readonly readSet: ReadSet | undefined
  readonly isPinned: boolean
}

export const readOnlyError = (operation: string) =>
  new AuthError({
    operation,
    message: "this store was opened for reading",
    hint: "open it without readOnly and ref to write"
  })

/** Rebuilding waits a random moment that grows with the attempts, so that writers of one branch do not march in step. */
const backOff = (attempt: number) =>
  Effect.flatMap(Random.nextIntBetween(0, 10 * 2 ** Math.min(attempt, 6)), (millis) => Effect.sleep(millis))

const raceError = (unit: DocumentEdit, error: RefMoved, reason: string) =>
  new ConflictError({
    operation: unit.operation,
    message: `${error.message}: ${reason}`,
    hint: "the write did not happen: try again",
    conflicts: []
  })

/** One commit of a unit, built again for each snapshot that wins a race. */
export const commitEdit = (
  parts: CommitDependencies,
  unit: DocumentEdit
): Effect.Effect<EditOutcome, WriteError> =>
  Effect.gen(function* () {
    const { branch, cache, options, branchState: presence, readSet: reads, remote } = parts
    const { buildCommit: edit } = yield* edits
    const { checkSettings: verify } = yield* verification
    const started = yield* Monotonic.millis
    const limit = Duration.toMillis(options.deadline)
    const conflicts = Preconditions.newConflictCount(unit.retries ?? options.conflictRetries)
    for (let attempt = 0; ; attempt++) {
      // Where one call builds more than once, the earlier builds stood on a guess: nobody raced them.
      const { counted, seen } = conflicts
      const build = (source: RemoteSnapshot) =>
        Effect.gen(function* () {
          Object.assign(conflicts, { counted, seen })
          const snapshot = makeSnapshot(source, {
            readSet: reads,
            cache: { files: cache, of: "branch" },
            branch: presence
          })
          const made = unit.plan === undefined ? Option.some(unit) : yield* unit.plan(snapshot)
          if (Option.isNone(made)) return { commit: Option.none(), result: undefined }
          const result = yield* edit(parts, made.value, snapshot, conflicts)
          return {
            commit: result.commit,
            result,
            verifyCommit: (commit) =>
              verify(
                { ...parts, commitUnit: (other) => commitEdit(parts, other) },
                made.value,
                result,
                commit
              )
          } satisfies EditResult<BuiltCommit | undefined, WriteError>
        })
      const answer = yield* Effect.either(remote.commitNext(branch, build))
      if (answer._tag === "Right") {
        const { committed, result } = answer.right
        if (result === undefined) return { committed: Option.none(), documents: [] }
        if (Option.isSome(committed)) result.committed(committed.value)
        return {
          committed,
          documents: result.outcomes(Option.isSome(committed) ? committed.value.blobs : new Map())
        }
      }
      if (answer.left._tag !== "RefMoved") return yield* answer.left
      if (unit.mode === "batch" && attempt >= (unit.retries ?? options.batchRetries)) {
        return yield* raceError(unit, answer.left, `the branch moved ${attempt + 1} times during the write`)
      }
      yield* backOff(attempt)
      if ((yield* Monotonic.millis) - started >= limit) {
        return yield* raceError(unit, answer.left, "the branch kept moving until the deadline")
      }
    }
  })

/** Of a commit of more documents the versions are kept only where reading one takes a request: many would push out what is in use. */
const maxCachedDocuments = 100

/** The next reader or writer of a document begins with the version that was written. */
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

/** The way every write takes: see `DocumentEdit.ts`. */
export const makeWrite =
  (parts: CommitDependencies) =>
  (unit: DocumentEdit): Effect.Effect<EditOutcome, WriteError> =>
    Effect.suspend(() => {
      if (parts.options.readOnly || parts.isPinned) return readOnlyError(unit.operation)
      const wrong = Preconditions.editProblem(unit)
      if (wrong !== undefined) return wrong
      return Effect.tap(commitEdit(parts, unit), (outcome) =>
        Effect.zipRight(
          cacheWritten(parts, outcome),
          Effect.annotateCurrentSpan({
            branch: parts.branch,
            documents: outcome.documents.length,
            ...(unit.mode === "document" &&
              unit.operation.startsWith("Collection.") &&
              outcome.documents.length === 1 && { id: outcome.documents[0]!.id }),
            ...(Option.isSome(outcome.committed) && { commit: outcome.committed.value.commit })
          })
        )
      )
    })

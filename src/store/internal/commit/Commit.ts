import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { RefMoved } from "../../../domain/errors/RefMoved.js"
import { AuthError, ConflictError, type WriteError } from "../../../domain/errors/StoreError.js"
import { lazyModule } from "../../../domain/runtime/LazyModule.js"
import * as Monotonic from "../../../domain/time/MonotonicClock.js"
import { type Edited, type RemoteSnapshot, takesRequests } from "../../remote/GitRemote.js"
import type { FileCache } from "../snapshot/FileCache.js"
import { makeSnapshot, type ReadSet, type SnapshotBranch } from "../snapshot/Snapshot.js"
import type { EditedUnit } from "./DocumentEdit.js"
import type { EditParts } from "./EditPlan.js"
import * as Judgement from "./Judgement.js"
import type { Unit, UnitOutcome } from "./WriteUnit.js"

// Loaded when they are used: a page that reads does not carry them.
const edits = lazyModule(() => import("./DocumentEdit.js"))
const verification = lazyModule(() => import("./SettingsCheck.js"))

/** What commits are made with. */
export interface CommitParts extends EditParts {
  readonly branch: string
  /** The versions of the branch's files that edits begin with. */
  readonly cache: FileCache
  readonly presence: SnapshotBranch
  /** What the documents of the edits are noted in. */
  readonly reads: ReadSet | undefined
  readonly isPinned: boolean
}

export const refusal = (operation: string) =>
  new AuthError({
    operation,
    message: "this store was opened for reading",
    hint: "open it without readOnly and ref to write"
  })

/** Rebuilding waits a random moment that grows with the attempts, so that writers of one branch do not march in step. */
const pause = (attempt: number) =>
  Effect.flatMap(Random.nextIntBetween(0, 10 * 2 ** Math.min(attempt, 6)), (millis) => Effect.sleep(millis))

const stuck = (unit: Unit, error: RefMoved, reason: string) =>
  new ConflictError({
    operation: unit.operation,
    message: `${error.message}: ${reason}`,
    hint: "the write did not happen: try again",
    conflicts: []
  })

/** One commit of a unit, built again for each snapshot that wins a race. */
export const commitUnit = (parts: CommitParts, unit: Unit): Effect.Effect<UnitOutcome, WriteError> =>
  Effect.gen(function* () {
    const { branch, cache, options, presence, reads, remote } = parts
    const { edit } = yield* edits
    const { verify } = yield* verification
    const started = yield* Monotonic.millis
    const limit = Duration.toMillis(options.deadline)
    const conflicts = Judgement.noConflicts(unit.retries ?? options.conflictRetries)
    for (let attempt = 0; ; attempt++) {
      // Where one call builds more than once, the earlier builds stood on a guess: nobody raced them.
      const { counted, seen } = conflicts
      const build = (source: RemoteSnapshot) =>
        Effect.gen(function* () {
          Object.assign(conflicts, { counted, seen })
          const snapshot = makeSnapshot(source, {
            reads,
            cache: { files: cache, of: "branch" },
            branch: presence
          })
          const made = unit.of === undefined ? Option.some(unit) : yield* unit.of(snapshot)
          if (Option.isNone(made)) return { commit: Option.none(), result: undefined }
          const result = yield* edit(parts, made.value, snapshot, conflicts)
          return {
            commit: result.commit,
            result,
            verify: (commit) =>
              verify(
                { ...parts, commitUnit: (other) => commitUnit(parts, other) },
                made.value,
                result,
                commit
              )
          } satisfies Edited<EditedUnit | undefined, WriteError>
        })
      const answer = yield* Effect.either(remote.commitNext(branch, build))
      if (answer._tag === "Right") {
        const { committed, result } = answer.right
        if (result === undefined) return { committed: Option.none(), documents: [] }
        if (Option.isSome(committed)) result.committed(committed.value)
        return {
          committed,
          documents: result.outcome(Option.isSome(committed) ? committed.value.blobs : new Map())
        }
      }
      if (answer.left._tag !== "RefMoved") return yield* answer.left
      if (unit.mode === "batch" && attempt >= (unit.retries ?? options.batchRetries)) {
        return yield* stuck(unit, answer.left, `the branch moved ${attempt + 1} times during the write`)
      }
      yield* pause(attempt)
      if ((yield* Monotonic.millis) - started >= limit) {
        return yield* stuck(unit, answer.left, "the branch kept moving until the deadline")
      }
    }
  })

/** Of a commit of more documents the versions are kept only where reading one takes a request: many would push out what is in use. */
const mostKept = 100

/** The next reader or writer of a document begins with the version that was written. */
const keep = ({ cache, remote }: CommitParts, { documents }: UnitOutcome) =>
  documents.length <= mostKept || takesRequests(remote)
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

/** The way every write takes: see `WriteUnit.ts`. */
export const make =
  (parts: CommitParts) =>
  (unit: Unit): Effect.Effect<UnitOutcome, WriteError> =>
    Effect.suspend(() => {
      if (parts.options.readOnly || parts.isPinned) return refusal(unit.operation)
      const wrong = Judgement.unitProblem(unit)
      if (wrong !== undefined) return wrong
      return Effect.tap(commitUnit(parts, unit), (outcome) =>
        Effect.zipRight(
          keep(parts, outcome),
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

import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { RefMoved } from "../../domain/Ref.js"
import { ConflictError, type WriteError } from "../../domain/StoreError.js"
import { type EditParts, edit, wantsOf } from "./DocumentEdit.js"
import type { FileCache } from "./FileCache.js"
import * as Judgement from "./Judgement.js"
import { type ReadSet, type Snapshot, snapshotAt } from "./Snapshot.js"
import type { Unit, UnitOutcome } from "./WriteUnit.js"

/** What commits are made with. */
export interface CommitParts extends EditParts {
  readonly branch: string
  /** The versions of the branch's files that reads begin with. */
  readonly cache: FileCache
  readonly requireBranch: Effect.Effect<void, WriteError>
  /** The branch as it is now, by its name; with `assume` an edit may be given what was expected or seen lately. */
  readonly now: (options: { readonly assume: boolean }) => Snapshot
  /** What the documents of the edits are noted in. */
  readonly reads: ReadSet | undefined
  readonly isPinned: boolean
}

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

/** One commit of a unit on the branch's head, built again for each head that wins a race. */
export const commitOn = (parts: CommitParts, unit: Unit): Effect.Effect<UnitOutcome, WriteError> =>
  Effect.gen(function* () {
    const { branch, options, remote } = parts
    const started = yield* Clock.currentTimeMillis
    const limit = Duration.toMillis(options.deadline)
    const conflicts = Judgement.noConflicts(unit.retries ?? options.conflictRetries)
    for (let attempt = 0; ; attempt++) {
      // Where one call builds more than once, the earlier builds stood on a guess: nobody raced them.
      const { counted, seen } = conflicts
      const answer = yield* Effect.either(
        remote.commitNext(
          branch,
          (head) =>
            Effect.gen(function* () {
              if (Option.isNone(head)) yield* parts.requireBranch
              Object.assign(conflicts, { counted, seen })
              const snapshot = snapshotAt(remote, head, { reads: parts.reads })
              const result = Option.getOrThrow(yield* edit(parts, unit, snapshot, conflicts))
              return { commit: result.commit, result }
            }),
          wantsOf(parts, unit)
        )
      )
      if (answer._tag === "Right") {
        const { committed, result } = answer.right
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
      if ((yield* Clock.currentTimeMillis) - started >= limit) {
        return yield* stuck(unit, answer.left, "the branch kept moving until the deadline")
      }
    }
  })

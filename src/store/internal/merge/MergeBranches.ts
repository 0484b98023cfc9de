import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import {
  ConflictError,
  type DocumentConflict,
  type Unmerged,
  ValidationError,
  type WriteError
} from "../../../domain/errors/StoreError.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import * as Monotonic from "../../../domain/time/MonotonicClock.js"
import { branchError } from "../../../git/Names.js"
import type { Merged, MergeOptions } from "../../Branches.js"
import type { Head } from "../../remote/GitRemote.js"
import type { StoreService } from "../../StoreService.js"
import { readOnlyError } from "../commit/Commit.js"
import type { StoreCore } from "../commit/StoreCore.js"
import type { Snapshot } from "../snapshot/Snapshot.js"
import { fastForward } from "../transaction/Publish.js"
import { changesBetween } from "../write/ChangedDocuments.js"
import { checkMergeOptions } from "./BranchArguments.js"
import { branchHead, headNamed } from "./Branches.js"
import { isOfMode, mergeEdit } from "./MergeEdit.js"
import { mergeContext } from "./MergeItems.js"
import { type MergePlan, type MergeRequest, planMerge } from "./MergePlan.js"
import { makeResolutions, type Resolutions } from "./MergeResolutions.js"
import { makePreview } from "./Preview.js"

const operation = "Store.merge"

/** The number of conflicts that a message names. */
const maxNamed = 5

/** The error that lists all conflicts. */
export const unmergedError = (unmerged: ReadonlyArray<Unmerged>): ConflictError => {
  const told = unmerged.slice(0, maxNamed).map(({ problem }) => problem)
  const rest = unmerged.length - told.length
  return new ConflictError({
    operation,
    message: `the branches do not merge by themselves: ${told.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`,
    hint: 'nothing was written: change one of the branches, or merge with onConflict (--on-conflict): "ours", "theirs" or a function',
    conflicts: unmerged.flatMap((one): ReadonlyArray<DocumentConflict> => {
      if (one.kind === "file" || one.kind === "setting") return []
      const { collection, id, ours, theirs } = one
      const shown = (document: JsonObject | undefined) => (document === undefined ? null : { document })
      return [{ collection, id, expected: shown(theirs), actual: shown(ours) }]
    }),
    unmerged
  })
}

const inside = new ValidationError({
  operation,
  message: "a transaction cannot merge branches: its commits may have to be made again on another head",
  hint: "merge before the transaction or after it"
})

const kindOf = (before: unknown, after: unknown) =>
  before === undefined ? "added" : after === undefined ? "removed" : "changed"

const nothing: Merged = {
  kind: "upToDate",
  commitSha: Option.none(),
  documents: [],
  files: [],
  conflicts: []
}

/** The result of a plan: what it changes on the target branch. */
const mergeResult = (
  core: StoreCore,
  plan: MergePlan,
  theirs: Head,
  commitSha: Option.Option<string>
): Effect.Effect<Merged, WriteError> =>
  Effect.gen(function* () {
    if (plan.kind === "upToDate") return nothing
    if (plan.kind === "merge") {
      return {
        kind: "merge",
        commitSha,
        documents: plan.changes.flatMap((change) =>
          change.document === undefined || isOfMode(change)
            ? []
            : [{ ...change.document, kind: kindOf(change.before, change.after) }]
        ),
        files: plan.changes.flatMap((change) =>
          change.document === undefined || isOfMode(change) ? [change.path] : []
        ),
        conflicts: plan.decided
      } satisfies Merged
    }
    const { documents, modes, others } = yield* changesBetween(core, Option.some(plan.ours), theirs)
    return {
      kind: "fastForward",
      commitSha,
      documents: documents.map(({ after, before, collection, id }) => ({
        collection,
        id,
        kind: kindOf(before, after)
      })),
      files: [...others, ...modes.map(({ after }) => after!.path)],
      conflicts: []
    } satisfies Merged
  })

/** Hooks of a merge, for the merge of a proposal. */
export interface MergeHooks {
  /** Fails if the commit must not be merged into this head. */
  readonly checkHead?: ((ours: Head) => Effect.Effect<void, WriteError>) | undefined
  /** Runs once, after the merge is known to have no conflicts, and without holding a lock of a branch. */
  readonly beforeWrite?: Effect.Effect<void, WriteError> | undefined
  /** The resolutions of an earlier merge of the same sides, used instead of `onConflict`. */
  readonly resolutions?: Resolutions | undefined
  /** Whether that merge went in the opposite direction: its `ours` and `theirs` apply. */
  readonly isSwapped?: boolean | undefined
}

/** Merges over a core; `open` makes a store of a core. */
export const makeMerge =
  (
    core: StoreCore,
    open: (core: StoreCore) => StoreService,
    { beforeWrite, isSwapped = false, checkHead, resolutions: told }: MergeHooks = {}
  ): StoreService["merge"] =>
  (from: string, options: MergeOptions = {}) =>
    Effect.gen(function* () {
      yield* checkMergeOptions(operation, options)
      if (core.transaction !== undefined) return yield* inside
      const wrong = options.into === undefined ? undefined : branchError(operation, options.into)
      if (wrong !== undefined) return yield* wrong
      const target =
        options.into === undefined || options.into === core.branch ? core : core.onBranch(options.into)
      const isDry = options.dryRun === true
      if (!isDry && (target.options.readOnly || target.isPinned)) return yield* readOnlyError(operation)
      const theirs = yield* headNamed(core, operation, from)
      const merging = mergeContext(
        [...(core.options.collections ?? []), ...(options.collections ?? [])],
        options.rules
      )
      const resolutions = told ?? makeResolutions(options.onConflict)
      const request: MergeRequest = { theirs, merging, options, resolutions, isSwapped }
      const text = {
        operation,
        message: options.message ?? `merge ${from} into ${target.branch}`,
        author: options.author
      }
      if (isDry) return yield* preview(target, request, open)

      const started = yield* Monotonic.millis
      const isLate = Effect.map(
        Monotonic.millis,
        (now) => now - started >= Duration.toMillis(target.options.deadline)
      )
      let isBegun = beforeWrite === undefined
      for (let attempt = 0; ; attempt++) {
        let plan: MergePlan = { kind: "upToDate" }
        const build = (snapshot: Snapshot) =>
          Effect.gen(function* () {
            const ours = yield* branchHead(target, operation, snapshot)
            if (checkHead !== undefined) yield* checkHead(ours)
            plan = yield* planMerge(target, snapshot, ours, request)
            if (plan.kind !== "merge" || resolutions.isOpen()) return Option.none()
            if (plan.unmerged.length > 0) return yield* unmergedError(plan.unmerged)
            if (!isBegun) return Option.none()
            return Option.some(yield* mergeEdit(target, snapshot, plan, theirs, text))
          })
        const { committed } = yield* target.write({ ...text, mode: "batch", plan: build })
        const done = plan as MergePlan
        if (yield* resolutions.askOpen) {
          if (done.kind === "merge" && (yield* isLate)) return yield* unmergedError(done.unmerged)
          continue
        }
        if (beforeWrite !== undefined && !isBegun && done.kind === "merge") {
          yield* beforeWrite
          isBegun = true
          continue
        }
        if (done.kind !== "fastForward") {
          const commitSha = Option.map(committed, ({ commit }) => commit as string)
          return yield* mergeResult(target, done, theirs, commitSha)
        }
        const isMoved = yield* Effect.catchTag(
          target.branchLocks.shared(target.branch, fastForward(target, done.ours, theirs)),
          "RefMoved",
          () => Effect.succeed(false)
        )
        if (isMoved) return yield* mergeResult(target, done, theirs, Option.some(theirs.commit as string))
        if (attempt >= target.options.batchRetries || (yield* isLate)) {
          return yield* new ConflictError({
            operation,
            message: `the branch ${target.branch} moved ${attempt + 1} times during the merge`,
            hint: "the merge did not happen: try again",
            conflicts: []
          })
        }
      }
    })

/** The result that a merge would have, checked like a write, with the conflicts that would prevent it. */
const preview = (
  target: StoreCore,
  request: MergeRequest,
  open: (core: StoreCore) => StoreService
): Effect.Effect<Merged, WriteError> =>
  Effect.gen(function* () {
    const snapshot = target.snapshot()
    const ours = yield* branchHead(target, operation, snapshot)
    let plan = yield* planMerge(target, snapshot, ours, request)
    while (yield* request.resolutions.askOpen) plan = yield* planMerge(target, snapshot, ours, request)
    const found = yield* mergeResult(target, plan, request.theirs, Option.none())
    if (plan.kind !== "merge") return found
    if (plan.unmerged.length === 0 && !target.options.readOnly && !target.isPinned) {
      const { into: _, ...options } = request.options
      yield* makePreview(
        target,
        open
      )((store) => store.merge(request.theirs.commit, { ...options, dryRun: false }))
    }
    return { ...found, conflicts: plan.unmerged }
  })

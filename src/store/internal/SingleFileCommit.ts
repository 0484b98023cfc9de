import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Oid } from "../../domain/Oid.js"
import {
  AmbiguousWriteError,
  ConflictError,
  NotFoundError,
  type WriteError
} from "../../domain/StoreError.js"
import { documentPath } from "../DocumentPath.js"
import type { Change, CommitText, FileCommitted, SingleFile } from "../remote/GitRemote.js"
import { type CommitParts, commitOn } from "./BranchCommit.js"
import { treeOf } from "./Derived.js"
import { toItsEnd } from "./Detached.js"
import { type Edited, edit } from "./DocumentEdit.js"
import { conflict, describe, noConflicts } from "./Judgement.js"
import type { RootFiles } from "./RepositorySettings.js"
import { type Snapshot, snapshotAt, snapshotOf } from "./Snapshot.js"
import { versionOf } from "./Versions.js"
import type { DocumentOperation, Unit, UnitOutcome } from "./WriteUnit.js"

/** One file that is to be written, and what the write took for granted. */
interface Write {
  readonly operation: DocumentOperation
  readonly edited: Edited
  readonly change: Change
  /** The blob that the edit saw at the file's path. */
  readonly expected: Option.Option<Oid>
  readonly settings: RootFiles
  readonly text: CommitText
}

const send = (short: SingleFile, branch: string, { change, expected, text }: Write) =>
  change._tag === "Put"
    ? short.put(branch, change.path, change.content, expected, text)
    : Option.match(expected, {
        onNone: () => Effect.dieMessage(`${change.path} is to be removed and was not seen`),
        onSome: (oid) => short.delete(branch, change.path, oid, text)
      })

const ambiguous = (unit: Unit, { change, operation }: Write, made: FileCommitted, cause: WriteError) =>
  new AmbiguousWriteError({
    operation: unit.operation,
    collection: operation.collection,
    id: operation.id,
    path: change.path,
    message: `${change.path} was written in ${made.commit}, but whether the repository's settings still put it there could not be settled: ${cause.message}`,
    hint: "read the document before writing it again",
    cause
  })

/** Brings index and manifest files up to a commit that wrote one document without them, if its settings want any. */
const complete = (
  parts: CommitParts,
  unit: Unit,
  { edited, operation }: Write,
  made: FileCommitted,
  at: Snapshot
) =>
  Effect.gen(function* () {
    const { collection, id } = operation
    const { derived, remote, repository } = parts
    const settings = yield* repository.of(at)
    const files = yield* derived.filesOf(at, settings, collection)
    if (files.indexes.size === 0 && files.manifest === undefined) return
    const parent = made.parents?.[0]
    const before = parent === undefined ? snapshotAt(remote, Option.none()) : snapshotOf(remote, parent)
    const since = {
      before: made.parents === undefined ? undefined : treeOf(yield* repository.of(before), collection),
      after: treeOf(settings, collection)
    }
    const document = edited.outcomes[0]?.after?.document
    yield* commitOn(parts, {
      operation: unit.operation,
      message: `reindex ${collection}`,
      mode: "document",
      operations: [],
      behind: [{ collection, documents: [{ id, document }], changes: [], rebuild: false, since }]
    })
  })

/**
 * Whether the file lies where the settings of its commit want it. They were taken for granted, and the one request that
 * writes a file does not look at them. Where another client changed them meanwhile, a second commit completes the
 * write, or takes it back.
 */
const stays = (
  parts: CommitParts,
  short: SingleFile,
  unit: Unit,
  write: Write,
  made: FileCommitted
): Effect.Effect<boolean, WriteError> =>
  Effect.gen(function* () {
    const { branch, options, repository } = parts
    const { change, edited, operation } = write
    const at = Option.getOrUndefined(yield* repository.changedAt(made, write.settings))
    if (at === undefined) return true
    const { frozen, mismatch, settings } = yield* repository.of(at)
    const place = documentPath(options.root, settings, operation.collection, operation.id)
    if (frozen === undefined && mismatch === undefined && place === change.path) {
      yield* complete(parts, unit, write, made, at)
      return true
    }
    const text = {
      message: `Take ${change.path} back: the repository's settings have changed`,
      author: options.author,
      committer: options.committer
    }
    const before = edited.outcomes[0]?.before
    const back =
      before !== undefined && Option.isSome(before)
        ? short.put(branch, change.path, before.value.content, made.blob, text)
        : Option.isSome(made.blob)
          ? short.delete(branch, change.path, made.blob.value, text)
          : Effect.void
    yield* Effect.catchTag(back, "ConflictError", () => Effect.void)
    return false
  })

/** Once written, a file is seen to stay or taken back (none), even where nobody waits for it any longer. */
const settled = (parts: CommitParts, short: SingleFile, unit: Unit, write: Write) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(restore(send(short, parts.branch, write)), (made) =>
      Effect.matchEffect(toItsEnd(stays(parts, short, unit, write, made)), {
        onFailure: (error) => Effect.fail(ambiguous(unit, write, made, error)),
        onSuccess: (stayed) => Effect.succeed(stayed ? Option.some(made) : Option.none())
      })
    )
  )

/** What became of one try: none is left to the way of whole commits. */
type Attempt =
  | { readonly done: Option.Option<UnitOutcome>; readonly refused?: never }
  /** `assumed`: it stood on what was taken for granted, and says nothing yet. */
  | {
      readonly done?: never
      readonly refused: { readonly edited: Edited | undefined; readonly assumed: boolean }
    }

const attempt = (
  parts: CommitParts,
  short: SingleFile,
  unit: Unit,
  operation: DocumentOperation,
  assume: boolean
): Effect.Effect<Attempt, WriteError> =>
  Effect.gen(function* () {
    const snapshot = parts.now({ assume })
    const built = yield* Effect.either(edit(parts, unit, snapshot, noConflicts(0)))
    const assumed = snapshot.assumed.size > 0
    if (built._tag === "Left") {
      return assumed ? { refused: { edited: undefined, assumed } } : yield* built.left
    }
    if (Option.isNone(built.right)) return { done: Option.none() }
    const edited = built.right.value
    if (Option.isNone(edited.commit)) {
      if (assumed) return { refused: { edited, assumed } }
      return { done: Option.some({ committed: Option.none(), documents: edited.outcome(new Map()) }) }
    }
    const { changes, ...text } = edited.commit.value
    const [change] = changes
    if (
      change === undefined ||
      changes.length > 1 ||
      (change._tag === "Put" && change.content.length > short.maxBytes)
    ) {
      return { done: Option.none() }
    }
    const written = yield* Effect.either(
      settled(parts, short, unit, {
        operation,
        edited,
        change,
        expected: Option.flatMap(Option.fromNullable(edited.outcomes[0]), ({ before }) =>
          Option.map(before, ({ oid }) => oid)
        ),
        settings: edited.settings.rootFiles,
        text
      })
    )
    if (written._tag === "Right") {
      return {
        done: Option.map(written.right, ({ blob, commit }) => ({
          committed: Option.some({ commit }),
          documents: edited.outcome(new Map(Option.isSome(blob) ? [[change.path, blob.value]] : []))
        }))
      }
    }
    const error = written.left
    const vanished = error instanceof NotFoundError && error.status === 201 && operation.needs === "any"
    if (!vanished && !(error instanceof ConflictError)) return yield* error
    return { refused: { edited, assumed } }
  })

/** Whether a unit writes one document on no condition but its own. */
const single = (unit: Unit): DocumentOperation | undefined =>
  unit.operations.length === 1 &&
  unit.mode === "document" &&
  (unit.expectations ?? []).length === 0 &&
  unit.reindex === undefined
    ? unit.operations[0]
    : undefined

/**
 * Writes one document by the remote's single-file short cut, with the document's blob as precondition. None where
 * that way is not open: a collection with index or manifest files, a file that is too large.
 */
export const commitSingleFile = (
  parts: CommitParts,
  unit: Unit
): Effect.Effect<Option.Option<UnitOutcome>, WriteError> => {
  const { branch, options, remote } = parts
  const operation = single(unit)
  const short = Option.getOrUndefined(remote.singleFile)
  if (operation === undefined || short === undefined) return Effect.succeedNone
  const { indexes, manifests } = options.given
  const { collection, id } = operation
  if ((indexes?.get(collection) ?? []).length > 0 || manifests?.has(collection) === true)
    return Effect.succeedNone
  return Effect.gen(function* () {
    let assume = true
    for (let conflicts = 0; ; ) {
      const { done, refused } = yield* attempt(parts, short, unit, operation, assume)
      if (refused === undefined) return done
      assume = false
      if (refused.assumed) continue
      conflicts += 1
      if (conflicts <= (unit.retries ?? options.conflictRetries)) continue
      const [last] = refused.edited?.outcomes ?? []
      const actual =
        last === undefined
          ? Option.none()
          : yield* Effect.orElseSucceed(parts.now({ assume }).file(last.path, { fresh: true }), Option.none)
      const version =
        last !== undefined && Option.isSome(actual) ? versionOf(last.path, actual.value) : undefined
      const expected = last === undefined ? undefined : Option.getOrUndefined(last.before)
      return yield* conflict(
        unit,
        `${collection}/${id} changed ${conflicts} times during the write`,
        [{ collection, id, expected: describe(expected), actual: describe(version) }],
        "read the document again and decide anew"
      )
    }
  }).pipe(short.exclusively(branch))
}

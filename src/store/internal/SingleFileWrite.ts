import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Oid } from "../../domain/Oid.js"
import {
  AmbiguousWriteError,
  ConflictError,
  NotFoundError,
  type WriteError
} from "../../domain/StoreError.js"
import * as Timestamp from "../../domain/Timestamp.js"
import { documentPath } from "../DocumentPath.js"
import * as GitObject from "../GitObject.js"
import type { FileCommitted, SingleFile } from "../GitRemote.js"
import { toItsEnd } from "./Detached.js"
import { conflict, describe, outcomeOf, type Prepared, prepareOne } from "./Judgement.js"
import type { Parts } from "./Parts.js"
import type { Learnt } from "./RepositorySettings.js"
import { recall } from "./Source.js"
import { versionOf } from "./Versions.js"
import {
  type DocumentOperation,
  messageOf,
  type StoredVersion,
  type Unit,
  type UnitOutcome
} from "./WriteUnit.js"

/** The settings, when the repository needs nothing but the document's own file to be written. */
const alone = (parts: Parts, collection: string) =>
  Effect.map(
    parts.repository.alone(collection),
    Option.filter(({ settings }) => settings.frozen === undefined && !settings.unrecorded)
  )

interface Base {
  readonly version: StoredVersion | undefined
  /** From a cache: good enough to write on with its id as precondition, never to refuse. */
  readonly guess: boolean
}

const baseOf = (parts: Parts, operation: DocumentOperation, path: string, look: boolean) =>
  Effect.gen(function* () {
    if (operation.needs === "absent") return { version: undefined, guess: false } satisfies Base
    const known = look ? Option.none() : yield* recall(parts.source, path)
    if (Option.isSome(known)) return { version: versionOf(path, known.value), guess: true } satisfies Base
    if (!look && operation.needs === "any" && parts.source.wasAbsent(path)) {
      return { version: undefined, guess: true } satisfies Base
    }
    const file = yield* parts.source.file(path)
    return {
      version: Option.isSome(file) ? versionOf(path, file.value) : undefined,
      guess: false
    } satisfies Base
  })

interface Made {
  readonly operation: DocumentOperation
  readonly by: Learnt
  readonly path: string
  readonly before: StoredVersion | undefined
  readonly after: Prepared["after"]
  readonly committed: FileCommitted
}

type SettingsAtCommit = Option.Option.Value<
  Effect.Effect.Success<ReturnType<Parts["repository"]["changedAt"]>>
>

const ambiguous = (unit: Unit, { committed, operation, path }: Made, cause: WriteError) =>
  new AmbiguousWriteError({
    operation: unit.operation,
    collection: operation.collection,
    id: operation.id,
    path,
    message: `${path} was written in ${committed.commit}, but whether the repository's settings still put it there could not be settled: ${cause.message}`,
    hint: "read the document before writing it again",
    cause
  })

/** Makes a commit the long way. */
type CommitWrite = (unit: Unit) => Effect.Effect<UnitOutcome, WriteError>

/** Brings index and manifest files up to a commit that wrote one document without them, if its settings want any. */
const complete = (parts: Parts, commitWrite: CommitWrite, unit: Unit, made: Made, at: SettingsAtCommit) =>
  Effect.gen(function* () {
    const { after, committed, operation } = made
    const { collection, id } = operation
    const { derived } = parts
    const files = yield* derived.filesOf(Option.some(at.head), at.settings, collection)
    if (files.indexes.size === 0 && files.manifest === undefined) return
    const parents = committed.parents
    const since = {
      before:
        parents === undefined
          ? undefined
          : yield* derived.treeOf(Option.fromNullable(parents[0]), collection),
      after: yield* derived.treeOf(Option.some(at.head), collection)
    }
    yield* commitWrite({
      operation: unit.operation,
      message: `reindex ${collection}`,
      mode: "document",
      operations: [],
      behind: [
        { collection, documents: [{ id, document: after?.document }], changes: [], rebuild: false, since }
      ]
    })
  })

/**
 * Whether the file lies where the settings of its commit want it. They were believed, and the one request that writes
 * a file does not look at them. Where another client changed them meanwhile, a second commit completes the write, or
 * takes it back.
 */
const stays = (
  parts: Parts,
  short: SingleFile,
  commitWrite: CommitWrite,
  unit: Unit,
  made: Made
): Effect.Effect<boolean, WriteError> =>
  Effect.gen(function* () {
    const { before, by, committed, operation, path } = made
    const { branch, options, repository } = parts
    const at = Option.getOrUndefined(yield* repository.changedAt(committed, by))
    if (at === undefined) return true
    const changed = at.settings
    const place = documentPath(options.root, changed.settings, operation.collection, operation.id)
    if (changed.frozen === undefined && changed.mismatch === undefined && place === path) {
      yield* complete(parts, commitWrite, unit, made, at)
      return true
    }
    const text = {
      message: `Take ${path} back: the repository's settings have changed`,
      author: options.author,
      committer: options.committer
    }
    const back =
      before !== undefined
        ? short.put(branch, path, before.content, committed.blob, text)
        : Option.isSome(committed.blob)
          ? short.delete(branch, path, committed.blob.value, text)
          : Effect.void
    yield* Effect.catchTag(back, "ConflictError", () => Effect.void)
    return false
  })

/** Once written, a file is seen to stay or taken back (none), even where nobody waits for it any longer. */
const settled = (
  parts: Parts,
  short: SingleFile,
  commitWrite: CommitWrite,
  unit: Unit,
  place: Omit<Made, "committed">,
  write: ReturnType<SingleFile["put"]>
): Effect.Effect<Option.Option<FileCommitted>, WriteError> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(restore(write), (committed) => {
      const made = { ...place, committed }
      return Effect.matchEffect(toItsEnd(stays(parts, short, commitWrite, unit, made)), {
        onFailure: (error) => Effect.fail(ambiguous(unit, made, error)),
        onSuccess: (stayed) => Effect.succeed(stayed ? Option.some(committed) : Option.none())
      })
    })
  )

/**
 * Writes one document by the remote's single-file short cut, with the document's blob as precondition. None where
 * that way is not open: no such remote, a collection with index or manifest files, a file that is too large.
 */
export const singleFileWrite = (
  parts: Parts,
  unit: Unit,
  commitWrite: CommitWrite
): Effect.Effect<Option.Option<UnitOutcome>, WriteError> => {
  const { options, remote } = parts
  const [operation, ...more] = unit.operations
  const open =
    remote.singleFile._tag === "Some" &&
    operation !== undefined &&
    more.length === 0 &&
    unit.mode === "document" &&
    (unit.expectations ?? []).length === 0 &&
    unit.reindex === undefined
  if (!open) return Effect.succeedNone
  return Effect.flatMap(alone(parts, operation.collection), (settings) =>
    Option.isNone(settings)
      ? Effect.succeedNone
      : attempts(
          parts,
          unit,
          operation,
          Option.getOrThrow(remote.singleFile),
          commitWrite,
          settings.value,
          options.conflictRetries
        )
  )
}

interface Refused {
  readonly prepared: Prepared
  readonly before: StoredVersion | undefined
  readonly blob: Oid
}

const outcomeBy = (prepared: Prepared, { blob, commit }: FileCommitted): UnitOutcome => ({
  committed: Option.some({ commit }),
  documents: [outcomeOf(prepared, Option.getOrUndefined(blob))]
})

const attempts = (
  parts: Parts,
  unit: Unit,
  operation: DocumentOperation,
  short: SingleFile,
  commitWrite: CommitWrite,
  by: Learnt,
  retries: number
): Effect.Effect<Option.Option<UnitOutcome>, WriteError> =>
  Effect.gen(function* () {
    const { branch, options, source } = parts
    const { settings } = by.settings
    const { collection, id } = operation
    const path = documentPath(options.root, settings, collection, id)
    const allowed = unit.retries ?? retries
    let look = false
    let refused: Refused | undefined
    /** What was refused may lie there all the same: a proxy may deliver one request twice. */
    const afterAll = (version: StoredVersion | undefined) =>
      Effect.gen(function* () {
        if (refused === undefined || version?.oid !== refused.blob || short.ours === undefined)
          return undefined
        const made = yield* short.ours(branch, path, refused.blob)
        if (Option.isNone(made)) return undefined
        const place = { operation, by, path, before: refused.before, after: refused.prepared.after }
        const stood = yield* settled(parts, short, commitWrite, unit, place, Effect.succeed(made.value))
        return Option.map(stood, (committed) => outcomeBy(refused!.prepared, committed))
      })
    for (let conflicts = 0; ; ) {
      const base = yield* baseOf(parts, operation, path, look)
      const done = yield* afterAll(base.guess ? undefined : base.version)
      if (done !== undefined) return done
      const now = new Date(yield* Timestamp.now(unit.operation)).toISOString()
      const prepared = yield* Effect.either(
        prepareOne(options.root, settings, unit, operation, base.version, now)
      )
      if (prepared._tag === "Left") {
        if (!base.guess) return yield* prepared.left
        look = true
        continue
      }
      const { after, change } = prepared.right
      if (change === undefined && base.guess) {
        look = true
        continue
      }
      if (change === undefined) {
        return Option.some({ committed: Option.none(), documents: [outcomeOf(prepared.right, undefined)] })
      }
      if (after !== undefined && after.content.length > short.maxBytes) return Option.none()
      const text = {
        message: messageOf(unit, [prepared.right.before]),
        author: options.author,
        committer: options.committer
      }
      const expected: Option.Option<Oid> = Option.fromNullable(base.version?.oid)
      const write =
        after === undefined
          ? short.delete(branch, path, base.version!.oid, text)
          : short.put(branch, path, after.content, expected, text)
      const written = yield* Effect.either(
        settled(parts, short, commitWrite, unit, { operation, by, path, before: base.version, after }, write)
      )
      if (written._tag === "Right") {
        return Option.map(written.right, (committed) => outcomeBy(prepared.right, committed))
      }
      const vanished =
        written.left instanceof NotFoundError && written.left.status === 201 && operation.needs === "any"
      if (!vanished && !(written.left instanceof ConflictError)) return yield* written.left
      look = true
      if (after !== undefined) {
        refused = {
          prepared: prepared.right,
          before: base.version,
          blob: GitObject.hash("blob", after.content)
        }
      }
      if (base.guess) continue
      conflicts += 1
      if (operation.needs !== "absent" && conflicts <= allowed) continue
      const actual = yield* Effect.orElseSucceed(source.file(path, { fresh: true }), Option.none)
      const version = Option.isSome(actual) ? versionOf(path, actual.value) : undefined
      const late = yield* afterAll(version)
      if (late !== undefined) return late
      return yield* conflict(
        unit,
        operation.needs === "absent"
          ? `${collection}/${id} exists already`
          : `${collection}/${id} changed ${conflicts} times during the write`,
        [{ collection, id, expected: describe(base.version), actual: describe(version) }],
        operation.needs === "absent"
          ? "use update, replace or upsert to write an existing document"
          : "read the document again and decide anew"
      )
    }
  })

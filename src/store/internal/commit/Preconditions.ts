import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Steps from "../../../domain/concurrency/Steps.js"
import type { StoredDocument } from "../../../domain/document/Document.js"
import {
  ConflictError,
  type DocumentConflict,
  type DocumentVersion,
  NotFoundError,
  ValidationError,
  type WriteError
} from "../../../domain/errors/StoreError.js"
import { collectionNameProblem } from "../../../domain/identifiers/CollectionName.js"
import { idProblem } from "../../../domain/identifiers/DocumentId.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { parseObjectSliced } from "../../../domain/json/JsonText.js"
import { type LosslessObject, parseLosslessOrEmptySteps } from "../../../domain/json/LosslessJson.js"
import type { Settings } from "../../../domain/settings/Settings.js"
import { documentPath, placeProblem } from "../../DocumentPath.js"
import type { Change } from "../../remote/GitRemote.js"
import {
  type DocumentEdit,
  type DocumentOperation,
  nameOfDocument,
  type OperationOutcome,
  type Precondition,
  type StoredVersion
} from "./DocumentEdit.js"
import { type DocumentPlace, readDocument, withMetadata, writeVersion } from "./VersionCodec.js"

/** One operation as it will be committed. `change` is absent where nothing changes. */
export interface PreparedOperation {
  readonly collection: string
  readonly id: string
  readonly path: string
  readonly before: Option.Option<StoredVersion>
  readonly after:
    | {
        readonly document: StoredDocument
        readonly content: Uint8Array
        /** Of bytes that another program may have written: with its numbers as they are spelled. */
        readonly spelled?: LosslessObject | undefined
      }
    | undefined
  readonly change: Change | undefined
  /** As of `NextVersion`. */
  readonly isMerged?: boolean | undefined
}

/** What the touched documents were when the unit was last built, and how often somebody changed one of them since. */
export interface ConflictCount {
  readonly allowed: number
  counted: number
  seen: ReadonlyMap<string, StoredVersion> | undefined
}

type Stored = ReadonlyMap<string, StoredVersion>

export const newConflictCount = (allowed: number): ConflictCount => ({ allowed, counted: 0, seen: undefined })

/** A version as errors show it. */
export const describeVersion = (version: StoredVersion | undefined): DocumentVersion | null =>
  version === undefined
    ? null
    : { rev: version.rev, sha: version.oid, document: Option.getOrUndefined(version.document) }

/** What is wrong with a unit before anything is read. */
export const editProblem = (unit: DocumentEdit): ValidationError | undefined => {
  if (typeof unit.message === "string" && unit.message.includes("\0")) {
    return new ValidationError({
      operation: unit.operation,
      message: "the message of a commit cannot hold a NUL character",
      hint: "Git ends a message there: leave it out"
    })
  }
  for (const { collection, id } of [...unit.operations, ...(unit.preconditions ?? [])]) {
    const problem = collectionNameProblem(collection) ?? idProblem(id)
    if (problem !== undefined) {
      return new ValidationError({
        operation: unit.operation,
        collection,
        id,
        message: `${JSON.stringify(collection)}, ${JSON.stringify(id)}: ${problem}`
      })
    }
  }
  return undefined
}

/** The error for documents that are not as expected. */
export const preconditionError = (
  unit: Pick<DocumentEdit, "operation">,
  message: string,
  conflicts: ReadonlyArray<DocumentConflict>,
  hint?: string
): ConflictError =>
  new ConflictError({
    operation: unit.operation,
    collection: conflicts[0]?.collection,
    id: conflicts[0]?.id,
    message,
    hint,
    conflicts
  })

/** In a unit that writes single documents, counts the documents that somebody changed since it was last built. */
export const countConflicts = (
  unit: DocumentEdit,
  conflicts: ConflictCount,
  stored: Stored
): Effect.Effect<void, ConflictError> =>
  Effect.suspend(() => {
    const seen = conflicts.seen
    conflicts.seen = stored
    if (seen === undefined || unit.mode === "batch") return Effect.void
    const changed = unit.operations.filter(
      (document) => seen.get(nameOfDocument(document))?.oid !== stored.get(nameOfDocument(document))?.oid
    )
    if (changed.length === 0) return Effect.void
    conflicts.counted += 1
    if (conflicts.counted <= conflicts.allowed) return Effect.void
    return preconditionError(
      unit,
      `${changed.map(nameOfDocument).join(", ")} changed ${conflicts.counted} times during the write`,
      changed.map((document) => ({
        collection: document.collection,
        id: document.id,
        expected: describeVersion(seen.get(nameOfDocument(document))),
        actual: describeVersion(stored.get(nameOfDocument(document)))
      })),
      "read the document again and decide anew"
    )
  })

/** Why a version is not as expected, if it is not. */
const preconditionProblem = (
  expected: Precondition,
  version: StoredVersion | undefined
): string | undefined => {
  if (expected.absent === true && version !== undefined) return "exists"
  if (expected.rev !== undefined && version?.rev !== expected.rev) {
    return version === undefined
      ? `is missing, expected revision ${expected.rev}`
      : `has revision ${version.rev}, expected ${expected.rev}`
  }
  if (expected.sha !== undefined && version?.oid !== expected.sha) {
    return version === undefined
      ? `is missing, expected version ${expected.sha.slice(0, 7)}`
      : `is version ${version.oid.slice(0, 7)}, expected ${expected.sha.slice(0, 7)}`
  }
  return undefined
}

const expectedVersion = ({ absent, rev, sha }: Precondition): DocumentVersion | null =>
  absent === true ? null : { rev, sha }

/** Judges one operation's needs and expectation against the version that it will replace. */
export const checkPrecondition = (
  unit: Pick<DocumentEdit, "operation">,
  { collection, precondition: expected, id, needs }: DocumentOperation,
  version: StoredVersion | undefined
): Effect.Effect<void, ConflictError | NotFoundError> => {
  const name = `${collection}/${id}`
  if (needs === "present" && version === undefined) {
    return new NotFoundError({ operation: unit.operation, collection, id, message: `${name} does not exist` })
  }
  if (needs === "absent" && version !== undefined) {
    return preconditionError(
      unit,
      `${name} exists already`,
      [{ collection, id, expected: null, actual: describeVersion(version) }],
      "use update, replace or upsert to write an existing document"
    )
  }
  const problem = expected === undefined ? undefined : preconditionProblem(expected, version)
  if (expected === undefined || problem === undefined) return Effect.void
  return preconditionError(
    unit,
    `${name} ${problem}`,
    [{ collection, id, expected: expectedVersion(expected), actual: describeVersion(version) }],
    "read the document again and decide anew"
  )
}

/** Judges every expectation of a unit at once, so that the error lists all documents in conflict. */
export const checkPreconditions = (
  unit: DocumentEdit,
  stored: Stored
): Effect.Effect<void, ConflictError> => {
  const broken = (unit.preconditions ?? []).flatMap(({ collection, expected, id }) => {
    const version = stored.get(nameOfDocument({ collection, id }))
    const problem = preconditionProblem(expected, version)
    return problem === undefined ? [] : [{ collection, id, expected, version, problem }]
  })
  if (broken.length === 0) return Effect.void
  return preconditionError(
    unit,
    broken.map(({ collection, id, problem }) => `${collection}/${id} ${problem}`).join("; "),
    broken.map(({ collection, expected, id, version }) => ({
      collection,
      id,
      expected: expectedVersion(expected),
      actual: describeVersion(version)
    })),
    "read the documents again and decide anew"
  )
}

/** The next version of one document, judged and in bytes. */
export const prepareOperation = (
  root: string,
  settings: Settings,
  unit: Pick<DocumentEdit, "operation">,
  operation: DocumentOperation,
  version: StoredVersion | undefined,
  now: string
): Effect.Effect<PreparedOperation, WriteError> =>
  Effect.gen(function* () {
    const { collection, id } = operation
    const path = documentPath(root, settings, collection, id)
    const place: DocumentPlace = { operation: unit.operation, collection, id, path }
    const wrong = placeProblem(settings, id)
    if (wrong !== undefined) {
      return yield* new ValidationError({ ...place, message: wrong, hint: 'shard by "hash" to allow any id' })
    }
    yield* checkPrecondition(unit, operation, version)
    const before = Option.fromNullable(version)
    const next = yield* operation.next(before, settings)
    if (next.content !== undefined) {
      const { content, file } = next
      const document = withMetadata(
        id,
        Either.getOrElse(yield* parseObjectSliced(content), () => ({}))
      )
      const after = {
        document,
        content,
        spelled: yield* Steps.run(() => parseLosslessOrEmptySteps(content))
      }
      const change: Change =
        file === undefined || file.mode === "100644"
          ? { _tag: "Put", path, content }
          : { _tag: "Link", path, ...file }
      return { collection, id, path, before, after, change }
    }
    if (Option.isNone(next.document)) {
      const change: Change | undefined = version === undefined ? undefined : { _tag: "Remove", path }
      return { collection, id, path, before, after: undefined, change }
    }
    if (next.unchanged === true && version !== undefined) {
      const document = yield* readDocument(place, version.content)
      return {
        collection,
        id,
        path,
        before,
        after: { document, content: version.content },
        change: undefined
      }
    }
    const after = yield* writeVersion(place, next.document.value, next, before, now)
    const change: Change = { _tag: "Put", path, content: after.content }
    return { collection, id, path, before, after, change, isMerged: next.isMerged }
  })

/** Every operation of a unit, judged and in bytes. */
export const prepareOperations = (
  root: string,
  settings: Settings,
  unit: DocumentEdit,
  stored: Stored,
  now: string
): Effect.Effect<ReadonlyArray<PreparedOperation>, WriteError> =>
  Effect.forEach(unit.operations, (operation) =>
    prepareOperation(root, settings, unit, operation, stored.get(nameOfDocument(operation)), now)
  )

/** What became of a prepared operation, once its blob is known. */
export const operationOutcome = (prepared: PreparedOperation, written: Oid | undefined): OperationOutcome => {
  const { after, before, change, collection, id, path } = prepared
  const kept = change === undefined ? Option.getOrUndefined(before)?.oid : undefined
  const sha = written ?? kept
  return {
    collection,
    id,
    path,
    before,
    after: after === undefined || sha === undefined ? Option.none() : Option.some({ ...after, sha })
  }
}

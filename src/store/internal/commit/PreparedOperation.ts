import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Steps from "../../../domain/concurrency/Steps.js"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import type { StoredDocument } from "../../../domain/document/Document.js"
import { ValidationError, type WriteError } from "../../../domain/errors/StoreError.js"
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
  type StoredVersion
} from "./DocumentEdit.js"
import { checkPrecondition, type StoredVersions } from "./Preconditions.js"
import { type DocumentPlace, readDocument, withMetadata, writeVersion } from "./VersionCodec.js"

/** An operation with the bytes that it writes. */
export interface PreparedOperation {
  readonly collection: string
  readonly id: string
  readonly path: string
  readonly before: Option.Option<StoredVersion>
  readonly after:
    | {
        readonly document: StoredDocument
        readonly content: Uint8Array
        /** For bytes that another program may have written: the document with its numbers as they are spelled. */
        readonly lossless?: LosslessObject | undefined
      }
    | undefined
  /** Undefined if the operation changes nothing. */
  readonly change: Change | undefined
  /** See `NextVersion.isMerged`. */
  readonly isMerged?: boolean | undefined
}

/** Checks the preconditions of an operation and computes the bytes that it writes. */
export const prepareOperation = (
  root: string,
  settings: Settings,
  edit: Pick<DocumentEdit, "operation">,
  operation: DocumentOperation,
  version: StoredVersion | undefined,
  now: string
): Effect.Effect<PreparedOperation, WriteError> =>
  Effect.gen(function* () {
    const { collection, id } = operation
    const path = documentPath(root, settings, collection, id)
    const place: DocumentPlace = { operation: edit.operation, collection, id, path }
    const wrong = placeProblem(settings, id)
    if (wrong !== undefined) {
      return yield* new ValidationError({ ...place, message: wrong, hint: 'shard by "hash" to allow any id' })
    }
    yield* checkPrecondition(edit.operation, operation, version)
    const before = Option.fromNullable(version)
    const common = { collection, id, path, before }
    const next = yield* operation.next(before, settings)
    if (next.content !== undefined) {
      const { content, file } = next
      const document = withMetadata(
        id,
        Either.getOrElse(yield* parseObjectSliced(content), () => ({}))
      )
      const lossless = yield* Steps.run(() => parseLosslessOrEmptySteps(content))
      const change: Change =
        file === undefined || file.mode === "100644"
          ? { _tag: "Put", path, content }
          : { _tag: "Link", path, ...file }
      return { ...common, after: { document, content, lossless }, change }
    }
    if (Option.isNone(next.document)) {
      const change: Change | undefined = version === undefined ? undefined : { _tag: "Remove", path }
      return { ...common, after: undefined, change }
    }
    if (next.unchanged === true && version !== undefined) {
      const { content } = version
      return {
        ...common,
        after: { document: yield* readDocument(place, content), content },
        change: undefined
      }
    }
    const after = yield* writeVersion(place, next.document.value, next, before, now)
    const change: Change = { _tag: "Put", path, content: after.content }
    return { ...common, after, change, isMerged: next.isMerged }
  })

/** Prepares every operation of an edit. */
export const prepareOperations = (
  root: string,
  settings: Settings,
  edit: DocumentEdit,
  stored: StoredVersions,
  now: string
): Effect.Effect<ReadonlyArray<PreparedOperation>, WriteError> =>
  TimeSlice.forEach(edit.operations, (operation) =>
    prepareOperation(root, settings, edit, operation, stored.get(nameOfDocument(operation)), now)
  )

/** The outcome of a prepared operation, once the id of its blob is known. */
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

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import {
  ConflictError,
  type DocumentConflict,
  type DocumentVersion,
  NotFoundError,
  ValidationError
} from "../../../domain/errors/StoreError.js"
import { collectionNameProblem } from "../../../domain/identifiers/CollectionName.js"
import { idProblem } from "../../../domain/identifiers/DocumentId.js"
import {
  type DocumentEdit,
  type DocumentOperation,
  type Edit,
  nameOfDocument,
  type Precondition,
  type StoredVersion
} from "./DocumentEdit.js"

/** Stored versions by `nameOfDocument`; missing documents have no entry. */
export type StoredVersions = ReadonlyMap<string, StoredVersion>

/** How often other writers changed a document of an edit while the edit was retried. */
export interface ConflictCount {
  readonly allowed: number
  counted: number
  /** The stored versions of the previous attempt. */
  seen: StoredVersions | undefined
}

export const newConflictCount = (allowed: number): ConflictCount => ({
  allowed,
  counted: 0,
  seen: undefined
})

/** A version as errors show it; null for a missing document. */
export const describeVersion = (version: StoredVersion | undefined): DocumentVersion | null =>
  version === undefined
    ? null
    : {
        rev: version.rev,
        sha: version.oid,
        document: Option.getOrUndefined(version.document)
      }

/** Checks the commit message and the document names of an edit before anything is read. */
export const editProblem = (edit: Edit): ValidationError | undefined => {
  if (typeof edit.message === "string" && edit.message.includes("\0")) {
    return new ValidationError({
      operation: edit.operation,
      message: "the message of a commit cannot contain a NUL character",
      hint: "Git ends a message at a NUL character: remove it"
    })
  }
  if ("plan" in edit) return undefined
  for (const { collection, id } of [...edit.operations, ...(edit.preconditions ?? [])]) {
    const problem = collectionNameProblem(collection) ?? idProblem(id)
    if (problem !== undefined) {
      return new ValidationError({
        operation: edit.operation,
        collection,
        id,
        message: `${JSON.stringify(collection)}, ${JSON.stringify(id)}: ${problem}`
      })
    }
  }
  return undefined
}

const conflictError = (
  operation: string,
  message: string,
  conflicts: ReadonlyArray<DocumentConflict>,
  hint: string
): ConflictError =>
  new ConflictError({
    operation,
    collection: conflicts[0]?.collection,
    id: conflicts[0]?.id,
    message,
    hint,
    conflicts
  })

/** In `document` mode, counts the attempts in which another writer had changed a document of the edit. */
export const countConflicts = (
  edit: DocumentEdit,
  conflicts: ConflictCount,
  stored: StoredVersions
): Effect.Effect<void, ConflictError> =>
  Effect.suspend(() => {
    const seen = conflicts.seen
    conflicts.seen = stored
    if (seen === undefined || edit.mode === "batch") return Effect.void
    const changed = edit.operations.filter(
      (document) => seen.get(nameOfDocument(document))?.oid !== stored.get(nameOfDocument(document))?.oid
    )
    if (changed.length === 0) return Effect.void
    conflicts.counted += 1
    if (conflicts.counted <= conflicts.allowed) return Effect.void
    return conflictError(
      edit.operation,
      `${changed.map(nameOfDocument).join(", ")} changed ${conflicts.counted} times during the write`,
      changed.map((document) => ({
        collection: document.collection,
        id: document.id,
        expected: describeVersion(seen.get(nameOfDocument(document))),
        actual: describeVersion(stored.get(nameOfDocument(document)))
      })),
      "read the document again and repeat the decision"
    )
  })

/** Why a version does not satisfy a precondition; undefined if it does. */
const preconditionProblem = (
  { absent, rev, sha }: Precondition,
  version: StoredVersion | undefined
): string | undefined => {
  if (absent === true && version !== undefined) return "exists"
  if (rev !== undefined && version?.rev !== rev) {
    return version === undefined
      ? `is missing, expected revision ${rev}`
      : `has revision ${version.rev}, expected ${rev}`
  }
  if (sha !== undefined && version?.oid !== sha) {
    return version === undefined
      ? `is missing, expected version ${sha.slice(0, 7)}`
      : `is version ${version.oid.slice(0, 7)}, expected ${sha.slice(0, 7)}`
  }
  return undefined
}

const expectedVersion = ({ absent, rev, sha }: Precondition): DocumentVersion | null =>
  absent === true ? null : { rev, sha }

/** Checks `needs` and the precondition of an operation against the version that the operation replaces. */
export const checkPrecondition = (
  operation: string,
  { collection, id, needs, precondition }: DocumentOperation,
  version: StoredVersion | undefined
): Effect.Effect<void, ConflictError | NotFoundError> => {
  const name = `${collection}/${id}`
  if (needs === "present" && version === undefined) {
    return new NotFoundError({ operation, collection, id, message: `${name} does not exist` })
  }
  if (needs === "absent" && version !== undefined) {
    return conflictError(
      operation,
      `${name} exists already`,
      [{ collection, id, expected: null, actual: describeVersion(version) }],
      "use update, replace or upsert to write an existing document"
    )
  }
  if (precondition === undefined) return Effect.void
  const problem = preconditionProblem(precondition, version)
  if (problem === undefined) return Effect.void
  return conflictError(
    operation,
    `${name} ${problem}`,
    [{ collection, id, expected: expectedVersion(precondition), actual: describeVersion(version) }],
    "read the document again and repeat the decision"
  )
}

/** Checks all preconditions of an edit, so that the error lists every document in conflict. */
export const checkPreconditions = (
  edit: DocumentEdit,
  stored: StoredVersions
): Effect.Effect<void, ConflictError> => {
  const broken = (edit.preconditions ?? []).flatMap(({ collection, id, precondition }) => {
    const version = stored.get(nameOfDocument({ collection, id }))
    const problem = preconditionProblem(precondition, version)
    return problem === undefined ? [] : [{ collection, id, precondition, version, problem }]
  })
  if (broken.length === 0) return Effect.void
  return conflictError(
    edit.operation,
    broken.map(({ collection, id, problem }) => `${collection}/${id} ${problem}`).join("; "),
    broken.map(({ collection, id, precondition, version }) => ({
      collection,
      id,
      expected: expectedVersion(precondition),
      actual: describeVersion(version)
    })),
    "read the documents again and repeat the decision"
  )
}

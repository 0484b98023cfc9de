import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Steps from "../../domain/concurrency/Steps.js"
import * as TimeSlice from "../../domain/concurrency/TimeSlice.js"
import { bodyOf } from "../../domain/document/DocumentBody.js"
import {
  type ConflictError,
  isUniqueViolation,
  type ReadError,
  type ValidationError,
  type WriteError
} from "../../domain/errors/StoreError.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { inexactNumbersSteps, parseObjectSliced } from "../../domain/json/JsonText.js"
import { byValue } from "../../domain/merge/JsonIdentity.js"
import type { DocumentMerge, MergeConflict, Settlement } from "../../domain/merge/MergeRules.js"
import type { Batch } from "../Batch.js"
import type { Version } from "../Collection.js"
import { under } from "../DocumentPath.js"
import type { StoreService } from "../StoreService.js"
import type { StoreView } from "../View.js"
import { readDocument } from "./EditText.js"
import { isEditInMessage } from "./EditTrailer.js"
import type { EditBase, EditConflict, ReviewedEdit, StagedEdit } from "./StagedEdits.js"

/** Queues the write of a plan, with its version as precondition. */
export const queueEdit = (batch: Batch, { basedOn: onto, review: { after, collection, id } }: PlannedEdit) =>
  onto === undefined
    ? Effect.void
    : Effect.zipRight(
        batch.expect(collection, id, onto === null ? { absent: true } : { sha: onto.sha }),
        after === null
          ? batch.delete(collection, id)
          : Effect.zipRight(TimeSlice.yieldIfSpent(), batch.put(collection, id, after))
      )

/** One edit compared with the stored version. */
export interface PlannedEdit {
  readonly review: ReviewedEdit
  /** The version that the edit replaces, or null if there is no document. Undefined if nothing is written. */
  readonly basedOn: Pick<Version, "sha"> | null | undefined
}

const decoder = new TextDecoder()

const withoutMetadata = (document: JsonObject): Effect.Effect<JsonObject> => Steps.run(() => bodyOf(document))

const bodyIn = (version: Version | undefined): Effect.Effect<JsonObject | null> =>
  version === undefined ? Effect.succeed(null) : withoutMetadata(version.document)

const baseOf = (version: Version | undefined): EditBase | null =>
  version === undefined ? null : { sha: version.sha, commit: version.commit }

const isSameBody = (a: JsonObject | null, b: JsonObject | null): Effect.Effect<boolean> =>
  Steps.run(() => byValue().isSame(a ?? undefined, b ?? undefined))

type MergeResult =
  | { readonly _tag: "Merged"; readonly document: JsonObject | undefined }
  | { readonly _tag: "Conflict"; readonly merge: DocumentMerge }

/** Merges an edit of an older version with the stored one, by a preview of the store's own write. */
const mergeEdit = (
  store: StoreService,
  edit: StagedEdit,
  base: EditBase,
  ours: JsonObject,
  found: Version
) => {
  const { collection, id, settled } = edit
  const isSettled = settled !== undefined && settled.against === found.sha
  const theirs = new Set(settled?.theirs.map((path) => JSON.stringify(path)))
  const settle = ({ path }: MergeConflict): Settlement =>
    theirs.has(JSON.stringify(path)) ? "theirs" : "ours"
  const directory = `${under(store.root, collection)}/`
  return store
    .preview((dry) =>
      dry.collection(collection).replace(id, ours, { base, ...(isSettled ? { rules: { settle } } : {}) })
    )
    .pipe(
      Effect.flatMap((commit) => {
        const changes = Option.isSome(commit) ? commit.value.changes : []
        for (const change of changes) {
          if (change._tag !== "Put" || !change.path.startsWith(directory)) continue
          return parseObjectSliced(change.content).pipe(
            Effect.map(Either.getRight),
            Effect.flatMap(Effect.transposeMapOption(withoutMetadata)),
            Effect.map(
              (document): MergeResult => ({ _tag: "Merged", document: Option.getOrUndefined(document) })
            )
          )
        }
        return Effect.succeed<MergeResult>({ _tag: "Merged", document: undefined })
      }),
      Effect.catchTag("ConflictError", (error: ConflictError): Effect.Effect<MergeResult, WriteError> => {
        const { merge } = error
        if (merge === undefined) return error
        // Another edit may release the value of the unique index, so uniqueness is checked for all edits together.
        return Effect.succeed(
          isUniqueViolation(error)
            ? { _tag: "Merged", document: merge.document }
            : { _tag: "Conflict", merge }
        )
      })
    )
}

/** The version of the document in a commit; undefined if it is no longer there or is not readable. */
const versionIn = (store: StoreService, { collection, id }: StagedEdit, commit: string) =>
  Effect.flatMap(store.at(commit), (view) => view.collection(collection).version(id)).pipe(
    Effect.map(Option.getOrUndefined),
    Effect.catchTag("NotFoundError", "ValidationError", () => Effect.succeed(undefined))
  )

/** The number of commits that are searched for an edit that was written although its reply was lost. */
export const mostCommits = 100

const wasPublished = (store: StoreService, edit: StagedEdit): Effect.Effect<boolean, ReadError> =>
  Effect.map(store.collection(edit.collection).history(edit.id, { limit: mostCommits }), (commits) =>
    commits.some(({ message }) => isEditInMessage(message, edit))
  )

/** An invalid edit. It does not prevent the comparison of the other edits. */
const invalid = ({ collection, id }: StagedEdit, problem: string): PlannedEdit => ({
  review: { collection, id, before: null, after: null, state: "invalid", problem },
  basedOn: undefined
})

/** A document that is not readable can be deleted, if the edit is based on its current version. */
const planOnUnreadable = (
  store: StoreService,
  edit: StagedEdit,
  error: ValidationError
): Effect.Effect<PlannedEdit, WriteError> => {
  const { base, collection, id, text } = edit
  if (text !== null || base === null) return Effect.succeed(invalid(edit, error.message))
  const planned: PlannedEdit = {
    review: { collection, id, before: null, after: null, state: "delete" },
    basedOn: base
  }
  return store
    .preview((dry) => dry.batch({ message: "review" }, (batch) => queueEdit(batch, planned)))
    .pipe(
      Effect.as(planned),
      Effect.catchTag("ConflictError", () =>
        Effect.succeed(
          invalid(edit, `${collection}/${id} was changed since this deletion was planned: ${error.message}`)
        )
      )
    )
}

/** The store and the reads that the comparison of edits shares. */
export interface PlanContext {
  readonly store: StoreService
  /** The commit that the edits are compared with. */
  readonly current: StoreView
  /** Reads the file of a document. */
  readonly fileOf: (
    collection: string,
    id: string,
    version: Version
  ) => Effect.Effect<Option.Option<Uint8Array>, ReadError>
  /** The messages of the last commits of the branch, read once. */
  readonly messages: Effect.Effect<ReadonlyArray<string>, ReadError>
}

/** Compares an edit with the stored version. */
export const planEdit = (planning: PlanContext, edit: StagedEdit): Effect.Effect<PlannedEdit, WriteError> =>
  Effect.gen(function* () {
    const { current, store } = planning
    const found = yield* Effect.either(current.collection(edit.collection).version(edit.id))
    if (Either.isRight(found)) return yield* planOnVersion(planning, edit, Option.getOrUndefined(found.right))
    return found.left._tag === "ValidationError"
      ? yield* planOnUnreadable(store, edit, found.left)
      : yield* found.left
  }).pipe(Effect.catchTag("ValidationError", ({ message }) => Effect.succeed(invalid(edit, message))))

/** Whether a file contains numbers that JavaScript cannot represent exactly. An edited text contains none. */
const isRounded = (content: Uint8Array): Effect.Effect<boolean> =>
  Effect.map(
    Steps.run(() => inexactNumbersSteps(decoder.decode(content))),
    (inexact) => inexact.length > 0
  )

const planOnVersion = (
  { fileOf, messages, store }: PlanContext,
  edit: StagedEdit,
  found: Version | undefined
): Effect.Effect<PlannedEdit, WriteError> =>
  Effect.gen(function* () {
    const { base, collection, id, text } = edit
    yield* TimeSlice.yieldIfSpent()
    const before = yield* bodyIn(found)
    const planned = (
      review: Pick<ReviewedEdit, "state" | "after" | "conflict" | "problem">,
      isWritten = false
    ): PlannedEdit => ({
      review: { collection, id, before, ...review },
      basedOn: isWritten ? (found ?? null) : undefined
    })
    const read = text === null ? Either.right(null) : yield* Steps.run(() => readDocument(text))
    if (Either.isLeft(read)) {
      return planned({ state: "invalid", after: before, problem: `${collection}/${id} ${read.left}` })
    }
    const ours = read.right
    if (yield* isSameBody(ours, before)) {
      const file = found === undefined ? Option.none() : yield* fileOf(collection, id, found)
      const isOther = Option.isSome(file) && (yield* isRounded(file.value))
      if (!isOther) return planned({ state: "none", after: before })
    }
    const contradicting = function* (past: JsonObject | null, merge?: DocumentMerge) {
      const conflict: EditConflict = {
        base: past,
        ours,
        theirs: before,
        version: baseOf(found),
        merged: merge === undefined ? null : merge.document,
        fields: merge?.conflicts ?? []
      }
      return planned({ state: "conflict", after: merge?.document ?? ours, conflict })
    }
    if (found?.sha === base?.sha) {
      // The edit may have been written and reverted. An edit without a stamp may repeat an older one on purpose.
      const isWritten =
        edit.stamp !== undefined && (yield* messages).some((message) => isEditInMessage(message, edit))
      if (isWritten) return planned({ state: "none", after: before })
      return planned(
        { state: base === null ? "create" : ours === null ? "delete" : "change", after: ours },
        true
      )
    }
    if (yield* wasPublished(store, edit)) return planned({ state: "none", after: before })
    if (base === null) return yield* contradicting(null)
    if (ours === null || found === undefined)
      return yield* contradicting(yield* bodyIn(yield* versionIn(store, edit, base.commit)))
    const merging = yield* mergeEdit(store, edit, base, ours, found).pipe(
      // A rewritten history may no longer contain the base.
      Effect.catchTag("NotFoundError", () => Effect.succeed(undefined))
    )
    if (merging === undefined) return yield* contradicting(null)
    if (merging._tag === "Conflict") return yield* contradicting(merging.merge.base, merging.merge)
    const merged = merging.document ?? before
    return (yield* isSameBody(merged, before))
      ? planned({ state: "none", after: before })
      : planned({ state: "merge", after: merged }, true)
  })

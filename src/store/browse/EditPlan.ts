import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { JsonObject } from "../../domain/Document.js"
import { equalJson } from "../../domain/IndexKey.js"
import { parseObject } from "../../domain/JsonText.js"
import type { DocumentMerge, MergeConflict, Settlement } from "../../domain/merge/MergeRules.js"
import type { ConflictError, WriteError } from "../../domain/StoreError.js"
import * as TimeSlice from "../../domain/TimeSlice.js"
import type { Version } from "../Collection.js"
import { under } from "../DocumentPath.js"
import type { StoreService } from "../StoreService.js"
import { readDocument, withoutMetadata } from "./EditText.js"
import type { EditBase, EditConflict, ReviewedEdit, StagedEdit } from "./StagedEdits.js"

/** One edit as it stands to what is stored now. */
export interface PlannedEdit {
  readonly review: ReviewedEdit
  /** The version that the edit is written on, null where there is none; undefined where nothing is written. */
  readonly onto: Version | null | undefined
}

const bodyOf = (version: Version | undefined): JsonObject | null =>
  version === undefined ? null : withoutMetadata(version.document)

const baseOf = (version: Version | undefined): EditBase | null =>
  version === undefined ? null : { sha: version.sha, commit: version.commit }

const same = (a: JsonObject | null, b: JsonObject | null): boolean =>
  equalJson(a ?? undefined, b ?? undefined)

const samePath = (a: ReadonlyArray<string | number>, b: ReadonlyArray<string | number>): boolean =>
  a.length === b.length && a.every((step, at) => step === b[at])

type Merging =
  | { readonly _tag: "Merged"; readonly document: JsonObject | undefined }
  | { readonly _tag: "Conflict"; readonly merge: DocumentMerge }

/** What the store makes of an edit of an older version: it is the store's own merge, of a write that is not made. */
const mergeOf = (store: StoreService, edit: StagedEdit, base: EditBase, ours: JsonObject, found: Version) => {
  const { collection, id, settled } = edit
  const isSettled = settled !== undefined && settled.against === found.sha
  const settle = ({ path }: MergeConflict): Settlement =>
    settled?.theirs.some((theirs) => samePath(theirs, path)) === true ? "theirs" : "ours"
  const directory = `${under(store.root, collection)}/`
  return store
    .preview((dry) =>
      dry.collection(collection).replace(id, ours, { base, ...(isSettled ? { rules: { settle } } : {}) })
    )
    .pipe(
      Effect.map((commit): Merging => {
        const changes = Option.isSome(commit) ? commit.value.changes : []
        for (const change of changes) {
          if (change._tag !== "Put" || !change.path.startsWith(directory)) continue
          const document = Option.getOrUndefined(Either.getRight(parseObject(change.content)))
          return { _tag: "Merged", document: document && withoutMetadata(document) }
        }
        return { _tag: "Merged", document: undefined }
      }),
      Effect.catchTag(
        "ConflictError",
        (error: ConflictError): Effect.Effect<Merging, WriteError> =>
          error.merge === undefined ? error : Effect.succeed({ _tag: "Conflict", merge: error.merge })
      )
    )
}

/** The document as a commit had it; null where it cannot be found any more. */
const pastOf = (store: StoreService, { collection, id }: StagedEdit, { commit }: EditBase) =>
  Effect.flatMap(store.at(commit), (view) => view.collection(collection).get(id)).pipe(
    Effect.map(Option.match({ onNone: () => null, onSome: withoutMetadata })),
    Effect.catchTag("NotFoundError", () => Effect.succeed(null))
  )

/** Compares an edit with the version that is stored now. */
export const planEdit = (store: StoreService, edit: StagedEdit): Effect.Effect<PlannedEdit, WriteError> =>
  Effect.gen(function* () {
    const { base, collection, id, text } = edit
    const found = Option.getOrUndefined(yield* store.collection(collection).version(id))
    const before = bodyOf(found)
    const planned = (
      review: Pick<ReviewedEdit, "state" | "after" | "conflict" | "problem">,
      isWritten = false
    ): PlannedEdit => ({
      review: { collection, id, before, ...review },
      onto: isWritten ? (found ?? null) : undefined
    })
    const read = text === null ? Either.right(null) : yield* TimeSlice.run(() => readDocument(text))
    if (Either.isLeft(read)) {
      return planned({ state: "invalid", after: before, problem: `${collection}/${id} ${read.left}` })
    }
    const ours = read.right
    if (same(ours, before)) return planned({ state: "none", after: before })
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
    if (base === null) {
      return found === undefined
        ? planned({ state: "create", after: ours }, true)
        : yield* contradicting(null)
    }
    if (found?.sha === base.sha) {
      return planned({ state: ours === null ? "delete" : "change", after: ours }, true)
    }
    if (ours === null || found === undefined) return yield* contradicting(yield* pastOf(store, edit, base))
    const merging = yield* mergeOf(store, edit, base, ours, found).pipe(
      // A history that was rewritten may not have the base any more.
      Effect.catchTag("NotFoundError", () => Effect.succeed(undefined))
    )
    if (merging === undefined) return yield* contradicting(null)
    if (merging._tag === "Conflict") return yield* contradicting(merging.merge.base, merging.merge)
    const merged = merging.document ?? before
    return same(merged, before)
      ? planned({ state: "none", after: before })
      : planned({ state: "merge", after: merged }, true)
  })

import * as Effect from "effect/Effect"
import type { JsonObject } from "../../domain/json/Json.js"
import type { FieldIndex } from "../../store/browse/Browse.js"
import type {
  EditableDocument,
  EditReview,
  ProposedEdits,
  Publication,
  StagedEdit
} from "../../store/browse/StagedEdits.js"
import type { Problem } from "../components/Problem.js"

export interface EditCalls {
  /** The editable texts of at most `maxDocuments` documents; null for one that does not exist. */
  readonly documents: (
    collection: string,
    ids: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<EditableDocument | null>, Problem>
  /** The stored JSON Schema of a collection; null if it has none. */
  readonly schema: (collection: string) => Effect.Effect<JsonObject | null, Problem>
  readonly review: (edits: ReadonlyArray<StagedEdit>) => Effect.Effect<EditReview, Problem>
  readonly publish: (edits: ReadonlyArray<StagedEdit>, message: string) => Effect.Effect<Publication, Problem>
  readonly propose: (
    edits: ReadonlyArray<StagedEdit>,
    title: string,
    body: string
  ) => Effect.Effect<ProposedEdits, Problem>
  /** Creates an index, and returns its commit; null if it is there already. */
  readonly createIndex: (collection: string, index: FieldIndex) => Effect.Effect<string | null, Problem>
}

/** Reads editable documents, reviews and publishes edits, and creates indexes. */
export interface EditSource extends EditCalls {
  /** The editable text of a document; null if it does not exist. */
  readonly document: (collection: string, id: string) => Effect.Effect<EditableDocument | null, Problem>
  /** The maximum size of one review or publish request, as JSON. */
  readonly maxBytes: number
  /** Applies a function to the effect of every call. */
  readonly mapCalls: (tell: <A>(effect: Effect.Effect<A, Problem>) => Effect.Effect<A, Problem>) => EditSource
}

export const editSource = (calls: EditCalls, maxBytes: number): EditSource => ({
  ...calls,
  document: (collection, id) =>
    Effect.map(calls.documents(collection, [id]), ([document]) => document ?? null),
  maxBytes,
  mapCalls: (tell) =>
    editSource(
      {
        documents: (...asked) => tell(calls.documents(...asked)),
        schema: (...asked) => tell(calls.schema(...asked)),
        review: (...asked) => tell(calls.review(...asked)),
        publish: (...asked) => tell(calls.publish(...asked)),
        propose: (...asked) => tell(calls.propose(...asked)),
        createIndex: (...asked) => tell(calls.createIndex(...asked))
      },
      maxBytes
    )
})

import type * as Effect from "effect/Effect"
import type { JsonObject } from "../../domain/json/Json.js"
import type {
  EditableDocument,
  EditReview,
  ProposedEdits,
  Publication,
  StagedEdit
} from "../../store/browse/StagedEdits.js"
import type { Problem } from "../components/Problem.js"

export interface EditCalls {
  /** A document to be edited; null where there is none. */
  readonly document: (collection: string, id: string) => Effect.Effect<EditableDocument | null, Problem>
  /** The JSON Schema that is stored of a collection; null where none is. */
  readonly schema: (collection: string) => Effect.Effect<JsonObject | null, Problem>
  readonly review: (edits: ReadonlyArray<StagedEdit>) => Effect.Effect<EditReview, Problem>
  readonly publish: (edits: ReadonlyArray<StagedEdit>, message: string) => Effect.Effect<Publication, Problem>
  readonly propose: (
    edits: ReadonlyArray<StagedEdit>,
    title: string,
    body: string
  ) => Effect.Effect<ProposedEdits, Problem>
}

/** Documents to be edited, and edits that are published together: the store's own, in this page or at the server. */
export interface EditSource extends EditCalls {
  /** The most bytes of edits that are reviewed or published together, as JSON. */
  readonly maxBytes: number
  /** The same, with something done to every call. */
  readonly mapCalls: (tell: <A>(effect: Effect.Effect<A, Problem>) => Effect.Effect<A, Problem>) => EditSource
}

export const editSource = (calls: EditCalls, maxBytes: number): EditSource => ({
  ...calls,
  maxBytes,
  mapCalls: (tell) =>
    editSource(
      {
        document: (...asked) => tell(calls.document(...asked)),
        schema: (...asked) => tell(calls.schema(...asked)),
        review: (...asked) => tell(calls.review(...asked)),
        publish: (...asked) => tell(calls.publish(...asked)),
        propose: (...asked) => tell(calls.propose(...asked))
      },
      maxBytes
    )
})

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Browse } from "../../store/browse/Browse.js"
import { fromStoreError, type Problem } from "../components/Problem.js"
import { type EditSource, editSource } from "./EditSource.js"

/** The editing operations of the store in this page. */
export const editsOf = (browse: Effect.Effect<Browse, Problem>): EditSource => {
  const edits = Effect.flatMap(browse, (opened) => Effect.mapError(opened.edits, fromStoreError))
  return editSource(
    {
      documents: (collection, ids) =>
        Effect.flatMap(edits, (store) =>
          Effect.mapBoth(store.documents(collection, ids), {
            onFailure: fromStoreError,
            onSuccess: (found) => found.map(Option.getOrNull)
          })
        ),
      schema: (collection) =>
        Effect.flatMap(edits, (store) =>
          Effect.mapBoth(store.schema(collection), { onFailure: fromStoreError, onSuccess: Option.getOrNull })
        ),
      review: (staged) =>
        Effect.flatMap(edits, (store) => Effect.mapError(store.review(staged), fromStoreError)),
      publish: (staged, message) =>
        Effect.flatMap(edits, (store) => Effect.mapError(store.publish(staged, message), fromStoreError)),
      propose: (staged, title, body) =>
        Effect.flatMap(edits, (store) =>
          Effect.mapError(store.propose(staged, { title, body }), fromStoreError)
        ),
      createIndex: (collection, index) =>
        Effect.flatMap(browse, (opened) =>
          Effect.mapBoth(opened.createIndex(collection, index), {
            onFailure: fromStoreError,
            onSuccess: Option.getOrNull
          })
        )
    },
    Number.POSITIVE_INFINITY
  )
}

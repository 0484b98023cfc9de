import * as Effect from "effect/Effect"
import { ConflictError, ValidationError } from "../../domain/errors/StoreError.js"
import { fieldNameProblem } from "../../domain/identifiers/CollectionName.js"
import type { Browse } from "./BrowseOperations.js"
import type { BrowseOptions } from "./BrowseOptions.js"
import { writingSession } from "./WritingSession.js"

/** The name of an index of a field whose path is not a valid name. */
const indexNameFor = (field: string): string | undefined =>
  fieldNameProblem(field) === undefined
    ? undefined
    : field.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "")

/** The writes of `Browse`. */
export const makeBrowseWrites = ({
  readOnly,
  store
}: BrowseOptions): Pick<Browse, "createIndex" | "restore"> => ({
  restore: (collection, id, commitSha, expectedRev) => {
    const operation = "Browse.restore"
    const restored = store
      .collection(collection)
      .restore(id, commitSha, { expectedRev: expectedRev ?? null })
      .pipe(
        Effect.catchTag(
          "ConflictError",
          ({ conflicts }) =>
            new ConflictError({
              operation,
              collection,
              id,
              message: `${collection}/${id} has changed since it was shown: nothing was written`,
              hint: "Open the document again and compare before restoring.",
              conflicts
            })
        )
      )
    return Effect.withSpan(writingSession(readOnly, operation, restored), operation)
  },
  createIndex: (collection, { field, unique }) => {
    const operation = "Browse.createIndex"
    const created = Effect.gen(function* () {
      const documents = store.collection(collection)
      if (field.includes(".") && (yield* documents.estimate()).current.format === 1) {
        return yield* new ValidationError({
          operation,
          collection,
          message: `an index of the nested field ${field} needs format 2, to which chainstore reindex --format 2 changes the repository`
        })
      }
      return yield* documents.createIndex({ fields: [field], name: indexNameFor(field), unique })
    })
    return Effect.withSpan(writingSession(readOnly, operation, created), operation)
  }
})

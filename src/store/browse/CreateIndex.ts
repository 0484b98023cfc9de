import * as Effect from "effect/Effect"
import { ValidationError } from "../../domain/errors/StoreError.js"
import { fieldNameProblem } from "../../domain/identifiers/CollectionName.js"
import type { StoreService } from "../StoreService.js"
import type { Browse } from "./BrowseOperations.js"
import { writingSession } from "./WritingSession.js"

const operation = "Browse.createIndex"

/** The name of an index of a field whose path is not a valid name. */
const nameFor = (field: string): string | undefined =>
  fieldNameProblem(field) === undefined
    ? undefined
    : field.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "")

/** Creates indexes of single fields in a store. */
export const makeCreateIndex =
  (store: StoreService, readOnly: boolean): Browse["createIndex"] =>
  (collection, { field, unique }) =>
    writingSession(
      readOnly,
      operation,
      Effect.gen(function* () {
        const documents = store.collection(collection)
        if (field.includes(".") && (yield* documents.estimate()).current.format === 1) {
          return yield* new ValidationError({
            operation,
            collection,
            message: `an index of the nested field ${field} needs format 2, to which chainstore reindex --format 2 changes the repository`
          })
        }
        return yield* documents.createIndex({ fields: [field], name: nameFor(field), unique })
      })
    ).pipe(Effect.withSpan(operation))

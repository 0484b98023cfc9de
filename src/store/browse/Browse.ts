import * as Effect from "effect/Effect"
import { NotFoundError } from "../../domain/errors/StoreError.js"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import type { ReadError } from "../Collection.js"
import type { Browse } from "./BrowseOperations.js"
import type { BrowseOptions } from "./BrowseOptions.js"

export type { Browse, FieldIndex, NewerCommits } from "./BrowseOperations.js"
export type { BrowseOptions } from "./BrowseOptions.js"
export {
  type ManifestState,
  maxLimit,
  type Query,
  type QueryAnswer,
  type QueryCost,
  type Sort
} from "./BrowseQuery.js"

// Loaded on the first use, to keep the first load of a page small.
const service = lazyModule(() => import("./BrowseService.js"))

/**
 * Checks that the repository and the branch exist and whether they are writable, and opens them.
 *
 * @since 0.1.0
 * @category constructors
 */
export const open = (options: BrowseOptions): Effect.Effect<Browse, ReadError> =>
  Effect.flatMap(service, ({ openBrowse }) => openBrowse(options))

/**
 * Opens the repository of a store without checks.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: BrowseOptions): Effect.Effect<Browse, ReadError> =>
  Effect.map(service, ({ makeBrowse }) => makeBrowse(options))

/**
 * The error of a document that does not exist.
 *
 * @since 0.1.0
 * @category queries
 */
export const missingDocument = (collection: string, id: string, at: string | undefined) =>
  new NotFoundError({
    operation: "Browse.document",
    collection,
    id,
    message: `${collection}/${id} does not exist${at === undefined ? "" : ` at ${at.slice(0, 7)}`}`
  })

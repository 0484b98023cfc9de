import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { ReadError } from "../domain/errors/StoreError.js"
import type { Json } from "../domain/json/Json.js"
import type { CollectionReaders } from "./Collection.js"
import type { Destination } from "./transfer/Destination.js"
import type { DatabaseExcelOptions, Exported } from "./transfer/Export.js"

/**
 * An index of a collection at one commit.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoredIndex {
  /** The collection that is indexed. */
  readonly collection: string
  /** The index's name, by which settings know it. */
  readonly name: string
  /** The fields in order, each a path, and the order of its values. */
  readonly fields: ReadonlyArray<{ readonly field: string; readonly order: "asc" | "desc" }>
  /** Whether two documents must not have the same value. */
  readonly unique: boolean
  /** The values, by path, of the documents that a partial index contains; undefined if it contains all documents. */
  readonly where: { readonly [path: string]: Json } | undefined
  /** The index file, or the directory of its tree. */
  readonly path: string
  /** The number of rows of a tree, or of indexed documents of a file; undefined if the index is missing or damaged. */
  readonly rows: number | undefined
  /** Whether it describes the documents of the commit: other programs may have changed documents without it. */
  readonly current: boolean
}

/**
 * A read-only view of one commit.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoreView {
  /** The commit of all reads of this view; for the store itself, the current head. */
  readonly commitSha: Effect.Effect<Option.Option<string>, ReadError>
  /** The names of the collections that have documents, by Unicode code point. */
  readonly collections: Effect.Effect<ReadonlyArray<string>, ReadError>
  /** The indexes of all collections, by collection and name. */
  readonly indexes: Effect.Effect<ReadonlyArray<StoredIndex>, ReadError>
  /** Writes one worksheet per collection, all from one commit, in constant memory; returns the columns of each. */
  readonly exportExcel: <D extends Destination<unknown, unknown>>(
    destination: D,
    options?: DatabaseExcelOptions
  ) => Exported<D, { readonly [collection: string]: ReadonlyArray<string> }>
  /** Opens a collection for reading, by name, by name and schema, or by its definition. */
  readonly collection: CollectionReaders
}

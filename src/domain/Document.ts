/** A value that JSON can hold. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

export interface JsonObject {
  readonly [key: string]: Json
}

/** What the store writes on every document. */
export interface DocumentMetadata {
  readonly _id: string
  /** Counts the writes of the document, from 1. */
  readonly _rev: number
  /** RFC 3339, UTC, of the first write. */
  readonly _created_at: string
  /** RFC 3339, UTC, of the latest write. */
  readonly _updated_at: string
}

/** A document as it lies in its file. */
export type StoredDocument = JsonObject & DocumentMetadata

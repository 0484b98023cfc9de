import type { JsonObject } from "../json/Json.js"

/**
 * What the store writes on every document.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentMetadata {
  /** The document's id, which names its file. */
  readonly _id: string
  /** Counts the writes of the document, from 1. */
  readonly _rev: number
  /** RFC 3339, UTC, of the first write. */
  readonly _created_at: string
  /** RFC 3339, UTC, of the latest write. */
  readonly _updated_at: string
}

/**
 * A document as it lies in its file.
 *
 * @since 0.1.0
 * @category models
 */
export type StoredDocument = JsonObject & DocumentMetadata

import type { JsonObject } from "../json/Json.js"

/**
 * The fields that the store adds to every document.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentMetadata {
  /** The document's id, which names its file. */
  readonly _id: string
  /** The number of writes of the document. */
  readonly _rev: number
  /** The time of the first write, in RFC 3339 and UTC. */
  readonly _created_at: string
  /** The time of the latest write, in RFC 3339 and UTC. */
  readonly _updated_at: string
}

/**
 * A document as it is stored in its file.
 *
 * @since 0.1.0
 * @category models
 */
export type StoredDocument = JsonObject & DocumentMetadata

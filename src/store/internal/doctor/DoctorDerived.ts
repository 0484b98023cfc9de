import type * as Effect from "effect/Effect"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import type { LosslessObject } from "../../../domain/json/LosslessJson.js"
import type { Finding } from "../../Doctor.js"
import type { Listing } from "../snapshot/Listing.js"

/** The indexes and the manifest of a collection as they lie there, of either format. */
export interface DerivedExamination {
  /** What is wrong with them, as they are. */
  readonly findings: ReadonlyArray<Finding>
  /** How many indexes describe the present documents. */
  readonly indexes: number
  /** Whether a manifest does. */
  readonly manifest: boolean
  /** The fields of documents that they hold. */
  readonly fields: ReadonlySet<string>
  /** What is wrong with those that describe the present documents, as far as a listing tells. */
  readonly againstListing: (listing: Listing) => ReadonlyArray<Finding>
  /** The same, by the fields of all documents. */
  readonly againstDocuments: (
    documents: ReadonlyMap<string, LosslessObject>
  ) => Effect.Effect<ReadonlyArray<Finding>, ReadError>
}

export type DerivedKind = "index" | "manifest"

export const reindexHint = (collection: string) => `run reindex on ${collection}`

/** What is missing, left behind or wrong is found alike in either format. */
export const findingsOn = (collection: string) => {
  const again = reindexHint(collection)
  const finding = (
    severity: Finding["severity"],
    kind: DerivedKind,
    problem: string,
    message: string,
    hint = again
  ): Finding => ({ severity, code: `${kind}-${problem}`, collection, message, hint })
  return {
    finding,
    missing: (kind: DerivedKind, path: string) =>
      finding("warning", kind, "missing", `${path} is missing`, `the next write makes it, or ${again}`),
    stale: (kind: DerivedKind, path: string) =>
      finding("warning", kind, "stale", `${path} is behind the documents: somebody else changed them`),
    unfit: (kind: DerivedKind, id: string, problem: string): Finding => ({
      ...finding("warning", kind, "unfit", `${collection}/${id} cannot be indexed: ${problem}`),
      ids: [id],
      hint: "shorten its lists, or index their fields one by one: until then the index stays behind"
    }),
    wrong: (kind: DerivedKind, path: string) =>
      finding("error", kind, "wrong", `${path} does not agree with the documents`)
  }
}

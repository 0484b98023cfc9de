import type * as Effect from "effect/Effect"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import type { LosslessObject } from "../../../domain/json/LosslessJson.js"
import type { Finding } from "../../Doctor.js"
import type { Listing } from "../snapshot/Listing.js"

/** The examined indexes and manifest of a collection, in either format. */
export interface DerivedExamination {
  /** Problems of the files themselves. */
  readonly findings: ReadonlyArray<Finding>
  /** The number of indexes that describe the current documents. */
  readonly indexes: number
  /** Whether the manifest describes the current documents. */
  readonly manifest: boolean
  /** The fields of documents that they contain. */
  readonly fields: ReadonlySet<string>
  /** Problems of the current files, as far as the listing shows them. */
  readonly againstListing: (listing: Listing) => ReadonlyArray<Finding>
  /** Problems of the current files, compared with the fields of all documents. */
  readonly againstDocuments: (
    documents: ReadonlyMap<string, LosslessObject>
  ) => Effect.Effect<ReadonlyArray<Finding>, ReadError>
}

export type DerivedKind = "index" | "manifest"

export const reindexHint = (collection: string) => `run reindex on ${collection}`

/** Findings that both formats share. */
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
      finding("warning", kind, "stale", `${path} is outdated: another program changed the documents`),
    unfit: (kind: DerivedKind, id: string, problem: string): Finding => ({
      ...finding("warning", kind, "unfit", `${collection}/${id} cannot be indexed: ${problem}`),
      ids: [id],
      hint: "shorten its lists, or index their fields one by one: until then the index stays behind"
    }),
    wrong: (kind: DerivedKind, path: string) =>
      finding("error", kind, "wrong", `${path} does not agree with the documents`)
  }
}

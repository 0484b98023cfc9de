import type { JsonObject } from "../../domain/Document.js"
import type { Filter } from "./Filter.js"

/** The most documents that one query answers. */
export const maxLimit = 500

export interface Sort {
  readonly path: string
  readonly descending: boolean
}

/** What a person asks of a collection. */
export interface Query {
  readonly collection: string
  readonly filters: ReadonlyArray<Filter>
  /** 1 to 500. */
  readonly limit: number
  readonly cursor?: string | null | undefined
  /** A commit, tag or branch to look at instead of the branch's head. */
  readonly at?: string | undefined
  /** Rows from the manifest's projected fields, where there is a current manifest that has what is asked for. */
  readonly projected?: boolean | undefined
  /** Of the whole collection; only together with a manifest. */
  readonly sort?: Sort | undefined
  /**
   * Documents are read only where that takes no more requests of the remote than this. Otherwise the answer has no
   * documents, and `cost` says what the query would take. Default: no bound.
   */
  readonly maxRequests?: number | undefined
}

/** What a query takes that was not run, at most: documents in a cache take nothing. */
export interface QueryCost {
  readonly requests: number
}

/** How the manifest compares with the directory that it describes. */
export interface ManifestState {
  readonly current: boolean
  readonly fields: ReadonlyArray<string>
  /** Ids that are documents but not in the manifest. */
  readonly missing: ReadonlyArray<string>
  /** Ids that are in the manifest but no documents. */
  readonly extra: ReadonlyArray<string>
}

export interface QueryAnswer {
  readonly collection: string
  readonly documents: ReadonlyArray<JsonObject>
  readonly columns: ReadonlyArray<string>
  /** Where the next page begins, null when nothing follows. */
  readonly cursor: string | null
  readonly source: "index" | "scan" | "manifest"
  /** How many documents match in all, where that is known without reading more. */
  readonly total?: number | undefined
  readonly manifest?: ManifestState | undefined
  /** Ids of files that hold no document the store can read. */
  readonly unreadable?: ReadonlyArray<string> | undefined
  /** The query was not run, since it takes more than its `maxRequests`. */
  readonly cost?: QueryCost | undefined
}

import { maxDepth } from "../../domain/json/CanonicalJson.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { isDeeperThan } from "../../domain/json/JsonCopy.js"
import type { AnyWhere, Query as CollectionQuery } from "../../domain/query/Query.js"
import type { QueryReads } from "../Collection.js"
import type { Filter } from "./Filter.js"

/**
 * The maximum `limit` of a query.
 *
 * @since 0.1.0
 * @category queries
 */
export const maxLimit = 500

/** The maximum number of filters of a query. */
export const maxFilters = 100

/** The maximum number of sort fields of a query. */
export const maxSorts = 16

/** The maximum length of the path of a filter or a sort, in characters. */
export const maxPath = 4096

/**
 * A sort field of a query.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sort {
  /** The path of the field. */
  readonly path: string
  /** Whether the order is descending. */
  readonly descending: boolean
}

/**
 * A query of a collection.
 *
 * @since 0.1.0
 * @category models
 */
export interface Query {
  /** The name of the collection. */
  readonly collection: string
  /** At most 100 filters. A document must match all of them. */
  readonly filters: ReadonlyArray<Filter>
  /** The maximum number of documents of the page: 1 to 500. */
  readonly limit: number
  /** The `cursor` of the previous page; absent or null for the first page. */
  readonly cursor?: string | null | undefined
  /** A commit, tag or branch to read instead of the branch's head. */
  readonly at?: string | undefined
  /**
   * Returns rows with the fields of the manifest instead of whole documents, if a manifest contains all fields of the
   * query and is current, or is trusted by the option `trustForeignIndexes` of the store.
   */
  readonly projected?: boolean | undefined
  /**
   * The sort order of the whole collection, if an index or a manifest provides it: see `QueryAnswer.sorted`. At most 16
   * fields; each orders documents whose earlier sort values are equal.
   */
  readonly sort?: Sort | ReadonlyArray<Sort> | undefined
  /** A condition of `collection.query`, instead of filters and `sort`. */
  readonly where?: AnyWhere | undefined
  /** The order of a query with `where`. */
  readonly orderBy?: CollectionQuery["orderBy"] | undefined
  /**
   * The maximum number of requests to the remote. If the query needs more, it is not run, and the result contains `cost`
   * instead of documents. Default: no maximum.
   */
  readonly maxRequests?: number | undefined
  /** Whether the cost is that of all documents after the cursor that match, instead of that of the page. Default: false. */
  readonly costOfAll?: boolean | undefined
}

/**
 * The cost of a query that was not run.
 *
 * @since 0.1.0
 * @category models
 */
export interface QueryCost {
  /** The maximum number of requests to the remote. Cached documents need none. */
  readonly requests: number
}

/**
 * Compares a manifest with the directory of its collection.
 *
 * @since 0.1.0
 * @category models
 */
export interface ManifestState {
  /** Whether the manifest describes the current content of the directory. */
  readonly current: boolean
  /** The fields that the manifest contains. */
  readonly fields: ReadonlyArray<string>
  /** Ids of documents that are not in the manifest. */
  readonly missing: ReadonlyArray<string>
  /** Ids in the manifest without a document. */
  readonly extra: ReadonlyArray<string>
}

/**
 * One page of the result of a query.
 *
 * @since 0.1.0
 * @category models
 */
export interface QueryAnswer {
  /** The name of the collection. */
  readonly collection: string
  /** The documents, or only their fields in the manifest if `source` is `manifest`. */
  readonly documents: ReadonlyArray<JsonObject>
  /** The names of all fields of the documents: `_id`, `_rev`, `_updated_at`, then the others in the order of their first use. */
  readonly columns: ReadonlyArray<string>
  /** The cursor of the next page; null if this page is the last. */
  readonly cursor: string | null
  /** The data structure that the query read. */
  readonly source: "index" | "scan" | "manifest"
  /** Why this source was chosen, in words. */
  readonly reason?: string | undefined
  /** The number of entries and documents that were read. */
  readonly read?: QueryReads | undefined
  /** Whether the page is sorted by `sort` within the whole collection. Otherwise it is sorted by id. */
  readonly sorted?: boolean | undefined
  /** The total number of matching documents, if it is known without more reads. */
  readonly total?: number | undefined
  /** The state of the manifest, if it was read. */
  readonly manifest?: ManifestState | undefined
  /** Ids of files that contain no readable document. */
  readonly unreadable?: ReadonlyArray<string> | undefined
  /** Present if the query was not run because its cost exceeds `maxRequests`. */
  readonly cost?: QueryCost | undefined
}

/** The problem of an invalid query; undefined if it is valid. */
export const queryProblem = ({ filters, limit, orderBy, sort = [], where }: Query): string | undefined => {
  // Not `sortsOf`, which is in a module that is loaded later.
  const sorts: ReadonlyArray<Sort & Pick<Filter, "value">> = [sort].flat()
  if ((where !== undefined || orderBy !== undefined) && (filters.length > 0 || sorts.length > 0)) {
    return "where and orderBy cannot be used with field, filters and sort: write the filters into where"
  }
  if (!isCount(limit)) return `limit must be a whole number from 1 to ${maxLimit}`
  if (filters.length > maxFilters) return `a query has at most ${maxFilters} filters`
  if (sorts.length > maxSorts) return `a query has at most ${maxSorts} sorts`
  for (const { path, value } of [filters, sorts].flat()) {
    if (path.length > maxPath) return `a path has at most ${maxPath} characters`
    if (value !== undefined && isDeeperThan(value, maxDepth)) {
      return `the value of a filter is nested at most ${maxDepth} levels deep`
    }
  }
  return undefined
}

/** Whether a number is a valid `limit`. */
export const isCount = (limit: number): boolean => Number.isInteger(limit) && limit >= 1 && limit <= maxLimit

import { maxDepth } from "../../domain/json/CanonicalJson.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { isDeeperThan } from "../../domain/json/JsonCopy.js"
import type { AnyWhere, Query as CollectionQuery } from "../../domain/query/Query.js"
import type { QueryReads } from "../Collection.js"
import type { Filter } from "./Filter.js"

/**
 * The most documents of one query's result.
 *
 * @since 0.1.0
 * @category queries
 */
export const maxLimit = 500

/** The most filters of one query. */
export const maxFilters = 100

/** The most fields that one query is sorted by. */
export const maxSorts = 16

/** The longest path of a filter or a sort, in characters. */
export const maxPath = 4096

/**
 * The order of a query's rows.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sort {
  /** The path of the field that is sorted by. */
  readonly path: string
  /** Whether greater values come first. */
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
  /** At most 100, all of which must hold. */
  readonly filters: ReadonlyArray<Filter>
  /** 1 to 500. */
  readonly limit: number
  /** The `cursor` of the page before; absent or null for the first page. */
  readonly cursor?: string | null | undefined
  /** A commit, tag or branch to read instead of the branch's head. */
  readonly at?: string | undefined
  /**
   * Rows from the manifest's projected fields, where there is a manifest that has what is asked for and is current, or
   * trusted by the store's `trustForeignIndexes`.
   */
  readonly projected?: boolean | undefined
  /**
   * Of the whole collection, where an index or a manifest tells the order: see `QueryAnswer.sorted`. Of several, at most 16,
   * each orders what is equal by those before it.
   */
  readonly sort?: Sort | ReadonlyArray<Sort> | undefined
  /** A condition as `collection.query` takes it, instead of filters and `sort`; its cursor is one of that query. */
  readonly where?: AnyWhere | undefined
  /** The order of such a query. */
  readonly orderBy?: CollectionQuery["orderBy"] | undefined
  /**
   * Documents are read only where that takes no more requests of the remote than this. Otherwise the answer has no
   * documents, and `cost` says what the query would take. Default: no bound.
   */
  readonly maxRequests?: number | undefined
}

/**
 * The most requests of a query that was not run: documents in a cache take none.
 *
 * @since 0.1.0
 * @category models
 */
export interface QueryCost {
  /** Requests of the remote, at most. */
  readonly requests: number
}

/**
 * How the manifest compares with the directory that it describes.
 *
 * @since 0.1.0
 * @category models
 */
export interface ManifestState {
  /** Whether it describes the directory as it is. */
  readonly current: boolean
  /** The fields that it projects. */
  readonly fields: ReadonlyArray<string>
  /** Ids that are documents but not in the manifest. */
  readonly missing: ReadonlyArray<string>
  /** Ids that are in the manifest but no documents. */
  readonly extra: ReadonlyArray<string>
}

/**
 * One page of a query.
 *
 * @since 0.1.0
 * @category models
 */
export interface QueryAnswer {
  /** The name of the collection. */
  readonly collection: string
  /** The documents, or their projected fields where the manifest answered. */
  readonly documents: ReadonlyArray<JsonObject>
  /** The names of all fields of these documents: `_id`, `_rev`, `_updated_at`, then the others as they are first seen. */
  readonly columns: ReadonlyArray<string>
  /** Where the next page begins, null when nothing follows. */
  readonly cursor: string | null
  /** Where the page comes from. */
  readonly source: "index" | "scan" | "manifest"
  /** Why so, in words, where there is more to say. */
  readonly reason?: string | undefined
  /** What was read for the page. */
  readonly read?: QueryReads | undefined
  /** Whether the documents are in the order of `sort` among the whole collection. Without it they are in the order of their ids. */
  readonly sorted?: boolean | undefined
  /** How many documents match in all, where that is known without reading more. */
  readonly total?: number | undefined
  /** The state of the manifest, where there is one and it was looked at. */
  readonly manifest?: ManifestState | undefined
  /** Ids of files that hold no document the store can read. */
  readonly unreadable?: ReadonlyArray<string> | undefined
  /** The query was not run, since it takes more than its `maxRequests`. */
  readonly cost?: QueryCost | undefined
}

/** Why a query is not valid, whatever the repository contains. */
export const queryProblem = ({ filters, limit, orderBy, sort = [], where }: Query): string | undefined => {
  // `sortsOf` is loaded with the rest of a query.
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

/** Whether a number is a valid limit. */
export const isCount = (limit: number): boolean => Number.isInteger(limit) && limit >= 1 && limit <= maxLimit

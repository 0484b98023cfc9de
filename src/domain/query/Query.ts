import type { Direction } from "../indexes/SortKey.js"
import type { Json, JsonObject } from "../json/Json.js"
import type { PathOf, ValueAt } from "./Paths.js"

/** Values that are compared without an operator. */
export type Scalar = null | boolean | number | string

/** What a field can be compared with: its value, or an element of it where it is a list. */
type Asked<V> = V extends ReadonlyArray<infer Element> ? V | Element : V

type Bound<V> = Extract<Asked<V>, number | string>

/**
 * Comparisons of one field. One value must satisfy all of them together: of a list, one of its elements. `isNot` and `exists`
 * are about the field as a whole.
 *
 * @since 0.1.0
 * @category queries
 */
export interface Comparisons<V = Json> {
  /** Deep and typed: `1` is not `"1"`. */
  readonly is?: Asked<V>
  /** The opposite of `is`: a missing field is not any value. */
  readonly isNot?: Asked<V>
  readonly in?: ReadonlyArray<Asked<V>>
  /** Bounds compare numbers with numbers and texts with texts, these by code point. Nothing else satisfies them. */
  readonly lessThan?: Bound<V>
  readonly atMost?: Bound<V>
  readonly greaterThan?: Bound<V>
  readonly atLeast?: Bound<V>
  /** Of a text. Case matters. */
  readonly startsWith?: Extract<Asked<V>, string>
  /** Whether the document has the field; null is a value. */
  readonly exists?: boolean
}

/**
 * A value that the field equals, or comparisons. A list or an object is compared by `{ is: ... }`.
 *
 * @since 0.1.0
 * @category queries
 */
export type FieldCondition<V = Json> = Extract<Asked<V>, Scalar> | Comparisons<V>

/**
 * A condition of a document without a schema.
 *
 * @since 0.1.0
 * @category queries
 */
export interface AnyWhere {
  readonly [path: string]: Scalar | Comparisons | AnyWhere | ReadonlyArray<AnyWhere>
}

/**
 * What documents must satisfy, all of it: fields by their paths, and `and`, `or`, `not` of further conditions. Paths and values
 * are those of the stored JSON; of a collection with a schema, those of its encoded side.
 *
 * @since 0.1.0
 * @category queries
 */
export type Where<D = JsonObject> = string extends keyof D
  ? AnyWhere
  : { readonly [P in PathOf<D>]?: FieldCondition<ValueAt<D, P>> } & {
      readonly and?: ReadonlyArray<Where<D>>
      readonly or?: ReadonlyArray<Where<D>>
      readonly not?: Where<D>
    }

/**
 * A field that sorts up, or one with its direction: as the fields of an index are written.
 *
 * @since 0.1.0
 * @category queries
 */
export type OrderField<D = JsonObject> =
  | PathOf<D>
  | { readonly field: PathOf<D>; readonly order?: Direction | undefined }

/**
 * What is asked of a collection.
 *
 * @since 0.1.0
 * @category queries
 */
export interface Query<D = JsonObject> {
  /** The conditions that documents meet. Default: every document. */
  readonly where?: Where<D> | undefined
  /** Documents that are equal in all of these fields are ordered by `_id`, in the direction of the last field. */
  readonly orderBy?: OrderField<D> | ReadonlyArray<OrderField<D>> | undefined
  /** At most this many; at least 1. */
  readonly limit?: number | undefined
  /** The `cursor` of the page before, of a query with the same `where` and `orderBy`. */
  readonly cursor?: string | null | undefined
}

/**
 * A query of some fields instead of whole documents.
 *
 * @since 0.1.0
 * @category queries
 */
export interface SelectQuery<D, P extends PathOf<D>> extends Query<D> {
  /** The paths that results have; the others are left out. `_id` is always there. */
  readonly select: ReadonlyArray<P>
}

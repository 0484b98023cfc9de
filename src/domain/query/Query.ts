import type { Direction } from "../indexes/SortKey.js"
import type { Json, JsonObject } from "../json/Json.js"
import type { PathOf, ValueAt } from "./Paths.js"

/** Values that are compared without an operator. */
export type Scalar = null | boolean | number | string

/** The type that a field is compared with: its value, or an element of a list. */
type Asked<V> = V extends ReadonlyArray<infer Element> ? V | Element : V

type Bound<V> = Extract<Asked<V>, number | string>

/**
 * Comparisons of one field. The same value must satisfy all of them: of a list, one of its elements. `isNot` and `exists`
 * apply to the field as a whole.
 *
 * @since 0.1.0
 * @category queries
 */
export interface Comparisons<V = Json> {
  /** Deep equality. `1` does not equal `"1"`. */
  readonly is?: Asked<V>
  /** The negation of `is`. A missing field satisfies it. */
  readonly isNot?: Asked<V>
  readonly in?: ReadonlyArray<Asked<V>>
  /** Compares numbers with numbers, and texts with texts by code point. Other values do not satisfy a bound. */
  readonly lessThan?: Bound<V>
  readonly atMost?: Bound<V>
  readonly greaterThan?: Bound<V>
  readonly atLeast?: Bound<V>
  /** The prefix of a text. Case-sensitive. */
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
 * A conjunction of conditions: fields by their paths, and `and`, `or`, `not` of further conditions. Paths and values are
 * those of the stored JSON; in a collection with a schema, those of the encoded document.
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
 * A field in ascending order, or a field with its direction, as in the definition of an index.
 *
 * @since 0.1.0
 * @category queries
 */
export type OrderField<D = JsonObject> =
  | PathOf<D>
  | { readonly field: PathOf<D>; readonly order?: Direction | undefined }

/**
 * A query of a collection.
 *
 * @since 0.1.0
 * @category queries
 */
export interface Query<D = JsonObject> {
  /** The condition of the documents. Default: all documents. */
  readonly where?: Where<D> | undefined
  /** Documents with equal values in these fields are ordered by `_id`, in the direction of the last field. */
  readonly orderBy?: OrderField<D> | ReadonlyArray<OrderField<D>> | undefined
  /** The maximum number of documents; at least 1. */
  readonly limit?: number | undefined
  /** The `cursor` of the previous page, of a query with the same `where` and `orderBy`. */
  readonly cursor?: string | null | undefined
}

/**
 * A query of some fields instead of whole documents.
 *
 * @since 0.1.0
 * @category queries
 */
export interface SelectQuery<D, P extends PathOf<D>> extends Query<D> {
  /** The paths of the result. `_id` is always included. */
  readonly select: ReadonlyArray<P>
}

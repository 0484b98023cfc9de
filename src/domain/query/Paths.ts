import type { DocumentMetadata } from "../document/Document.js"
import type { JsonObject } from "../json/Json.js"

/** The maximum number of dots in a typed path. Longer paths work at run time only. */
type Below = readonly [never, 0, 1, 2, 3]

type OwnPath<D, Dots extends number> =
  D extends ReadonlyArray<unknown>
    ? never
    : D extends object
      ? {
          [Key in keyof D & string]:
            | Key
            | ([Dots] extends [never] ? never : `${Key}.${OwnPath<NonNullable<D[Key]>, Below[Dots]>}`)
        }[keyof D & string]
      : never

/**
 * The paths of the fields of a document: `"city"`, `"address.city"`. For a document without a schema, any text.
 *
 * @since 0.1.0
 * @category queries
 */
export type PathOf<D> = string extends keyof D ? string : OwnPath<Required<D>, 3> | keyof DocumentMetadata

type At<D, P extends string> = D extends object
  ? P extends keyof D
    ? D[P]
    : P extends `${infer Head}.${infer Rest}`
      ? Head extends keyof D
        ? At<NonNullable<D[Head]>, Rest>
        : never
      : never
  : never

/**
 * The value at a path of a document.
 *
 * @since 0.1.0
 * @category queries
 */
export type ValueAt<D, P extends string> = Exclude<
  P extends keyof DocumentMetadata ? DocumentMetadata[P] : At<D, P>,
  undefined
>

type Picked<D, P extends string> = P extends keyof DocumentMetadata
  ? Pick<DocumentMetadata, P>
  : P extends keyof D
    ? Pick<D, P>
    : P extends `${infer Head}.${infer Rest}`
      ? Head extends keyof D
        ? { readonly [Key in Head]: Picked<NonNullable<D[Head]>, Rest> }
        : unknown
      : unknown

type Intersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  all: infer All
) => void
  ? All
  : never

/**
 * The selected fields of a stored document, and its `_id`. Missing fields are left out.
 *
 * @since 0.1.0
 * @category queries
 */
export type Selected<D, P extends string> = string extends keyof D
  ? JsonObject & Pick<DocumentMetadata, "_id">
  : Intersection<P extends unknown ? Picked<D, P> : never> & Pick<DocumentMetadata, "_id">

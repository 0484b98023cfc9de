import * as Schema from "effect/Schema"

/**
 * The id of a Git object: a SHA-1 as forty lower-case hexadecimal digits.
 *
 * @since 0.1.0
 * @category utilities
 */
export const Oid = Schema.String.pipe(Schema.pattern(/^[0-9a-f]{40}$/), Schema.brand("Oid"))
export type Oid = typeof Oid.Type

/**
 * Whether a value is an object id.
 *
 * @since 0.1.0
 * @category refinements
 */
export const isOid = Schema.is(Oid)

/**
 * The id of the empty tree, which exists in every Git repository.
 *
 * @since 0.1.0
 * @category constructors
 */
export const emptyTree = Oid.make("4b825dc642cb6eb9a060e54bf8d69288fbee4904")

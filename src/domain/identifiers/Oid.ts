import * as Schema from "effect/Schema"

/**
 * The name of a Git object: forty lower-case hexadecimal digits of a SHA-1.
 *
 * @since 0.1.0
 * @category utilities
 */
export const Oid = Schema.String.pipe(Schema.pattern(/^[0-9a-f]{40}$/), Schema.brand("Oid"))
export type Oid = typeof Oid.Type

/**
 * Whether a value is 40 lower-case hexadecimal digits.
 *
 * @since 0.1.0
 * @category refinements
 */
export const isOid = Schema.is(Oid)

/**
 * The tree without entries, which every Git repository knows.
 *
 * @since 0.1.0
 * @category constructors
 */
export const emptyTree = Oid.make("4b825dc642cb6eb9a060e54bf8d69288fbee4904")

import { idProblem } from "./DocumentId.js"

/**
 * The problem with a collection's name, if any. The rule is that of document ids, so a name never starts with `_`.
 *
 * @since 0.1.0
 * @category rules
 */
export const collectionNameProblem = (name: unknown): string | undefined =>
  idProblem(name)?.replace("an id", "a collection's name")

/**
 * The problem with the name of an indexed field, if any. The rule is that of document ids.
 *
 * @since 0.1.0
 * @category rules
 */
export const fieldNameProblem = (name: unknown): string | undefined =>
  idProblem(name)?.replace("an id", "an indexed field's name")

import { idProblem } from "./DocumentId.js"

/**
 * What is wrong with a collection's name, if anything: the rule of ids, so it never starts with `_`.
 *
 * @since 0.1.0
 * @category rules
 */
export const collectionNameProblem = (name: unknown): string | undefined =>
  idProblem(name)?.replace(/^an id/, "a collection's name")

/**
 * What is wrong with the name of an indexed field, if anything: the rule of ids.
 *
 * @since 0.1.0
 * @category rules
 */
export const fieldNameProblem = (name: unknown): string | undefined =>
  idProblem(name)?.replace(/^an id/, "an indexed field's name")

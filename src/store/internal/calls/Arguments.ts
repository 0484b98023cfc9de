import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { ValidationError } from "../../../domain/errors/StoreError.js"
import { collectionNameProblem } from "../../../domain/identifiers/CollectionName.js"
import { idProblem } from "../../../domain/identifiers/DocumentId.js"
import { encodeInline } from "../../../domain/json/CanonicalJson.js"
import type { Json } from "../../../domain/json/Json.js"

interface Arguments {
  readonly collection?: string
  readonly id?: string
  readonly limit?: number | undefined
  readonly size?: number | undefined
  readonly after?: string | undefined
  readonly field?: string
  readonly value?: Json
}

const atLeastOne = (name: string, value: unknown): string | undefined =>
  value === undefined || (typeof value === "number" && Number.isInteger(value) && value >= 1)
    ? undefined
    : `${name} is a whole number, at least 1`

const problemOf = (given: Arguments): string | undefined => {
  if ("collection" in given) {
    const problem = collectionNameProblem(given.collection)
    if (problem !== undefined) return `collection ${JSON.stringify(given.collection)}: ${problem}`
  }
  if ("id" in given) {
    const problem = idProblem(given.id)
    if (problem !== undefined) return `id ${JSON.stringify(given.id)}: ${problem}`
  }
  if (given.after !== undefined && idProblem(given.after) !== undefined) {
    return `after ${JSON.stringify(given.after)}: a cursor is the id of a document`
  }
  if ("field" in given && (typeof given.field !== "string" || given.field === "")) {
    return "a field is the name of a top-level field"
  }
  if ("value" in given) {
    const encoded = given.value === undefined ? undefined : encodeInline(given.value)
    if (encoded === undefined) return "the value to look for is missing"
    if (Either.isLeft(encoded)) return `the value to look for: ${encoded.left.path} ${encoded.left.message}`
  }
  return atLeastOne("limit", given.limit) ?? atLeastOne("size", given.size)
}

/** Checks the arguments of a collection's method. */
export const checkArguments = (operation: string, given: Arguments): Effect.Effect<void, ValidationError> =>
  Effect.suspend(() => {
    const problem = problemOf(given)
    if (problem === undefined) return Effect.void
    return new ValidationError({ operation, collection: given.collection, id: given.id, message: problem })
  })

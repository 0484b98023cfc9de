import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { type ReadError, ValidationError } from "../../domain/errors/StoreError.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { parseObject } from "../../domain/json/JsonText.js"
import { maxSchemaBytes, schemaProblems } from "../../domain/settings/JsonSchema.js"
import { under } from "../DocumentPath.js"
import { checkArguments } from "./calls/Arguments.js"
import type { Snapshot, StoreCore } from "./commit/StoreCore.js"

/** The directory of the collections' JSON Schemas. */
export const schemaDirectory = "_schemas"

export interface SchemaPlace {
  readonly operation: string
  readonly collection: string
  readonly path: string
}

export const placeOf = ({ options }: StoreCore, operation: string, collection: string): SchemaPlace => ({
  operation,
  collection,
  path: under(options.root, schemaDirectory, `${collection}.json`)
})

export const tooLarge = (place: SchemaPlace, bytes: number) =>
  new ValidationError({
    ...place,
    message: `${place.path} has ${bytes} bytes, and a JSON Schema has at most ${maxSchemaBytes}`,
    hint: "remove descriptions and examples, or split the collection"
  })

export const judged = (place: SchemaPlace, schema: JsonObject, hint: string) => {
  const issues = schemaProblems(schema)
  const [first] = issues
  return first === undefined
    ? Either.right(schema)
    : Either.left(
        new ValidationError({
          ...place,
          message: `${place.path} is not a JSON Schema: ${first.path === "" ? "it" : first.path} ${first.message}`,
          hint,
          issues
        })
      )
}

const mend = "correct the file in a commit, or write the schema again"

export const parse = (
  place: SchemaPlace,
  content: Uint8Array
): Either.Either<JsonObject, ValidationError> => {
  if (content.length > maxSchemaBytes) return Either.left(tooLarge(place, content.length))
  return parseObject(content).pipe(
    Either.mapLeft(
      (problem) => new ValidationError({ ...place, message: `${place.path} ${problem}`, hint: mend })
    ),
    Either.flatMap((schema) => judged(place, schema, mend))
  )
}

export const stored = (snapshot: Snapshot, place: SchemaPlace) => snapshot.untracked.file(place.path)

/** The stored JSON Schema of a collection; none if there is none. */
export const readSchema = (
  core: StoreCore,
  collection: string
): Effect.Effect<Option.Option<JsonObject>, ReadError> =>
  Effect.gen(function* () {
    const operation = "Collection.jsonSchema"
    yield* checkArguments(operation, { collection })
    const place = placeOf(core, operation, collection)
    const file = yield* stored(core.snapshot(), place)
    return Option.isNone(file) ? Option.none() : Option.some(yield* parse(place, file.value.content))
  })

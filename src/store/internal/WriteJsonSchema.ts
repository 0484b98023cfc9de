import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ValidationError, type WriteError } from "../../domain/errors/StoreError.js"
import { encode, isPlainObject } from "../../domain/json/CanonicalJson.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { copyJson } from "../../domain/json/JsonCopy.js"
import { maxSchemaBytes, printSchema, sameSchema } from "../../domain/settings/JsonSchema.js"
import type { JsonSchemaOptions } from "../Collection.js"
import { checkArguments } from "./calls/Arguments.js"
import type { AnySchema } from "./calls/Codec.js"
import type { StoreCore } from "./commit/StoreCore.js"
import { judged, parse, placeOf, type SchemaPlace, stored, tooLarge } from "./JsonSchemas.js"

/** The JSON Schema of an Effect Schema's encoded side. */
const derived = (place: SchemaPlace, schema: AnySchema) =>
  Either.try({
    try: () => JSON.parse(JSON.stringify(JSONSchema.make(schema))) as JsonObject,
    catch: (cause) =>
      new ValidationError({
        ...place,
        message: `the schema of ${place.collection} cannot be expressed as a JSON Schema: ${cause instanceof Error ? cause.message : cause}`,
        hint: "give the part that has no JSON Schema the annotation `jsonSchema`, or give a JSON Schema",
        cause
      })
  })

const copied = (place: SchemaPlace, given: object): Either.Either<JsonObject, ValidationError> => {
  const wrong = (problem: string, cause?: unknown) =>
    Either.left(
      new ValidationError({
        ...place,
        message: `the schema of ${place.collection} is not JSON: ${problem}`,
        cause
      })
    )
  try {
    const copy = copyJson(given)
    if (!isPlainObject(copy as object)) return wrong("it is not an object")
    const printed = encode(copy as JsonObject)
    return Either.isRight(printed)
      ? Either.right(copy as JsonObject)
      : wrong(`${printed.left.path === "" ? "it" : printed.left.path} ${printed.left.message}`)
  } catch (cause) {
    return wrong(cause instanceof Error ? cause.message : String(cause), cause)
  }
}

const given = (
  place: SchemaPlace,
  own: AnySchema | undefined,
  schema: JsonSchemaOptions["schema"]
): Either.Either<JsonObject, ValidationError> => {
  if (schema !== undefined && !Schema.isSchema(schema)) return copied(place, schema)
  const source = schema ?? own
  if (source !== undefined) return derived(place, source as AnySchema)
  return Either.left(
    new ValidationError({
      ...place,
      message: `${place.collection} was opened without a schema: there is none to write`,
      hint: "open it with a schema or a definition, or give `schema`"
    })
  )
}

const inTransaction = (place: SchemaPlace) =>
  new ValidationError({
    ...place,
    message: "a transaction contains documents only: it cannot write a schema",
    hint: "write the schema before the transaction or after it"
  })

/** Stores the JSON Schema of a collection in one commit; none if it is already stored. */
export const writeSchema = (
  core: StoreCore,
  collection: string,
  own: AnySchema | undefined,
  { message, schema }: JsonSchemaOptions = {}
): Effect.Effect<Option.Option<string>, WriteError> =>
  Effect.gen(function* () {
    const operation = "Collection.writeJsonSchema"
    yield* checkArguments(operation, { collection })
    const place = placeOf(core, operation, collection)
    // A rebase keeps documents only.
    if (core.transaction !== undefined) return yield* inTransaction(place)
    const next = yield* Either.flatMap(given(place, own, schema), (found) =>
      judged(place, found, "docs/store.md says what a JSON Schema of a collection is")
    )
    const content = printSchema(next)
    if (content.length > maxSchemaBytes) return yield* tooLarge(place, content.length)
    const text = message ?? `write the schema of ${collection}`
    const written = yield* core.write({
      operation,
      message: text,
      mode: "document",
      plan: (snapshot) =>
        Effect.gen(function* () {
          yield* snapshot.head
          const file = yield* stored(snapshot, place)
          const before = Option.flatMap(file, (found) => Either.getRight(parse(place, found.content)))
          if (Option.exists(before, (one) => sameSchema(one, next))) return Option.none()
          return Option.some({
            operation,
            message: text,
            mode: "document" as const,
            operations: [],
            files: [{ _tag: "Put" as const, path: place.path, content }]
          })
        })
    })
    return Option.map(written.committed, ({ commit }) => commit as string)
  })

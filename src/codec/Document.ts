import type * as FastCheck from "effect/FastCheck"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { DocumentMetadata, StoredDocument } from "../domain/document/Document.js"
import { isPlainObject, maxDepth } from "../domain/json/CanonicalJson.js"
import type { Json, JsonObject } from "../domain/json/Json.js"
import type { Typed } from "../store/Collection.js"
import { attach, detach, metadataIn } from "../store/internal/calls/Codec.js"

/** Whether a value is JSON within the depth limit of documents. The limit also rejects cycles. */
const isJson = (value: unknown): value is Json => {
  const seen = new Set<object>()
  const look = (value: unknown, depth: number): boolean => {
    if (typeof value !== "object") {
      return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)
    }
    if (value === null || seen.has(value)) return true
    if (depth > maxDepth || !(Array.isArray(value) || isPlainObject(value))) return false
    const members: Iterable<unknown> = Array.isArray(value) ? value : Object.values(value)
    for (const member of members) if (!look(member, depth + 1)) return false
    seen.add(value)
    return true
  }
  return look(value, 0)
}

const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && isJson(value)

// Declared, because a struct or a record would copy the members, and lose a member named `__proto__`.
/**
 * A schema of JSON values: no undefined, no NaN, no infinity.
 *
 * @since 0.1.0
 * @category documents
 */
const JsonSchema: Schema.Schema<Json> = Schema.declare(isJson, {
  identifier: "Json",
  jsonSchema: {},
  arbitrary: () => (fc) => fc.jsonValue() as FastCheck.Arbitrary<Json>
})

/**
 * A schema of JSON objects.
 *
 * @since 0.1.0
 * @category documents
 */
const JsonObjectSchema: Schema.Schema<JsonObject> = Schema.declare(isJsonObject, {
  identifier: "JsonObject",
  jsonSchema: { type: "object" },
  arbitrary: () => (fc) => fc.dictionary(fc.string(), fc.jsonValue()) as FastCheck.Arbitrary<JsonObject>
})

/**
 * A schema of the fields that the store adds to a document.
 *
 * @since 0.1.0
 * @category documents
 */
const MetadataSchema: Schema.Schema<DocumentMetadata> = Schema.Struct({
  _id: Schema.String,
  _rev: Schema.Int,
  _created_at: Schema.String,
  _updated_at: Schema.String
})

const isMetadata = Schema.is(MetadataSchema)

/**
 * A schema of documents as a collection without a schema reads them.
 *
 * @since 0.1.0
 * @category documents
 */
const StoredDocumentSchema: Schema.Schema<StoredDocument> = Schema.declare(
  (value): value is StoredDocument => isJsonObject(value) && isMetadata(value),
  {
    identifier: "StoredDocument",
    jsonSchema: {
      type: "object",
      required: ["_id", "_rev", "_created_at", "_updated_at"],
      properties: {
        _id: { type: "string" },
        _rev: { type: "integer" },
        _created_at: { type: "string" },
        _updated_at: { type: "string" }
      }
    },
    arbitrary: () => (fc) =>
      fc
        .tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.nat())
        .map(
          ([fields, _id, _rev]): StoredDocument =>
            ({ ...fields, _id, _rev, _created_at: "", _updated_at: "" }) as StoredDocument
        )
  }
)

export {
  JsonObjectSchema as JsonObject,
  JsonSchema as Json,
  MetadataSchema as DocumentMetadata,
  StoredDocumentSchema as StoredDocument
}

/**
 * A document as the reads of a collection with this schema return it: the decoded value with the metadata.
 *
 * @example
 * ```ts
 * class GetPerson extends Schema.TaggedRequest<GetPerson>()("GetPerson", {
 *   failure: Codec.ReadError,
 *   success: Schema.Option(Codec.document(Person)),
 *   payload: { id: Schema.String }
 * }) {}
 * ```
 *
 * @since 0.1.0
 * @category documents
 */
export const document = <A, I extends object, R>(
  schema: Schema.Schema<A, I, R>
): Schema.Schema<Typed<A>, I & DocumentMetadata, R> => {
  const [inside, outside] = [metadataIn(schema.ast, "encoded"), metadataIn(schema.ast, "type")]
  const isDecoded = Schema.is(Schema.typeSchema(schema))
  const from = StoredDocumentSchema as unknown as Schema.Schema<I & DocumentMetadata>
  const to = Schema.declare(
    (value): value is Typed<A> => isMetadata(value) && isDecoded(detach(value, outside))
  )
  return Schema.transformOrFail(from, to, {
    strict: true,
    decode: (stored) =>
      ParseResult.map(ParseResult.decodeUnknown(schema)(detach(stored, inside)), (decoded) =>
        attach(decoded, stored)
      ),
    encode: (typed) =>
      ParseResult.map(ParseResult.encodeUnknown(schema)(detach(typed, outside)), (encoded) => {
        const { _created_at, _id, _rev, _updated_at } = typed
        return { ...encoded, _id, _rev, _created_at, _updated_at }
      })
  })
}

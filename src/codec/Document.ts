import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { DocumentMetadata, Json, JsonObject, StoredDocument } from "../domain/Document.js"
import type { Typed } from "../store/Collection.js"
import { attach } from "../store/internal/Codec.js"

const JsonSchema: Schema.Schema<Json> = Schema.suspend(() =>
  Schema.Union(
    Schema.Null,
    Schema.Boolean,
    Schema.JsonNumber,
    Schema.String,
    Schema.Array(JsonSchema),
    JsonObjectSchema
  )
).annotations({ identifier: "Json" })

const JsonObjectSchema: Schema.Schema<JsonObject> = Schema.Record({
  key: Schema.String,
  value: JsonSchema
}).annotations({ identifier: "JsonObject" })

const metadata = {
  _id: Schema.String,
  _rev: Schema.Int,
  _created_at: Schema.String,
  _updated_at: Schema.String
}

const MetadataSchema: Schema.Schema<DocumentMetadata> = Schema.Struct(metadata)

const StoredDocumentSchema: Schema.Schema<StoredDocument> = Schema.Struct(metadata, {
  key: Schema.String,
  value: JsonSchema
}).annotations({ identifier: "StoredDocument" })

export {
  /** @since 0.1.0 @category documents */
  JsonObjectSchema as JsonObject,
  JsonSchema as Json,
  MetadataSchema as DocumentMetadata,
  StoredDocumentSchema as StoredDocument
}

/**
 * A document of a collection with this schema, as its reads give it: what the schema decodes to, and the metadata.
 *
 * @since 0.1.0
 * @category documents
 */
export const document = <A, I extends object, R>(
  schema: Schema.Schema<A, I, R>
): Schema.Schema<Typed<A>, I & DocumentMetadata, R> => {
  const isDecoded = Schema.is(Schema.typeSchema(schema))
  const isMetadata = Schema.is(MetadataSchema)
  const from = Schema.extend(Schema.encodedSchema(schema), MetadataSchema)
  const to = Schema.declare((value): value is Typed<A> => isDecoded(value) && isMetadata(value))
  return Schema.transformOrFail(from, to, {
    strict: true,
    decode: (stored, options) =>
      ParseResult.map(
        ParseResult.decode(schema)(stored, { ...options, onExcessProperty: "ignore" }),
        (decoded) => attach(decoded, stored)
      ),
    encode: (typed, options) =>
      ParseResult.map(ParseResult.encode(schema)(typed, options), (encoded) => {
        const { _created_at, _id, _rev, _updated_at } = typed
        return { ...encoded, _id, _rev, _created_at, _updated_at }
      })
  })
}

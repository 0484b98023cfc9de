import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Steps from "../../domain/concurrency/Steps.js"
import type { DocumentMetadata } from "../../domain/document/Document.js"
import type { ValidationError } from "../../domain/errors/StoreError.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { type LosslessObject, parseVerbatimSteps } from "../../domain/json/LosslessJson.js"
import { LosslessNumber } from "../../domain/json/NumberText.js"
import { plain, setCodec } from "../internal/calls/Codec.js"
import { type DocumentPlace, unreadableError, withMetadata } from "../internal/commit/VersionCodec.js"

/** A stored document whose numbers keep the spelling of its file. */
export type VerbatimDocument = LosslessObject & DocumentMetadata

const read = (place: DocumentPlace, content: Uint8Array): Effect.Effect<VerbatimDocument, ValidationError> =>
  Effect.flatMap(
    Steps.run(() => parseVerbatimSteps(content)),
    Either.mapBoth({
      onLeft: (problem) => unreadableError(place, problem),
      onRight: (document) => {
        const { _rev } = document
        const found = _rev instanceof LosslessNumber ? { ...document, _rev: Number(_rev.text) } : document
        return withMetadata(place.id, found as JsonObject) as VerbatimDocument
      }
    })
  )

/** Opens a collection for reading documents with their numbers as files spell them. */
export const verbatimDocuments: Schema.Schema<VerbatimDocument, JsonObject> = setCodec(
  Schema.declare((value): value is any => typeof value === "object" && value !== null),
  {
    ...plain,
    read,
    fromDocument: (place, document, content) =>
      content === undefined ? Effect.succeed(document) : read(place, content)
  }
)

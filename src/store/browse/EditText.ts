import * as Either from "effect/Either"
import type { JsonObject } from "../../domain/Document.js"
import { findInexactNumbers, readObject } from "../../domain/JsonText.js"
import type * as TimeSlice from "../../domain/TimeSlice.js"

const encoder = new TextEncoder()

/** A document without the fields that the store writes. */
export const withoutMetadata = ({ _created_at, _id, _rev, _updated_at, ...body }: JsonObject): JsonObject =>
  body

/** The document that an edited text holds, without the store's fields; or what is wrong with the text. In steps. */
export function* readDocument(text: string): TimeSlice.Steps<Either.Either<JsonObject, string>> {
  const read = yield* readObject(encoder.encode(text))
  if (Either.isLeft(read)) return read
  const [inexact] = yield* findInexactNumbers(text)
  return inexact === undefined
    ? Either.right(withoutMetadata(read.right))
    : Either.left(
        `holds the number ${inexact.text} at ${inexact.path}, which would be stored as ${inexact.value}: write it as text`
      )
}

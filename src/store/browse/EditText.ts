import * as Either from "effect/Either"
import type { JsonObject } from "../../domain/Document.js"
import { inexactNumbers, parseObject } from "../../domain/JsonText.js"

const encoder = new TextEncoder()

/** A document without the fields that the store writes. */
export const withoutMetadata = ({ _created_at, _id, _rev, _updated_at, ...body }: JsonObject): JsonObject =>
  body

/** The document that an edited text holds, without the store's fields; or what is wrong with the text. */
export const documentIn = (text: string): Either.Either<JsonObject, string> => {
  const content = encoder.encode(text)
  return Either.flatMap(parseObject(content), (document) => {
    const [inexact] = inexactNumbers(content)
    return inexact === undefined
      ? Either.right(withoutMetadata(document))
      : Either.left(
          `holds the number ${inexact.text} at ${inexact.path}, which would be stored as ${inexact.value}: write it as text`
        )
  })
}

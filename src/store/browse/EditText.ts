import * as Either from "effect/Either"
import type * as Steps from "../../domain/concurrency/Steps.js"
import { bodyOf } from "../../domain/document/DocumentBody.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { fileLength, inexactNumbersSteps, parseObjectSteps } from "../../domain/json/JsonText.js"
import { repeatedKeySteps } from "../../domain/json/RepeatedKey.js"

const mebibyte = 1024 * 1024

/** The largest file that can be edited as text: its bytes are read, hashed and compressed without a pause. */
const longestFile = 2 * mebibyte

const encoder = new TextEncoder()

/** Parses an edited text to a document without metadata, or returns the problem of the text. Runs in steps. */
export function* readDocument(text: string): Steps.Steps<Either.Either<JsonObject, string>> {
  // UTF-8 cannot encode a lone surrogate.
  if (/\p{Surrogate}/u.test(text)) return Either.left("contains a lone surrogate (half of a character)")
  const length = yield* fileLength(text)
  if (length > longestFile) {
    return Either.left(
      `is nested so deeply that its file would have ${Math.ceil(length / mebibyte)} MiB, and ${longestFile / mebibyte} are the most: nest it less, or write it with the command line`
    )
  }
  const read = yield* parseObjectSteps(encoder.encode(text))
  if (Either.isLeft(read)) return read
  const repeated = yield* repeatedKeySteps(text)
  if (repeated !== undefined) {
    const { lines, path } = repeated
    return Either.left(
      `has ${path} twice, on lines ${lines.join(" and ")}, and only the last would be stored: remove one, or rename it`
    )
  }
  const [inexact] = yield* inexactNumbersSteps(text)
  return inexact === undefined
    ? Either.right(yield* bodyOf(read.right))
    : Either.left(
        `holds the number ${inexact.text} at ${inexact.path}, which would be stored as ${inexact.value}: write it as text`
      )
}

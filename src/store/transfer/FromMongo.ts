import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { inDaemonFiber } from "../../domain/concurrency/DaemonFiber.js"
import { ValidationError } from "../../domain/errors/StoreError.js"
import {
  type FieldsOf,
  object,
  optional,
  optionsReader,
  wholeNumber,
  withDefault
} from "../../domain/options/Options.js"
import { fromDbapi } from "./FromDbapi.js"
import type { RecordStream } from "./RecordSource.js"

/**
 * A collection of the `mongodb` driver.
 *
 * @since 0.1.0
 * @category models
 */
export interface MongoCollection {
  /** Returns a cursor over the documents that the filter matches. */
  readonly find: (
    filter: any,
    options?: any
  ) => AsyncIterable<unknown> & { readonly close?: () => Promise<unknown> }
}

/**
 * Options of `fromMongo`.
 *
 * @since 0.1.0
 * @category options
 */
export interface MongoOptions {
  /** MongoDB's filter. Default: every document. */
  readonly filter?: object | undefined
  /** MongoDB's projection. Default: every field. */
  readonly projection?: object | undefined
  /** At most this many documents; 0 means all. */
  readonly limit?: number | undefined
}

const read = optionsReader(
  Schema.Struct({
    filter: optional(object),
    projection: optional(object),
    limit: withDefault(wholeNumber(0), 0)
  } satisfies FieldsOf<MongoOptions>)
)

/**
 * The documents that a MongoDB query returns. The cursor is closed at the end.
 *
 * @example
 * ```ts
 * const records = fromMongo(client.db("shop").collection("people"), { filter: { city: "London" } })
 * ```
 *
 * @since 0.1.0
 * @category importing
 */
export const fromMongo = (collection: MongoCollection, options: MongoOptions = {}): RecordStream => {
  const given = read("fromMongo", options)
  if (Either.isLeft(given)) return Stream.fail(given.left)
  const { filter, limit, projection } = given.right
  if (typeof collection?.find !== "function") {
    return Stream.fail(
      new ValidationError({
        operation: "fromMongo",
        message: "this is not a MongoDB collection: it has no find"
      })
    )
  }
  return Stream.suspend(() => {
    const cursor = collection.find(filter ?? {}, {
      limit,
      ...(projection === undefined ? {} : { projection })
    })
    const close = Effect.tryPromise(async () => cursor.close?.())
    return Stream.ensuring(
      fromDbapi(cursor),
      inDaemonFiber(Effect.ignoreLogged(Effect.timeout(close, "5 seconds")))
    )
  })
}

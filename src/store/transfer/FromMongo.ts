import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/StoreError.js"
import { detached } from "../internal/Detached.js"
import { fromDbapi } from "./FromDbapi.js"
import type { RecordStream } from "./Records.js"

/** A collection of the `mongodb` driver. */
export interface MongoCollection {
  readonly find: (
    filter: any,
    options?: any
  ) => AsyncIterable<unknown> & { readonly close?: () => Promise<unknown> }
}

export interface MongoOptions {
  readonly filter?: object | undefined
  readonly projection?: object | undefined
  /** At most this many documents; 0 means all. */
  readonly limit?: number | undefined
}

/** The documents that a MongoDB query finds, as the driver's cursor hands them out; the cursor is closed at the end. */
export const fromMongo = (collection: MongoCollection, options: MongoOptions = {}): RecordStream => {
  const limit = options.limit ?? 0
  if (typeof collection?.find !== "function") {
    return Stream.fail(
      new ValidationError({
        operation: "fromMongo",
        message: "this is no MongoDB collection: it has no find"
      })
    )
  }
  if (!Number.isInteger(limit) || limit < 0) {
    return Stream.fail(
      new ValidationError({
        operation: "fromMongo",
        message: `limit must be an integer of at least 0, it is ${limit}`
      })
    )
  }
  return Stream.suspend(() => {
    const cursor = collection.find(options.filter ?? {}, {
      limit,
      ...(options.projection === undefined ? {} : { projection: options.projection })
    })
    const close = Effect.tryPromise(async () => cursor.close?.())
    return Stream.ensuring(
      fromDbapi(cursor),
      detached(Effect.ignoreLogged(Effect.timeout(close, "5 seconds")))
    )
  })
}

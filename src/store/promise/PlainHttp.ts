import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { AuthError } from "../../domain/errors/StoreError.js"

/** Returns an `Authorization` header as a promise. */
export type PlainAuth = () => Promise<{ readonly header: string; readonly expiresAt?: Date | undefined }>

/** A function that returns an `Authorization` header, as an effect. */
export const authOf = (auth: PlainAuth) =>
  Effect.tryPromise({
    try: auth,
    catch: (cause) =>
      new AuthError({
        operation: "auth",
        message: "the auth function failed",
        hint: "look at the cause",
        cause
      })
  }).pipe(Effect.map(({ expiresAt, header }) => ({ header: Redacted.make(header), expiresAt })))

/** The client that sends every request by `fetch`, by default the global one. */
export const clientOf = (fetch: typeof globalThis.fetch | undefined): Layer.Layer<HttpClient.HttpClient> =>
  fetch === undefined
    ? FetchHttpClient.layer
    : Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))

import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { AuthError } from "../../domain/errors/StoreError.js"
import { callback, type FieldsOf, optional, text } from "../../domain/options/Options.js"

/** Returns an `Authorization` header as a promise. */
export type PlainAuth = () => Promise<{ readonly header: string; readonly expiresAt?: Date | undefined }>

/** The options of requests as plain values. */
export interface PlainHttpOptions {
  /** A token or password. It is sent only to the address of the repository or of its API. */
  readonly token?: string | undefined
  /** Returns an `Authorization` header. */
  readonly auth?: PlainAuth | undefined
  /** Sends every request instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export const plainHttpFields = {
  token: optional(text),
  auth: optional(callback()),
  fetch: optional(callback())
} satisfies FieldsOf<PlainHttpOptions>

export const tokenOf = (token: string | undefined) => (token === undefined ? undefined : Redacted.make(token))

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

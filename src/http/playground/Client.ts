import * as HttpApiClient from "@effect/platform/HttpApiClient"
import { PlaygroundApi } from "./Api.js"

/**
 * A typed client of the playground at `baseUrl` (without `/v1`), derived from the same description that serves it.
 * Every documented error is in the type of the call that can meet it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: { readonly baseUrl: string | URL }) =>
  HttpApiClient.make(PlaygroundApi, options)

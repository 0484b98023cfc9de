import * as HttpApiClient from "@effect/platform/HttpApiClient"
import { PlaygroundApi } from "./Api.js"

/**
 * Creates a typed client of the playground at `baseUrl` (without `/v1`). The type of each call includes every
 * documented error.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: { readonly baseUrl: string | URL }) =>
  HttpApiClient.make(PlaygroundApi, options)

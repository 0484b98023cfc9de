import { HttpApiBuilder, type HttpApiGroup, type HttpServerRequest } from "@effect/platform"
import { Effect, type Layer } from "effect"
import type { Handlers } from "../server/Direct.js"
import { UnhandledRequest } from "../server/HttpError.js"
import { PlaygroundApi, type PlaygroundGroup } from "./Api.js"
import { Playground } from "./Playground.js"

/**
 * Returns the base URL of the service: the configured one, or that of the request.
 *
 * @since 0.1.0
 * @category type-level
 */
export type OriginOf = (request: HttpServerRequest.HttpServerRequest) => string

/**
 * The handlers of all operations. Both ways of serving the API use them.
 *
 * @since 0.1.0
 * @category serving
 */
export const handlers = (
  originOf: OriginOf
): Effect.Effect<Handlers<typeof PlaygroundGroup>, never, Playground> =>
  Effect.map(Playground, (playground) => ({
    languages: ({ request }) => playground.languages(originOf(request)),
    describeTicketTriage: () => playground.describeTicketTriage,
    executeTicketTriage: ({ payload }) => playground.executeTicketTriage(payload),
    executeChain: ({ payload }) =>
      Effect.mapError(playground.executeChain(payload), ({ message }) => new UnhandledRequest({ message }))
  }))

/**
 * The operations as a layer of `HttpApiBuilder`, the standard way to serve them.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  originOf: OriginOf
): Layer.Layer<HttpApiGroup.ApiGroup<"playground-api", "playground">, never, Playground> =>
  HttpApiBuilder.group(PlaygroundApi, "playground", (group) =>
    Effect.map(handlers(originOf), (own) =>
      group
        .handle("languages", own.languages)
        .handle("describeTicketTriage", own.describeTicketTriage)
        .handle("executeTicketTriage", own.executeTicketTriage)
        .handle("executeChain", own.executeChain)
    )
  )

/**
 * Returns the configured public URL, or the URL from the request's `Host`.
 *
 * @since 0.1.0
 * @category serving
 */
export const originOf =
  (publicUrl: string | undefined): OriginOf =>
  (request) =>
    publicUrl === undefined
      ? `http://${request.headers["host"] ?? "localhost"}`
      : publicUrl.replace(/\/+$/, "")

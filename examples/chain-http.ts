/**
 * A chain behind an `HttpApi`. One step calls another service with `HttpClient` and a timeout; after a timeout the next
 * step handles the request.
 *
 * Output:
 * EUR: 0.9 from the service
 * GBP: 1 from the fallback
 */
import {
  FetchHttpClient,
  HttpApi,
  HttpApiBuilder,
  HttpApiClient,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpClient,
  HttpServer
} from "@effect/platform"
import { Chain, ChainBuilder } from "chainstore/chain"
import { Console, Effect, Layer, Schema } from "effect"

const Rate = Schema.Struct({ rate: Schema.Number, from: Schema.String })

const rates = HttpApiGroup.make("rates").add(
  HttpApiEndpoint.get("rate", "/rates/:currency")
    .setPath(Schema.Struct({ currency: Schema.String }))
    .addSuccess(Rate)
)
const api = HttpApi.make("exchange").add(rates)

/** The service that is asked: it never answers for the pound. */
const elsewhere = Layer.succeed(FetchHttpClient.Fetch, async (input) =>
  String(input).endsWith("GBP") ? new Promise<Response>(() => {}) : new Response("0.9")
)

const chain = ChainBuilder.make<string, typeof Rate.Type>("rates")
  .use((currency, next) =>
    HttpClient.get(`http://rates.example/${currency}`).pipe(
      Effect.flatMap((response) => response.text),
      Effect.map((text) => ({ rate: Number(text), from: "the service" })),
      Effect.scoped,
      Effect.timeout("50 millis"),
      Effect.catchAll(() => next(currency))
    )
  )
  .withFallback(() => ({ rate: 1, from: "the fallback" }))
  .build()

const handlers = HttpApiBuilder.group(api, "rates", (handlers) =>
  Effect.map(HttpClient.HttpClient, (client) =>
    handlers.handle("rate", ({ path }) =>
      Effect.provideService(Chain.execute(chain, path.currency), HttpClient.HttpClient, client)
    )
  )
)

const server = HttpApiBuilder.toWebHandler(
  Layer.mergeAll(
    Layer.provide(HttpApiBuilder.api(api), handlers).pipe(
      Layer.provide(Layer.provide(FetchHttpClient.layer, elsewhere))
    ),
    HttpServer.layerContext
  )
)

const program = Effect.gen(function* () {
  const exchange = yield* HttpApiClient.make(api, { baseUrl: "http://exchange.example" })
  for (const currency of ["EUR", "GBP"]) {
    const { from, rate } = yield* exchange.rates.rate({ path: { currency } })
    yield* Console.log(`${currency}: ${rate} from ${from}`)
  }
})

const fetching = Layer.succeed(FetchHttpClient.Fetch, (input, init) =>
  server.handler(new Request(input, init))
)
await Effect.runPromise(Effect.provide(program, Layer.provide(FetchHttpClient.layer, fetching)))
await server.dispose()

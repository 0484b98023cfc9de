/**
 * Starts the playground on a free port and speaks to it with the typed client.
 *
 * Output:
 * C#, Java, Python, Node, TypeScript (Effect)
 * refund issued for ticket 41 (by refund)
 * -7 is negative (by negative)
 * 422: No handler in the chain handled the request.
 */
import { FetchHttpClient } from "@effect/platform"
import { Playground, PlaygroundClient, Server } from "chainstore/http"
import { Service, Settings } from "chainstore/layers"
import { ConfigProvider, Console, Effect, Layer, Logger } from "effect"

const program = Effect.gen(function* () {
  const { url } = yield* Server.Server
  const playground = yield* PlaygroundClient.make({ baseUrl: url })

  const { languages } = yield* playground.languages()
  yield* Console.log(languages.map(({ language }) => language).join(", "))

  const ticket = yield* playground.executeTicketTriage({ payload: { id: 41, kind: "refund" } })
  yield* Console.log(`${ticket.response} (by ${ticket.handledBy})`)

  const handlers = [{ name: "negative", when: { lessThan: 0 }, respond: "{request} is negative" }]
  const sign = yield* playground.executeChain({ payload: { request: -7, handlers } })
  yield* Console.log(`${sign.response} (by ${sign.handledBy})`)

  // What can go wrong is in the type: here, that nobody accepts and there is no fallback.
  yield* playground
    .executeChain({ payload: { request: 5, handlers } })
    .pipe(
      Effect.catchTag("UnhandledRequestError", (error) => Console.log(`${error.status}: ${error.message}`))
    )
})

const settings = Effect.withConfigProvider(
  Settings.settings,
  ConfigProvider.fromMap(new Map([["PORT", "0"]]))
)
const service = Layer.unwrapEffect(Effect.map(settings, Service.layerPlayground)).pipe(
  Layer.provide(Playground.layer({ name: "chainstore", install: "npm install chainstore" }))
)

const quiet = Logger.remove(Logger.defaultLogger)

await Effect.runPromise(
  Effect.provide(program, Layer.merge(service, FetchHttpClient.layer).pipe(Layer.provide(quiet)))
)

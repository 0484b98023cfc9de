/**
 * Every part of the service is a layer. This program replaces the triage chain and keeps the rest.
 *
 * Output:
 * ticket 7 goes to the night shift (by night-shift)
 * zero (by zero)
 */
import { FetchHttpClient } from "@effect/platform"
import { Chain, ChainBuilder } from "chainstore/chain"
import { Playground, PlaygroundClient, Server } from "chainstore/http"
import { Service, Settings } from "chainstore/layers"
import { ConfigProvider, Console, Effect, Layer, Logger } from "effect"

const nightShift = ChainBuilder.make<{ readonly id: number }, string>("night-triage")
  .withFallback((ticket) => `ticket ${ticket.id} goes to the night shift`)
  .build()

/** The usual playground with another triage. */
const atNight = Layer.effect(
  Playground.Playground,
  Effect.map(Playground.Playground, (usual) => ({
    ...usual,
    executeTicketTriage: (ticket) =>
      Effect.map(Chain.execute(nightShift, ticket), (response) => ({
        response,
        handledBy: "night-shift",
        elapsedMilliseconds: 0,
        log: []
      }))
  }))
).pipe(Layer.provide(Playground.layer({ name: "chainstore", install: "npm install chainstore" })))

const program = Effect.gen(function* () {
  const { url } = yield* Server.Server
  const playground = yield* PlaygroundClient.make({ baseUrl: url })
  const ticket = yield* playground.executeTicketTriage({ payload: { id: 7, kind: "other" } })
  yield* Console.log(`${ticket.response} (by ${ticket.handledBy})`)
  const zero = yield* playground.executeChain({
    payload: { request: 0, handlers: [{ name: "zero", when: { equals: 0 }, respond: "zero" }] }
  })
  yield* Console.log(`${zero.response} (by ${zero.handledBy})`)
})

const settings = Effect.withConfigProvider(
  Settings.settings,
  ConfigProvider.fromMap(new Map([["PORT", "0"]]))
)
const service = Layer.unwrapEffect(
  Effect.map(settings, (given) => Service.layerPlayground(given).pipe(Layer.provide(atNight)))
)

const quiet = Logger.remove(Logger.defaultLogger)

await Effect.runPromise(
  Effect.provide(program, Layer.merge(service, FetchHttpClient.layer).pipe(Layer.provide(quiet)))
)

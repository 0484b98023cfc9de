// The service inside somebody else's program, on whatever Effect that has: copied into a project like consumer.ts.
import { Server } from "chainstore/http"
import { Service, Settings } from "chainstore/layers"
import { ConfigProvider, Effect, Logger, LogLevel } from "effect"

const environment = ConfigProvider.fromMap(
  new Map([
    ["PORT", "0"],
    ["CHAINSTORE_DATA", "data"]
  ])
)

const asked = Effect.gen(function* () {
  const { url } = yield* Server.Server
  const answers = yield* Effect.promise(() =>
    Promise.all(["/", "/v1", "/healthz"].map((path) => fetch(url + path)))
  )
  return answers.map(({ status }) => status)
})

const program = Effect.flatMap(Settings.settings, (settings) =>
  Effect.provide(asked, Service.layer(settings))
).pipe(Effect.withConfigProvider(environment), Logger.withMinimumLogLevel(LogLevel.None))

console.log(...(await Effect.runPromise(program)))

import { NodeRuntime } from "@effect/platform-node"
import { ConfigError, Console, Effect, Layer } from "effect"
import { Server } from "../http/server/Server.js"
import * as Service from "./Service.js"
import { help, settings } from "./Settings.js"
import * as Telemetry from "./Telemetry.js"

/** Says where the service listens, once it does. */
const announce = Effect.flatMap(Server, (server) => Console.log(`Chainstore is listening on ${server.url}`))

/** Runs the service until a signal, then drains. */
export const serve: Effect.Effect<never, unknown> = Effect.flatMap(settings, (given) =>
  Layer.launch(
    Layer.effectDiscard(announce).pipe(
      Layer.provide(Service.layer(given)),
      Layer.provide(Telemetry.layer(given))
    )
  )
)

const explain = (error: unknown): string => {
  if (ConfigError.isConfigError(error)) return `The settings are wrong: ${String(error)}`
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}

/** A main: `--help` prints the settings; a failure to start is one line on standard error and exit code 1. */
export const run = (program: string, about: string, main: Effect.Effect<unknown, unknown>): void => {
  if (process.argv.includes("--help") || process.argv.includes("-h")) {
    process.stdout.write(help(program, about))
    return
  }
  NodeRuntime.runMain(
    Effect.catchAll(main, (error) =>
      Effect.zipRight(
        Console.error(explain(error)),
        Effect.sync(() => {
          process.exitCode = 1
        })
      )
    ),
    { disablePrettyLogger: true }
  )
}

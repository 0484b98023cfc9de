import { ConfigError, Console, Data, Effect, Layer } from "effect"
import { StoreError } from "../domain/errors/StoreError.js"
import { Tokens } from "../http/host/access/Tokens.js"
import { Server } from "../http/server/Server.js"
import { NodeRuntime } from "../vendor/PlatformNode.js"
import * as Service from "./Service.js"
import { help, type Settings, settings } from "./Settings.js"
import * as Telemetry from "./Telemetry.js"

const announce =
  (lines: (url: string, settings: Settings, tokenFile: string) => ReadonlyArray<string>) =>
  (given: Settings) =>
    Effect.gen(function* () {
      const { url } = yield* Server
      const { file } = yield* Tokens
      yield* Console.log(
        [`Chainstore is listening on ${url}`, ...lines(given.publicUrl ?? url, given, file)].join("\n")
      )
    })

const announceService = announce((url, given, tokenFile) => [
  `The console is at ${url}/, the chain playground at ${url}/playground, its API at ${url}/docs`,
  given.hostToken === undefined
    ? `The embedded host's token is in ${tokenFile}`
    : "The embedded host's token is that of CHAINSTORE_HOST_TOKEN"
])

const announceHost = announce((url, given, tokenFile) => [
  `GitHub's REST API is at ${url}/ and ${url}/api/v3, GraphQL at ${url}/api/graphql`,
  given.hostToken === undefined
    ? `The token is in ${tokenFile}`
    : "The token is that of CHAINSTORE_HOST_TOKEN"
])

/**
 * Runs the whole service until it is interrupted, then drains.
 *
 * @since 0.1.0
 * @category running
 */
export const serve: Effect.Effect<never, unknown> = Effect.flatMap(settings, (given) =>
  Layer.launch(
    Layer.effectDiscard(announceService(given)).pipe(
      Layer.provide(Service.layer(given)),
      Layer.provide(Telemetry.layer(given))
    )
  )
)

/**
 * Runs the GitHub-compatible host alone until it is interrupted, then drains.
 *
 * @since 0.1.0
 * @category running
 */
export const host: Effect.Effect<never, unknown> = Effect.flatMap(settings, (given) =>
  Layer.launch(
    Layer.effectDiscard(announceHost(given)).pipe(
      Layer.provide(Service.layerHost(given)),
      Layer.provide(Telemetry.layer(given))
    )
  )
)

const errorLine = (error: unknown): string => {
  if (ConfigError.isConfigError(error)) return `The settings are wrong: ${String(error)}`
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof StoreError && error.hint !== undefined ? `${message}; ${error.hint}` : message
}

class UnknownArguments extends Data.TaggedError("UnknownArguments")<{ readonly message: string }> {}

const isHelp = (argument: string) => argument === "--help" || argument === "-h"

/**
 * Runs a main program. `--help` prints the settings. A failure to start and any other argument print one line to standard
 * error, with exit code 1.
 *
 * @since 0.1.0
 * @category running
 */
export const run = (program: string, about: string, main: Effect.Effect<unknown, unknown>): void => {
  const given = process.argv.slice(2)
  if (given.some(isHelp)) {
    process.stdout.write(help(program, about))
    return
  }
  const start =
    given.length === 0
      ? main
      : Effect.fail(
          new UnknownArguments({
            message: `${program} takes no arguments, but received ${given.join(" ")}: settings are environment variables, which --help lists`
          })
        )
  NodeRuntime.runMain(
    Effect.catchAll(start, (error) =>
      Effect.zipRight(
        Console.error(errorLine(error)),
        Effect.sync(() => {
          process.exitCode = 1
        })
      )
    ),
    { disablePrettyLogger: true }
  )
}

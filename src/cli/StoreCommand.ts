import { Command } from "@effect/cli"
import { Effect } from "effect"
import { layerStandardError } from "../store/promise/StandardErrorLogger.js"
import { connectionOf, connectionOptions, type MissingRepository, StoreOpener } from "./Connection.js"

/** The parsed options and arguments of a command. */
type Input<Config extends Command.Command.Config> = Command.Command.ParseConfig<{
  readonly own: Config
}>["own"]

/**
 * A command over one store. Adds the connection options, and opens the store before the handler runs. `missing` is the
 * behaviour if the repository does not exist; by default the command fails.
 */
export const storeCommand = <Name extends string, const Config extends Command.Command.Config, E, R>(
  name: Name,
  description: string,
  config: Config,
  handler: (input: Input<Config>) => Effect.Effect<void, E, R>,
  missing: (input: Input<Config>) => MissingRepository = () => "fail"
) =>
  Command.make(name, { own: config, connection: connectionOptions }, (input) =>
    Effect.gen(function* () {
      const stores = yield* StoreOpener
      const connection = yield* connectionOf(input.connection)
      yield* Effect.provide(handler(input.own), stores.open(connection, missing(input.own)))
    }).pipe(Effect.provide(layerStandardError))
  ).pipe(Command.withDescription(description))

import { Command } from "@effect/cli"
import { Effect } from "effect"
import { toStandardError } from "../store/promise/Logs.js"
import { connectionOf, connectionOptions, type Missing, Stores } from "./Connection.js"

/** Standard output is for results alone. */

/**
 * A command over one store: its own configuration with the connection's options, opened before the handler runs.
 * `missing` says what becomes of a repository that is not there; most commands have nothing to do with one.
 */
export const storeCommand = <Name extends string, const Config extends Command.Command.Config, E, R>(
  name: Name,
  description: string,
  config: Config,
  handler: (input: Command.Command.ParseConfig<Config>) => Effect.Effect<void, E, R>,
  missing: (input: Command.Command.ParseConfig<Config>) => Missing = () => "refuse"
) =>
  Command.make(name, { ...config, connection: connectionOptions }, (input) =>
    Effect.gen(function* () {
      const connection = yield* connectionOf(
        (input as { readonly connection: Command.Command.ParseConfig<typeof connectionOptions> }).connection
      )
      const stores = yield* Stores
      const own = input as unknown as Command.Command.ParseConfig<Config>
      yield* Effect.provide(handler(own), stores.open(connection, missing(own)))
    }).pipe(Effect.provide(toStandardError))
  ).pipe(Command.withDescription(description))

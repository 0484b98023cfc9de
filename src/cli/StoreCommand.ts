import { Command } from "@effect/cli"
import { Effect } from "effect"
import { connectionOf, connectionOptions, Stores } from "./Connection.js"

/** A command over one store: its own configuration with the connection's options, opened before the handler runs. */
export const storeCommand = <Name extends string, const Config extends Command.Command.Config, E, R>(
  name: Name,
  description: string,
  config: Config,
  handler: (input: Command.Command.ParseConfig<Config>) => Effect.Effect<void, E, R>
) =>
  Command.make(name, { ...config, connection: connectionOptions }, (input) =>
    Effect.gen(function* () {
      const connection = yield* connectionOf(
        (input as { readonly connection: Command.Command.ParseConfig<typeof connectionOptions> }).connection
      )
      const stores = yield* Stores
      yield* Effect.provide(
        handler(input as unknown as Command.Command.ParseConfig<Config>),
        stores.open(connection)
      )
    })
  ).pipe(Command.withDescription(description))

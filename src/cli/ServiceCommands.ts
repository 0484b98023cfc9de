import { Command } from "@effect/cli"
import { Context, Effect } from "effect"
import { section } from "./Help.js"

/** The long-running programs. `src/layers` provides them. */
export class Services extends Context.Tag("chainstore/cli/Services")<
  Services,
  {
    readonly serve: Effect.Effect<never, unknown>
    readonly host: Effect.Effect<never, unknown>
    /** The environment variables of both. */
    readonly settings: Effect.Effect<ReadonlyArray<{ readonly name: string; readonly about: string }>>
  }
>() {}

export const serve = Command.make("serve", {}, () =>
  Effect.flatMap(Services, (services) => services.serve)
).pipe(
  Command.withDescription(
    "Run the whole service: playground, console and embedded host on one port. Its settings are environment variables, which --help lists."
  )
)

/** The section of the help about the settings, if a command has them. */
export const settingsHelp = (name: string | undefined) =>
  name === "serve" || name === "host"
    ? Effect.map(
        Effect.flatMap(Services, ({ settings }) => settings),
        (variables) =>
          `\n\n${section(
            "Settings, all from the environment",
            variables.map(({ about, name: term }) => ({ term, about }))
          )}`
      )
    : Effect.succeed("")

export const host = Command.make("host", {}, () =>
  Effect.flatMap(Services, (services) => services.host)
).pipe(
  Command.withDescription(
    "Run the GitHub-compatible host alone. Its settings are environment variables, which --help lists."
  )
)

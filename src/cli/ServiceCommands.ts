import { Command } from "@effect/cli"
import { Context, Effect } from "effect"

/** The long-running programs. `src/layers` provides them. */
export class Services extends Context.Tag("chainstore/cli/Services")<
  Services,
  {
    readonly serve: Effect.Effect<never, unknown>
    readonly host: Effect.Effect<never, unknown>
  }
>() {}

export const serve = Command.make("serve", {}, () =>
  Effect.flatMap(Services, (services) => services.serve)
).pipe(
  Command.withDescription(
    "Run the whole service: playground, console and embedded host on one port. Settings are environment variables; docs/service.md lists them."
  )
)

export const host = Command.make("host", {}, () =>
  Effect.flatMap(Services, (services) => services.host)
).pipe(Command.withDescription("Run the GitHub-compatible host alone."))

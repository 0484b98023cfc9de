import { Args, Command, Options } from "@effect/cli"
import { Context, Effect, Option, Redacted } from "effect"
import { NotFoundError, ValidationError } from "../domain/errors/StoreError.js"
import { CommandOutput, jsonOption, print, table } from "./CommandOutput.js"

export interface TokenGrant {
  readonly repository: string
  readonly access: "read" | "write"
}

/** The issued tokens of the host of this machine. `src/layers` provides them. */
export class HostTokens extends Context.Tag("chainstore/cli/HostTokens")<
  HostTokens,
  {
    readonly list: Effect.Effect<
      ReadonlyArray<{ readonly login: string; readonly grants: ReadonlyArray<TokenGrant> }>,
      unknown
    >
    readonly issue: (
      login: string,
      grants: ReadonlyArray<TokenGrant>
    ) => Effect.Effect<Redacted.Redacted, unknown>
    /** Returns the number of revoked tokens. */
    readonly revoke: (login: string) => Effect.Effect<number, unknown>
  }
>() {}

const repositories = (access: TokenGrant["access"], description: string) =>
  Options.text(access).pipe(
    Options.withPseudoName("repositories"),
    Options.withDescription(description),
    Options.repeated,
    Options.map((names) => names.map((repository): TokenGrant => ({ repository, access })))
  )

const namesOf = (grants: ReadonlyArray<TokenGrant>, access: TokenGrant["access"]) =>
  grants
    .filter((grant) => grant.access === access)
    .map(({ repository }) => repository)
    .join(", ")

const misused = (message: string, hint: string) => new ValidationError({ operation: "token", message, hint })

export const token = Command.make(
  "token",
  {
    login: Args.text({ name: "login" }).pipe(
      Args.withDescription("Whose token to create or delete"),
      Args.optional
    ),
    read: repositories("read", "Let it read OWNER/NAME, OWNER/* or *"),
    write: repositories("write", "Let it read and write OWNER/NAME, OWNER/* or *"),
    remove: Options.boolean("delete").pipe(Options.withDescription("Delete all tokens of the login")),
    json: jsonOption
  },
  ({ json, login, read, remove, write }) =>
    Effect.gen(function* () {
      const tokens = yield* HostTokens
      const grants = [...read, ...write]
      if (Option.isNone(login)) {
        if (remove || grants.length > 0)
          return yield* misused("whose token?", "chainstore token LOGIN --read OWNER/NAME")
        const issued = yield* tokens.list
        const shown = issued.map(({ grants, login }) => ({ login, grants }))
        return yield* print(json, shown, (columns) =>
          shown.length === 0
            ? "There are no tokens besides the host's own."
            : table(
                ["login", "reads", "writes"],
                shown.map(({ grants, login }) => [login, namesOf(grants, "read"), namesOf(grants, "write")]),
                columns
              )
        )
      }
      if (remove) {
        if (grants.length > 0)
          return yield* misused("--delete deletes all tokens of the login", "leave out --read and --write")
        const deleted = yield* tokens.revoke(login.value)
        if (deleted === 0)
          return yield* new NotFoundError({
            operation: "token",
            message: `there is no token of ${login.value}`,
            hint: "chainstore token lists the tokens"
          })
        return yield* print(json, { login: login.value, deleted }, () => `${login.value} has no token now.`)
      }
      if (grants.length === 0)
        return yield* misused(
          `what may ${login.value} do?`,
          "give --read or --write, with OWNER/NAME, OWNER/* or *"
        )
      const issued = Redacted.value(yield* tokens.issue(login.value, grants))
      yield* print(json, { login: login.value, grants, token: issued }, () => issued)
      const { isTerminal, writeMessage } = yield* CommandOutput
      if (isTerminal && !json) yield* writeMessage("It is not stored and not shown again.\n")
    })
).pipe(
  Command.withDescription(
    "List the tokens of this machine's host, or create or delete those of a login. A running host follows within a second."
  )
)

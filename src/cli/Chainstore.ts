import { Command, ValidationError as UsageError } from "@effect/cli"
import { Console, Effect } from "effect"
import { optionsFirst } from "./ArgumentOrder.js"
import { doctor } from "./DoctorCommand.js"
import { exportCommand } from "./ExportCommand.js"
import { described, helpFor } from "./Help.js"
import { importCommand } from "./ImportCommand.js"
import { printable } from "./Printable.js"
import { collections, diff, get, history, query } from "./ReadCommands.js"
import { host, serve } from "./ServiceCommands.js"
import { holdsToken, tokenIsNoArgument } from "./Token.js"
import { put, reindex, remove, restore, revert } from "./WriteCommands.js"

const about = "JSON documents in a Git repository; every write is a commit."

const chainstore = Command.make("chainstore").pipe(
  Command.withDescription(about),
  Command.withSubcommands([
    serve,
    host,
    collections,
    get,
    put,
    remove,
    query,
    history,
    diff,
    restore,
    revert,
    importCommand,
    exportCommand,
    reindex,
    doctor
  ])
)

const commands = () => [
  described("serve", serve),
  described("host", host),
  described("collections", collections),
  described("get", get),
  described("put", put),
  described("delete", remove),
  described("query", query),
  described("history", history),
  described("diff", diff),
  described("restore", restore),
  described("revert", revert),
  described("import", importCommand),
  described("export", exportCommand),
  described("reindex", reindex),
  described("doctor", doctor)
]

/** Runs the command line on arguments such as `["get", "products", "p1"]`. */
export const run = (version: string, arguments_: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    const help = helpFor("chainstore", about, commands(), arguments_)
    if (help !== undefined) return Console.log(help)
    if (holdsToken(arguments_)) return tokenIsNoArgument
    return Command.run(chainstore, { name: "chainstore", version, executable: "chainstore" })([
      "node",
      "chainstore",
      ...optionsFirst(arguments_)
    ]).pipe(
      Effect.tapError((error) =>
        UsageError.isValidationError(error) ? Console.error(howTo(arguments_[0])) : Effect.void
      ),
      inPlainLines
    )
  })

const howTo = (command: string | undefined) =>
  commands().some(({ name }) => name === command)
    ? `chainstore ${command} --help shows its arguments and options`
    : "chainstore --help shows the commands"

/** What the parser says of a wrong argument has colours, and ends with empty lines. */
const inPlainLines = <A, E, R>(body: Effect.Effect<A, E, R>) =>
  Console.consoleWith((console) =>
    Effect.withConsole(body, {
      ...console,
      error: (text: string) => console.error(printable(text.replace(colour, "")).trimEnd())
    })
  )

const colour = /\u001b\[[\d;]*m/g

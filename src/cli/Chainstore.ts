import { Command, ValidationError as UsageError } from "@effect/cli"
import { Console, Effect } from "effect"
import { ValidationError } from "../domain/errors/StoreError.js"
import { optionGivenTwice, optionsFirst } from "./ArgumentOrder.js"
import { branch, compare } from "./BranchCommands.js"
import { merge } from "./BranchMergeCommand.js"
import { doctor } from "./DoctorCommand.js"
import { estimate } from "./EstimateCommand.js"
import { exportCommand } from "./ExportCommand.js"
import { type CommandHelp, commandHelp, helpFor, singleOptionsOf, switchesOf } from "./Help.js"
import { importCommand } from "./ImportCommand.js"
import { createIndex, dropIndex, reindex } from "./IndexCommands.js"
import { proposals, propose } from "./ProposalCommands.js"
import { put } from "./PutCommand.js"
import { query } from "./QueryCommand.js"
import { collections, diff, get, history, indexes } from "./ReadCommands.js"
import { schema } from "./SchemaCommand.js"
import { host, serve, settingsHelp } from "./ServiceCommands.js"
import { init, mergeDriver, resolve } from "./StockGitCommands.js"
import { escapeControls } from "./TerminalText.js"
import { containsToken, tokenArgumentError } from "./Token.js"
import { token } from "./TokenCommand.js"
import { remove, restore, revert } from "./WriteCommands.js"

const about = "JSON documents in a Git repository; every write is a commit."

const commands = [
  serve,
  host,
  token,
  collections,
  indexes,
  get,
  put,
  remove,
  query,
  history,
  diff,
  restore,
  revert,
  branch,
  compare,
  merge,
  propose,
  proposals,
  importCommand,
  exportCommand,
  createIndex,
  dropIndex,
  reindex,
  schema,
  estimate,
  doctor,
  init,
  mergeDriver,
  resolve
] as const

const chainstore = Command.make("chainstore").pipe(
  Command.withDescription(about),
  Command.withSubcommands(commands)
)

/** Runs the command line with arguments such as `["get", "products", "p1"]`. */
export const run = (version: string, arguments_: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    const helps = commands.map((command) => commandHelp(command))
    const help = helpFor("chainstore", about, helps, arguments_)
    if (help !== undefined)
      return Effect.flatMap(settingsHelp(arguments_[0]), (settings) => Console.log(help + settings))
    if (containsToken(arguments_)) return tokenArgumentError
    const found = helps.find(({ name }) => name === arguments_[0])
    const switches = found === undefined ? new Set<string>() : switchesOf(found)
    const twice = found && optionGivenTwice(arguments_, switches, singleOptionsOf(found))
    if (twice !== undefined) {
      return new ValidationError({
        operation: arguments_[0]!,
        message: `${twice} is given twice`,
        hint: howTo(found)
      })
    }
    return Command.run(chainstore, { name: "chainstore", version, executable: "chainstore" })([
      "node",
      "chainstore",
      ...optionsFirst(arguments_, switches)
    ]).pipe(
      Effect.tapError((error) =>
        UsageError.isValidationError(error) ? Console.error(howTo(found)) : Effect.void
      ),
      withPlainErrors
    )
  })

const howTo = (command: CommandHelp | undefined) =>
  command === undefined
    ? "chainstore --help shows the commands"
    : `chainstore ${command.name} --help shows its arguments and options`

/** Removes colours and trailing empty lines from the messages of `@effect/cli`. */
const withPlainErrors = <A, E, R>(body: Effect.Effect<A, E, R>) =>
  Console.consoleWith((console) =>
    Effect.withConsole(body, {
      ...console,
      error: (text: string) => console.error(escapeControls(text.replace(colour, "")).trimEnd())
    })
  )

const colour = /\u001b\[[\d;]*m/g

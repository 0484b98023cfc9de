import { Command } from "@effect/cli"
import { Effect } from "effect"
import { optionsFirst } from "./ArgumentOrder.js"
import { doctor } from "./DoctorCommand.js"
import { collections, diff, get, history, query } from "./ReadCommands.js"
import { host, serve } from "./ServiceCommands.js"
import { exportCommand, importCommand } from "./TransferCommands.js"
import { put, reindex, remove, restore, revert } from "./WriteCommands.js"

const chainstore = Command.make("chainstore").pipe(
  Command.withDescription("JSON documents in a Git repository; every write is a commit."),
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

/** Runs the command line on arguments such as `["get", "products", "p1"]`. */
export const run = (version: string, arguments_: ReadonlyArray<string>) =>
  Effect.suspend(() =>
    Command.run(chainstore, { name: "chainstore", version, executable: "chainstore" })([
      "node",
      "chainstore",
      ...optionsFirst(arguments_)
    ])
  )

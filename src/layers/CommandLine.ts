import { fstatSync } from "node:fs"
import { Cause, Console, Effect, Exit, Layer, Stream } from "effect"
import { run } from "../cli/Chainstore.js"
import { CommandOutput } from "../cli/CommandOutput.js"
import { exitReport } from "../cli/ExitCode.js"
import { Services } from "../cli/ServiceCommands.js"
import { StandardInput } from "../cli/StandardInput.js"
import { layerStandardError } from "../store/promise/StandardErrorLogger.js"
import { DestinationError } from "../store/transfer/Destination.js"
import { SourceError } from "../store/transfer/SourceError.js"
import { NodeContext, NodeRuntime, NodeStream } from "../vendor/PlatformNode.js"
import * as HostTokens from "./HostTokens.js"
import * as Stores from "./StoreOpener.js"
import { version } from "./Version.js"

const unwritable = (cause: Error) =>
  new DestinationError({
    operation: "export",
    message: `cannot write to standard output: ${cause.message}`,
    cause
  })

const screen = Layer.succeed(CommandOutput, {
  isTerminal: process.stdout.isTTY === true,
  showsProgress: process.stderr.isTTY === true,
  columns: process.stdout.columns ?? 80,
  writeMessage: (text) => Effect.sync(() => process.stderr.write(text)),
  writeBytes: (bytes) =>
    Effect.async((resume) => {
      process.stdout.write(bytes, (error) =>
        resume(error === undefined || error === null ? Effect.void : unwritable(error))
      )
    })
})

const unreadable = (cause: unknown, reason = String(cause)) =>
  new SourceError({ operation: "read", message: `standard input cannot be read: ${reason}`, cause })

/** Node reads a directory as an empty input. */
const isDirectory = Effect.try({ try: () => fstatSync(0).isDirectory(), catch: (cause) => unreadable(cause) })

const input = Layer.succeed(StandardInput, {
  bytes: Stream.unwrap(
    Effect.map(isDirectory, (found) =>
      found
        ? Stream.fail(unreadable(undefined, "it is a directory"))
        : NodeStream.fromReadable(
            () => process.stdin,
            (cause) => unreadable(cause)
          )
    )
  )
})

/** Loaded on demand, so that the other commands start faster. */
const mains = Effect.promise(() => import("./Main.js"))
const services = Layer.succeed(Services, {
  serve: Effect.flatMap(mains, ({ serve }) => serve),
  host: Effect.flatMap(mains, ({ host }) => host),
  settings: Effect.promise(async () => (await import("./Settings.js")).variables)
})

const environment = Layer.mergeAll(NodeContext.layer, screen, input, services, HostTokens.layer, Stores.layer)

/** The services log to standard output, as `npm start` does. */
const isService = ["serve", "host"].includes(process.argv[2] ?? "")

const main = run(version, process.argv.slice(2)).pipe(
  Effect.provide(isService ? environment : Layer.merge(environment, layerStandardError)),
  Effect.catchAllCause((cause) => {
    const { code, message } = exitReport(cause)
    return Effect.zipRight(
      message === undefined ? Effect.void : Console.error(message),
      Effect.sync(() => {
        process.exitCode = code
      })
    )
  })
)

/** A service that is interrupted ends with success. Any other interrupted command did not finish. */
const interruptedCode = isService ? 0 : 130

/** Runs the command that the process was started with, to its end. */
export const runCommand = (): void => {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The code of a process that SIGPIPE ends: a reader such as `head` has closed the pipe.
    if (error.code === "EPIPE") process.exit(141)
    console.error(exitReport(Cause.fail(unwritable(error))).message)
    process.exit(9)
  })
  // A closed standard error does not end the command.
  process.stderr.on("error", () => {})
  NodeRuntime.runMain(main, {
    disablePrettyLogger: true,
    disableErrorReporting: true,
    teardown: (exit, end) =>
      end(
        Exit.isFailure(exit) && Cause.isInterrupted(exit.cause)
          ? interruptedCode
          : Number(process.exitCode ?? 0)
      )
  })
}

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeContext } from "@effect/platform-node"
import { ConfigProvider, type Console, Effect, Layer, Stream } from "effect"
import { run } from "../../src/cli/Chainstore.js"
import { CommandOutput } from "../../src/cli/CommandOutput.js"
import { exitReport } from "../../src/cli/ExitCode.js"
import { Services } from "../../src/cli/ServiceCommands.js"
import { StandardInput } from "../../src/cli/StandardInput.js"
import * as HostTokens from "../../src/layers/HostTokens.js"
import { variables } from "../../src/layers/Settings.js"
import * as Stores from "../../src/layers/StoreOpener.js"

/** What one run of the command line did. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly progress: string
  readonly json: () => any
}

/** The command line in this process, over repositories in a directory of its own. */
export const commandLine = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-cli-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  ),
  (directory) => {
    const call = (
      line: ReadonlyArray<string>,
      options: {
        readonly terminal?: boolean
        readonly input?: string | Uint8Array
        readonly environment?: Readonly<Record<string, string>>
      } = {}
    ): Effect.Effect<Ran> =>
      Effect.suspend(() => {
        const said: Said = { out: [], err: [], progress: [] }
        const terminal = options.terminal ?? false
        const screen = Layer.succeed(CommandOutput, {
          isTerminal: terminal,
          showsProgress: terminal,
          columns: 100,
          writeMessage: (text) => note(said.progress, text),
          writeBytes: (bytes) => note(said.out, decoder.decode(bytes))
        })
        const input = Layer.succeed(StandardInput, {
          bytes: Stream.succeed(inputOf(options.input))
        })
        const services = Layer.succeed(Services, {
          serve: Effect.never,
          host: Effect.never,
          settings: Effect.succeed(variables)
        })
        return Effect.sandbox(run("0.0.0", line)).pipe(
          Effect.as({ code: 0, message: undefined as string | undefined }),
          Effect.catchAll((cause) => Effect.succeed(exitReport(cause))),
          Effect.provide(
            Layer.mergeAll(NodeContext.layer, screen, input, services, HostTokens.layer, Stores.layer)
          ),
          Effect.withConfigProvider(
            ConfigProvider.fromMap(
              new Map(Object.entries({ CHAINSTORE_DATA: directory, ...options.environment }))
            )
          ),
          Effect.withConsole(recording(said)),
          Effect.map(({ code, message }) => {
            const out = said.out.join("\n")
            const err = [...said.err, ...(message === undefined ? [] : [message])].join("\n")
            return { code, out, err, progress: said.progress.join(""), json: () => JSON.parse(out) }
          })
        )
      })
    return { directory, call }
  }
)

const inputOf = (input: string | Uint8Array = "") =>
  typeof input === "string" ? new TextEncoder().encode(input) : input
const decoder = new TextDecoder()

interface Said {
  readonly out: Array<string>
  readonly err: Array<string>
  readonly progress: Array<string>
}

const note = (into: Array<string>, text: string) =>
  Effect.sync(() => {
    into.push(text)
  })

const recording = (said: Said): Console.Console => {
  const writer =
    (into: Array<string>) =>
    (...parts: ReadonlyArray<unknown>) =>
      note(into, parts.join(" "))
  const plain =
    (into: Array<string>) =>
    (...parts: ReadonlyArray<unknown>) => {
      into.push(parts.join(" "))
    }
  const unsafe = { ...globalThis.console, log: plain(said.out), error: plain(said.err) }
  const [out, err] = [writer(said.out), writer(said.err)]
  return { ...Effect.runSync(Effect.console), log: out, info: out, error: err, warn: err, unsafe }
}

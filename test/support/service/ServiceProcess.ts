import { spawn } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Data, Effect } from "effect"
import { bundled } from "../bundled.js"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** The process ended before it listened. */
class Died extends Data.TaggedError("Died")<{ readonly code: number | null; readonly output: string }> {}

/** The environment of the process. */
interface Surroundings {
  /** The limit of file descriptors. */
  readonly openFiles?: number
  /** The shell's `ulimit` option. */
  readonly redirections?: string
  /** Runs the built library instead of the sources, whose figures differ from those of a service. */
  readonly isBuilt?: boolean
  /** A file system in memory, mounted only for the process. The caller is root. */
  readonly tmpfs?: { readonly directory: string; readonly options: string }
}

/** Runs the main in its own process, which is killed when the scope closes. */
export const serve = (
  environment: Readonly<Record<string, string>> = {},
  args: ReadonlyArray<string> = [],
  main = "serve",
  { isBuilt = false, openFiles, redirections = "", tmpfs }: Surroundings = {}
) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const bounded = openFiles === undefined ? "" : `ulimit -n ${openFiles} && `
      const mounted =
        tmpfs === undefined ? "" : `mount -t tmpfs -o ${tmpfs.options} tmpfs ${tmpfs.directory} && `
      const apart = tmpfs === undefined ? [] : ["unshare", "--mount"]
      const script = ["sh", "-c", `${mounted}${bounded}exec "$@" ${redirections}`, "sh"]
      const file = isBuilt
        ? [`dist/layers/bin/${main}.js`]
        : [bundled(new URL(`../../../src/layers/bin/${main}.ts`, import.meta.url))]
      const program = [process.execPath, ...file, ...args]
      const [command = "", ...rest] = [...apart, ...script, ...program]
      const child = spawn(command, rest, {
        cwd: root,
        env: {
          PATH: process.env["PATH"],
          PORT: "0",
          CHAINSTORE_DATA: mkdtempSync(join(tmpdir(), "serve-")),
          ...environment
        },
        stdio: ["ignore", "pipe", "pipe"]
      })
      const out = { text: "", errors: "" }
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        out.text += text
      })
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        out.errors += text
      })
      const exit = new Promise<number | null>((resolve) => child.once("close", resolve))
      return { child, out, exit }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

/** A running main. */
export type Serving = Effect.Effect.Success<ReturnType<typeof serve>>

/** The port, once the process reports it. */
export const port = ({ child, exit, out }: Serving) =>
  Effect.async<number, Died>((resume) => {
    const look = () => {
      const found = /^Chainstore is listening on http:\/\/127\.0\.0\.1:(\d+)$/m.exec(out.text)
      if (found === null) return
      child.stdout.off("data", look)
      resume(Effect.succeed(Number(found[1])))
    }
    child.stdout.on("data", look)
    void exit.then((code) => resume(Effect.fail(new Died({ code, output: out.text + out.errors }))))
    look()
  })

/** Sends requests to a service with its token. */
export const asking =
  (url: string, token: string) =>
  (
    method: string,
    path: string,
    body?: unknown
  ): Effect.Effect<{ readonly status: number; readonly text: string }> =>
    Effect.promise(async () => {
      const answer = await fetch(url + path, {
        method,
        headers: { "user-agent": "test", authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(60_000)
      })
      return { status: answer.status, text: await answer.text() }
    })

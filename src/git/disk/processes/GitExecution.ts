import * as fs from "node:fs"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { attempt, toRemoteError } from "../files/EngineError.js"
import { outputOf } from "./ChildOutput.js"
import { type GitChild, gitFailure, spawnFailure, spawnGit, startInRepository } from "./GitProcess.js"

export interface GitOutput {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const outputLimit = 64 * 1024 * 1024

/** Waits until a child exits. An interruption calls `stop` and waits for the exit. */
export const runToEnd = (
  directory: string,
  operation: string,
  begin: () => GitChild,
  stop: (child: GitChild) => void
): Effect.Effect<GitOutput, RemoteError> =>
  Effect.async<GitOutput, RemoteError>((resume) => {
    let child: GitChild
    try {
      child = begin()
    } catch (cause) {
      return resume(Effect.fail(toRemoteError(operation, directory, cause)))
    }
    let closed = false
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
      if (stdout.length > outputLimit) child.kill("SIGKILL")
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (stderr.length < 65_536) stderr += text
    })
    child.on("error", (cause) => resume(Effect.fail(spawnFailure(directory, operation, cause))))
    child.on("close", (code) => {
      closed = true
      child.stdin.destroy()
      resume(Effect.succeed({ code: code ?? 128, stdout, stderr }))
    })
    return Effect.async<void>((done) => {
      if (closed) return done(Effect.void)
      child.on("close", () => done(Effect.void))
      stop(child)
    })
  })

/** Runs Git until it exits with any code. An interruption kills it. */
export const run = (
  directory: string,
  operation: string,
  args: ReadonlyArray<string>
): Effect.Effect<GitOutput, RemoteError> =>
  runToEnd(
    directory,
    operation,
    () => {
      const child = spawnGit(directory, args)
      child.stdin.end()
      return child
    },
    (child) => child.kill("SIGKILL")
  )

const succeeded = (directory: string, operation: string) => (output: GitOutput) =>
  output.code === 0
    ? Effect.succeed(output)
    : Effect.fail(gitFailure(directory, operation, output.code, output.stderr))

/**
 * A shell script that runs a command with a file as its input. When standard input ends, it kills its process group. It leaves no
 * process: process 1 of a container would inherit it, and may not collect it.
 */
const tether = `exec 3<&0
input=$1
shift
"$@" <"$input" 3<&- &
work=$!
{ read -r end <&3; kill -KILL 0; } >/dev/null 2>&1 &
watch=$!
wait $work
code=$?
exec 2>/dev/null
kill -KILL $watch
wait $watch
exit $code`

/**
 * Runs a Git command that changes packs. Fails if its exit code is not 0. The command ends with this process, even if the process
 * is killed, so that it does not outlive the lock under which it runs. `input` is the path of a file.
 */
export const runTethered = (
  directory: string,
  operation: string,
  args: ReadonlyArray<string>,
  { input, refsOf }: { readonly input?: string; readonly refsOf?: string } = {}
): Effect.Effect<GitOutput, RemoteError> =>
  runToEnd(
    directory,
    operation,
    () => {
      if (process.platform !== "win32") {
        const before = ["sh", "-c", tether, "sh", input ?? "/dev/null"]
        return startInRepository(directory, before, args, { detached: true, refsOf })
      }
      const child = spawnGit(directory, args, { refsOf })
      child.stdin.end(input === undefined ? undefined : fs.readFileSync(input))
      return child
    },
    (child) => (process.platform === "win32" ? child.kill("SIGKILL") : child.stdin.destroy())
  ).pipe(Effect.flatMap(succeeded(directory, operation)))

/** Streams Git's standard output. Fails if the exit code is not 0. Closing the stream kills the child. */
export const stream = (
  directory: string,
  operation: string,
  args: ReadonlyArray<string>
): Stream.Stream<Uint8Array, RemoteError> =>
  Stream.unwrapScoped(
    Effect.map(
      Effect.acquireRelease(
        attempt(operation, directory, () => {
          const child = spawnGit(directory, args)
          const state = { stderr: "", failure: undefined as Error | undefined }
          child.stdin.end()
          child.stderr.setEncoding("utf8").on("data", (text: string) => {
            if (state.stderr.length < 65_536) state.stderr += text
          })
          const exit = new Promise<number>((resolve) => {
            child.on("error", (cause) => {
              state.failure = cause
              resolve(128)
            })
            child.on("close", (code) => resolve(code ?? 128))
          })
          return { child, state, exit }
        }),
        ({ child }) =>
          Effect.sync(() => {
            child.kill("SIGKILL")
            child.stdout.destroy()
          })
      ),
      ({ child, exit, state }) =>
        Stream.concat(
          outputOf(child.stdout, (cause) => toRemoteError(operation, directory, cause)),
          Stream.drain(
            Stream.fromEffect(
              Effect.flatMap(
                Effect.promise(() => exit),
                (code) =>
                  state.failure !== undefined
                    ? Effect.fail(spawnFailure(directory, operation, state.failure))
                    : code === 0
                      ? Effect.void
                      : Effect.fail(gitFailure(directory, operation, code, state.stderr))
              )
            )
          )
        )
    )
  )

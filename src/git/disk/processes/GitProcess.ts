import { type ChildProcessByStdio, spawn } from "node:child_process"
import * as fs from "node:fs"
import type { Duplex, Readable, Writable } from "node:stream"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { RemoteError } from "../../../domain/errors/StoreError.js"
import { attempt, EngineError, toRemoteError } from "../files/EngineError.js"
import { outputOf } from "./ChildOutput.js"
import { commonDirectory, hooksDirectory } from "./CommonDirectory.js"
import { childrenDescriptor } from "./LivenessLocks.js"

/** The environment of Git processes. It excludes the configuration of the user and of the system. */
const environment = (): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  ...(process.env["SYSTEMROOT"] === undefined ? {} : { SYSTEMROOT: process.env["SYSTEMROOT"] }),
  HOME: "/nonexistent",
  LC_ALL: "C.UTF-8",
  TZ: "UTC",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: process.platform === "win32" ? "NUL" : "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ATTR_NOSYSTEM: "1"
})

/** The arguments of every Git command: the repository, and no hooks, file system monitor or background maintenance. */
const safeArguments = (directory: string): ReadonlyArray<string> => [
  `--git-dir=${directory}`,
  "--literal-pathspecs",
  ...["core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false"].flatMap(
    (setting) => ["-c", setting]
  )
]

export type GitChild = ChildProcessByStdio<Writable, Readable, Readable>

/** Starts a child process. Throws if it cannot be started. */
const start = (
  command: string,
  args: ReadonlyArray<string>,
  options: {
    readonly env?: Readonly<Record<string, string>>
    readonly detached?: boolean
    readonly channel?: boolean
    /** A descriptor that the child and its children inherit. */
    readonly inherited?: number | undefined
  } = {}
): GitChild => {
  const child = spawn(command, args, {
    env: { ...environment(), ...options.env },
    stdio: [
      ...["pipe" as const, "pipe" as const, "pipe" as const],
      options.channel === true ? "pipe" : "ignore",
      options.inherited ?? "ignore"
    ],
    cwd: "/",
    detached: options.detached ?? false
  }) as GitChild
  // If no descriptor is left for pipes, Node returns a child without them and emits the error later.
  if ((child.stdin as Writable | undefined) === undefined) {
    child.on("error", () => {})
    throw new EngineError(
      "Server",
      `${command} could not be started: no file descriptor is left for its pipes`,
      "Raise the limit of open files (`ulimit -n`)"
    )
  }
  child.stdin.on("error", () => {})
  return child
}

export interface SpawnOptions {
  /** Further settings, as `name=value`. */
  readonly settings?: ReadonlyArray<string> | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Starts a new process group, which can be killed as a whole. */
  readonly detached?: boolean | undefined
  /** Runs the `pre-receive` hook, which waits for a line on `hookChannelOf` before the push is applied. */
  readonly waitsInHook?: boolean | undefined
}

/** The channel of the `pre-receive` hook: the hook writes a line when it runs, and waits for one to continue. */
export const hookChannelOf = (child: GitChild): Duplex => child.stdio[3] as unknown as Duplex

const inRepository = (
  directory: string,
  before: ReadonlyArray<string>,
  args: ReadonlyArray<string>,
  options: SpawnOptions = {}
): GitChild => {
  const [command = "git", ...first] = [...before, "git"]
  const hooks = options.waitsInHook === true ? [`core.hooksPath=${hooksDirectory()}`] : []
  const configured = [...(options.settings ?? []), ...hooks].flatMap((setting) => ["-c", setting])
  return start(command, [...first, ...safeArguments(directory), ...configured, ...args], {
    detached: options.detached ?? false,
    channel: options.waitsInHook ?? false,
    inherited: childrenDescriptor(directory),
    env: {
      GIT_COMMON_DIR: commonDirectory(directory),
      // With a common directory of its own, Git takes a repository for a work tree unless it is told otherwise.
      GIT_IMPLICIT_WORK_TREE: "0",
      ...options.env
    }
  })
}

/** Starts Git in a bare repository. Throws if it cannot be started. No program that a configuration names is run. */
export const spawnGit = (directory: string, args: ReadonlyArray<string>, options?: SpawnOptions): GitChild =>
  inRepository(directory, [], args, options)

export interface GitOutput {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const outputLimit = 64 * 1024 * 1024

/** The error of a failed Git command. */
export const gitFailure = (
  directory: string,
  operation: string,
  code: number,
  stderr: string
): RemoteError => {
  const text = stderr.trim().split("\n").slice(-3).join(" ")
  const make = (reason: RemoteError["reason"], hint?: string) =>
    toRemoteError(operation, directory, new EngineError(reason, `git failed with ${code}: ${text}`, hint))
  if (/dubious ownership/.test(stderr))
    return make("Denied", "Give the repository to the user of this process")
  if (/not a git repository/.test(stderr))
    return make("Corrupt", "Restore the repository's HEAD, objects and refs")
  if (/Unable to create .*\.lock|could not lock|cannot lock/.test(stderr)) return make("Locked", "Try again")
  if (/Read-only file system|Permission denied|insufficient permission/.test(stderr)) return make("Denied")
  return make(/bad object|corrupt|missing|could not read|unable to read/i.test(stderr) ? "Corrupt" : "Server")
}

const runToEnd = (
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

/** A shell script that runs a command with a file as its input. When standard input ends, it kills its process group. */
const tether = `exec 3<&0
input=$1
shift
"$@" <"$input" 3<&- &
work=$!
{ cat <&3; kill -KILL 0; } >/dev/null 2>&1 &
wait $work`

/**
 * Runs a Git command that changes packs. Fails if its exit code is not 0. The command ends with this process, even if the process
 * is killed, so that it does not outlive the lock under which it runs. `input` is the path of a file.
 */
export const runTethered = (
  directory: string,
  operation: string,
  args: ReadonlyArray<string>,
  input?: string
): Effect.Effect<GitOutput, RemoteError> =>
  runToEnd(
    directory,
    operation,
    () => {
      if (process.platform !== "win32") {
        const before = ["sh", "-c", tether, "sh", input ?? "/dev/null"]
        return inRepository(directory, before, args, { detached: true })
      }
      const child = spawnGit(directory, args)
      child.stdin.end(input === undefined ? undefined : fs.readFileSync(input))
      return child
    },
    (child) => (process.platform === "win32" ? child.kill("SIGKILL") : child.stdin.destroy())
  ).pipe(Effect.flatMap(succeeded(directory, operation)))

/** The error of a child process that could not be started. */
export const spawnFailure = (directory: string, operation: string, cause: Error) =>
  new RemoteError({
    operation,
    reason: "Unsupported",
    path: directory,
    message: `git could not be started: ${cause.message}`,
    hint: "Install Git 2.39 or newer and put it on the PATH",
    cause
  })

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

const minimum = [2, 39] as const

/** The version of the last Git that was found, and the `PATH` of that lookup. */
let foundGit: { readonly path: string | undefined; readonly version: string } | undefined

/** Fails with `Unsupported` unless a supported version of Git is on the PATH. The result is cached for each `PATH`. */
export const requireGit: Effect.Effect<string, RemoteError> = Effect.suspend(() => {
  const path = process.env["PATH"]
  if (foundGit !== undefined && foundGit.path === path) return Effect.succeed(foundGit.version)
  const version = runToEnd(
    "/",
    "GitRepository.open",
    () => start("git", ["--version"]),
    (child) => child.kill("SIGKILL")
  )
  return Effect.flatMap(version, ({ stdout }) => {
    const match = /(\d+)\.(\d+)(?:\.\d+)*/.exec(stdout)
    const [major, minor] = [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)]
    if (major > minimum[0] || (major === minimum[0] && minor >= minimum[1])) {
      const version = match?.[0] ?? ""
      foundGit = { path, version }
      return Effect.succeed(version)
    }
    return Effect.fail(
      new RemoteError({
        operation: "GitRepository.open",
        reason: "Unsupported",
        message: `Git ${minimum.join(".")} or newer is needed, found ${stdout.trim() || "nothing"}`,
        hint: "Install a newer Git and put it on the PATH"
      })
    )
  })
})

import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Duplex, Readable, Writable } from "node:stream"
import { RemoteError } from "../../../domain/errors/StoreError.js"
import { EngineError, toRemoteError } from "../files/EngineError.js"
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
export const startProcess = (
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
  /** The directory whose `HEAD` and refs Git reads. Default: the repository. */
  readonly refsOf?: string | undefined
  /** Starts a new process group, which can be killed as a whole. */
  readonly detached?: boolean | undefined
  /** Runs the `pre-receive` hook, which waits for a line on `hookChannelOf` before the push is applied. */
  readonly waitsInHook?: boolean | undefined
}

/** The channel of the `pre-receive` hook: the hook writes a line when it runs, and waits for one to continue. */
export const hookChannelOf = (child: GitChild): Duplex => child.stdio[3] as unknown as Duplex

export const startInRepository = (
  directory: string,
  before: ReadonlyArray<string>,
  args: ReadonlyArray<string>,
  options: SpawnOptions = {}
): GitChild => {
  const [command = "git", ...first] = [...before, "git"]
  const hooks = options.waitsInHook === true ? [`core.hooksPath=${hooksDirectory()}`] : []
  const configured = [...(options.settings ?? []), ...hooks].flatMap((setting) => ["-c", setting])
  return startProcess(
    command,
    [...first, ...safeArguments(options.refsOf ?? directory), ...configured, ...args],
    {
      detached: options.detached ?? false,
      channel: options.waitsInHook ?? false,
      inherited: childrenDescriptor(directory),
      env: {
        GIT_COMMON_DIR: commonDirectory(directory),
        // If GIT_COMMON_DIR is set, Git would otherwise treat the bare repository as a work tree.
        GIT_IMPLICIT_WORK_TREE: "0",
        ...options.env
      }
    }
  )
}

/** Starts Git in a bare repository. Throws if it cannot be started. No program that a configuration names is run. */
export const spawnGit = (directory: string, args: ReadonlyArray<string>, options?: SpawnOptions): GitChild =>
  startInRepository(directory, [], args, options)

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
  if (/(?:not|requires) a git repository/.test(stderr))
    return make("Corrupt", "Restore the repository's HEAD, objects and refs")
  if (/Read-only file system|Permission denied|insufficient permission/.test(stderr)) return make("Denied")
  if (/No space left on device|Out of diskspace|Disk quota exceeded/.test(stderr))
    return make("Denied", "Free some space and try again")
  if (/Unable to create .*\.lock|could not lock|cannot lock/.test(stderr)) return make("Locked", "Try again")
  return make(/bad object|corrupt|missing|could not read|unable to read/i.test(stderr) ? "Corrupt" : "Server")
}

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

import * as fs from "node:fs"
import * as path from "node:path"
import { settingName } from "../files/ConfigFile.js"
import { EngineError } from "../files/EngineError.js"
import { hasErrorCode } from "../files/FileOperations.js"
import { settingsIn } from "./CommonDirectory.js"
import { andAbove, devicesTo, type Place, type ProcessFiles, processFiles } from "./ProcessFiles.js"
import { bootTime, isZombie, millisOf, mounts, readText, statOf } from "./ProcessIdentity.js"

/**
 * The text of a file of a process, or of one in its directories; undefined if it is gone, or hidden. Fails if this process has no descriptor left: a
 * living process must not be taken for one that has ended.
 */
const processText = (file: string): string | undefined => {
  try {
    return fs.readFileSync(file, "utf8").trim()
  } catch (cause) {
    if (hasErrorCode(cause, "EMFILE", "ENFILE")) throw cause
    return undefined
  }
}

/** The text of a file `.git`, as in a submodule; undefined if there is none. It is not waited for: anybody may have made it. */
const gitFileText = (file: string): string | undefined => {
  try {
    const { size } = fs.statSync(file)
    // A pipe has no size, nor has a file of the kernel, which reading would change.
    if (size === 0 || size > maxPath) return undefined
    const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
    try {
      return fs.fstatSync(fd).isFile() ? fs.readFileSync(fd, "utf8").trim() : undefined
    } finally {
      fs.closeSync(fd)
    }
  } catch (cause) {
    if (hasErrorCode(cause, "EMFILE", "ENFILE")) throw cause
    return undefined
  }
}

/** Whatever another user has hidden is of no use to a Git of this user either. */
const unlessHidden = <A>(read: () => ReadonlyArray<A>): ReadonlyArray<A> => {
  try {
    return read()
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT", "ENOTDIR", "EACCES", "EPERM")) return []
    throw cause
  }
}

/** The work trees that the configuration of a repository names. None if it is damaged: Git refuses such a repository. */
const configuredTrees = (repository: string): ReadonlyArray<string> => {
  try {
    return ["config", "config.worktree"]
      .flatMap((name) => unlessHidden(() => settingsIn(path.join(repository, name))))
      .filter((setting) => settingName(setting) === "core.worktree")
      .map(({ value }) => path.resolve(repository, value))
  } catch (cause) {
    if (cause instanceof EngineError) return []
    throw cause
  }
}

/** Where Git finds a repository: directories by their real paths, and the ids of these and of what others can share with it. */
interface Places {
  readonly directories: ReadonlyArray<string>
  readonly ids: ReadonlySet<string>
  readonly devices: ReadonlySet<string>
}

/** The parts of a repository that others can share with it by symbolic links. */
const sharedParts = ["", "objects", "refs", "packed-refs"]

/** Where Git finds a repository: its own directory, and its work trees. */
const placesOf = (repository: string): Places => {
  const own = fs.realpathSync(repository)
  const devices = devicesTo(own)
  const { follow, idOf } = processFiles("self", devices)
  const root = { text: "/", at: "/" }
  const registered = path.join(own, "worktrees")
  const trees = [
    path.basename(own) === ".git" ? path.dirname(own) : own,
    ...configuredTrees(own),
    ...unlessHidden(() => fs.readdirSync(registered)).flatMap((name) => {
      // The path of the file `.git` in the work tree. It may be relative to this file.
      const gitFile = readText(path.join(registered, name, "gitdir")) ?? ""
      return gitFile === "" ? [] : [path.dirname(path.resolve(registered, name, gitFile))]
    })
  ]
  const followed = trees.map((tree) => follow(root, tree))
  // Whatever disk these are on, this process uses them all the time.
  const parts = sharedParts.map((part) => path.join(own, part)).map((file) => ({ text: file, at: file }))
  return {
    directories: trees.map((tree, at) => followed[at]?.text ?? tree),
    ids: new Set([...followed, ...parts].flatMap((place) => (place && idOf(place)) ?? [])),
    devices
  }
}

/** Arguments that are longer are no paths. */
const maxPath = 4096

/** The largest number of arguments of a process that are looked at: each look asks the disk some ten times. */
const maxArguments = 64

/** Whether a process reaches a repository from its working directory, or by paths of its own. */
const reaches = (
  { directories, ids }: Places,
  { follow, idOf }: ProcessFiles,
  working: Place,
  paths: ReadonlyArray<string>
): boolean => {
  const isOneOf = (place: Place | undefined) => place !== undefined && ids.has(idOf(place) ?? "")
  const isShared = (directory: Place) => sharedParts.some((part) => isOneOf(follow(directory, part)))
  const isInside = (text: string) =>
    directories.some((directory) => text === directory || text.startsWith(`${directory}${path.sep}`))
  const isOurs = (directory: Place): boolean => {
    if (isInside(directory.text) || isShared(directory)) return true
    const git = follow(directory, ".git")
    if (git === undefined) return false
    if (isInside(git.text) || isShared(git)) return true
    const named = /^gitdir: (.+)/.exec(gitFileText(git.at) ?? "")?.[1]
    if (named === undefined) return false
    const repository = follow(directory, named)
    if (repository === undefined) return isInside(path.resolve(directory.text, named))
    // The directory of a linked work tree is two levels below the repository.
    return isInside(repository.text) || isShared(repository) || isOneOf(follow(repository, "../.."))
  }
  const seen = new Set<string>()
  const isBelowOurs = (from: Place | undefined): boolean => {
    for (let place = from; place !== undefined; place = follow(place, "..")) {
      const id = idOf(place)
      if (id === undefined || seen.has(id)) return false
      seen.add(id)
      if (isOurs(place)) return true
    }
    return false
  }
  const leadsBelowOurs = (from: Place, file: string): boolean => {
    for (const named of andAbove(file)) {
      const place = follow(from, named)
      if (isBelowOurs(place)) return true
      const isDirectory = place !== undefined && follow(place, "..") !== undefined
      if (isDirectory) return false
    }
    return false
  }
  const given = paths.filter(({ length }) => length > 0 && length <= maxPath)
  return isBelowOurs(working) || given.some((file) => leadsBelowOurs(working, file))
}

/**
 * Whether a process works in a repository, by its working directory, arguments and environment; undefined if they are hidden, too
 * many, or on a disk that may not respond: a look at their paths would block this process, too.
 */
const worksIn = (pid: string, state: string | undefined, places: Places): boolean | undefined => {
  if (state === "D") return undefined
  const files = processFiles(pid, places.devices)
  const args = processText(`/proc/${pid}/cmdline`)
  const environment = processText(`/proc/${pid}/environ`)
  if (files.working === undefined || args === undefined || environment === undefined)
    return fs.existsSync(`/proc/${pid}`) ? undefined : false
  const given = args.split("\0")
  const paths = [
    ...given.slice(0, maxArguments).map((arg) => arg.replace(/^--[a-z-]+=/, "")),
    ...environment
      .split("\0")
      .filter((setting) => /^GIT_[A-Z_]*DIR/.test(setting))
      .map((setting) => setting.replace(/^\w+=/, ""))
  ]
  if (reaches(places, files, files.working, paths)) return true
  return given.length > maxArguments || files.hides() ? undefined : false
}

/*
 * A command that is wrongly listed here loses its files while it runs; a command that is missing here only delays the removal of
 * files of dead processes. So a command is listed only if no option or setting makes it write to a repository: `git fsck` is not
 * (`--lost-found`), nor `git status` (the index), `git reflog` and `git branch` (they show or write). A process that a command starts
 * counts by itself: the `git receive-pack` of a `git daemon`, the `git fetch` with which `git log` gets the missing objects of a
 * partial clone. An alias is not listed, whatever it stands for.
 */

/** Commands that neither lock nor write files of a repository. */
const readers = new Set([
  ...[
    "archive",
    "cat-file",
    "credential",
    "credential-cache",
    "credential-cache--daemon",
    "credential-store"
  ],
  ...["daemon", "for-each-ref", "fsmonitor--daemon", "http-backend", "ls-files"],
  ...["ls-tree", "merge-base", "name-rev", "rev-list", "rev-parse", "shortlog", "show-ref"],
  ...["upload-archive", "upload-archive--writer", "upload-pack"]
])

/**
 * Commands that show differences or contents. They write caches of their own: converted files (`diff.*.cacheTextconv`), merges that
 * are repeated (`--remerge-diff`), and the file times in the index (`diff.autoRefreshIndex`). Git ignores it if a converted file
 * cannot be stored, so that the removal of its temporary object does no harm.
 */
const viewers = new Set(["annotate", "blame", "diff", "diff-tree", "grep", "log", "show", "whatchanged"])

/**
 * Commands that write, but no multi-pack index. Many stay open for long, such as for an editor or a slow network. The `git
 * maintenance` that some of them start counts by itself.
 */
const withoutPackIndex = new Set([
  ...["add", "am", "cherry-pick", "commit", "fast-import", "fetch", "fetch-pack", "index-pack", "merge"],
  ...["push", "rebase", "receive-pack", "revert", "send-pack", "unpack-objects", "update-ref"]
])

/** Options of `git` that have a separate value. */
const optionsWithValue = new Set([
  ...["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"],
  ...["--attr-source", "--shallow-file", "--super-prefix"]
])

/** What a Git process may write in a repository, judged by its arguments. */
const writesOf = ([program = "", ...args]: ReadonlyArray<string>): GitWriter["writes"] | "nothing" => {
  const name = path.basename(program)
  let at = 0
  while (name === "git" && args[at]?.startsWith("-") === true) at += optionsWithValue.has(args[at]!) ? 2 : 1
  const command = (name === "git" ? args[at] : name.replace(/^git-/, "")) ?? ""
  if (command === "pack-objects") return args.includes("--stdout") ? "nothing" : "anything"
  if (viewers.has(command)) return "caches"
  if (withoutPackIndex.has(command)) return "all but a multi-pack index"
  if (!readers.has(command)) return "anything"
  // `git cat-file` shows converted files with this option, which may be abbreviated.
  return args.some((arg) => arg.startsWith("--text")) ? "caches" : "nothing"
}

/** A Git process that may write in a repository. */
export interface GitWriter {
  /** The start time, in milliseconds since the epoch. */
  readonly start: number
  /** Whether it is a push that waits for its `pre-receive` hook. It locks no ref before the hook ends. */
  readonly waitsForHook: boolean
  /** `caches`: nothing but caches for what it shows. */
  readonly writes: "anything" | "all but a multi-pack index" | "caches"
}

/** Whether a process may be Git by its name. Some package managers wrap Git, and name it `.git-wrapped`. */
const mayBeGit = (name: string): boolean => /^\.?git/.test(name)

/**
 * Whether a process is Git by its name, such as `git`, `git-remote-http` or `git.real`. Other programs whose names only begin like
 * that count if they are seen to work in a repository (`gitui`). If it is hidden where they work, they do not count: servers such as
 * `gitea` and `gitaly` never end.
 */
const isGit = (name: string) => /^\.?git(?![a-z])/.test(name)

/** The bit of the capability to trace the processes of other users. Root in a container often lacks it. */
const tracing = 1n << 19n

const mayTrace = (): boolean => {
  const capabilities = /^CapEff:\s*(\w+)/m.exec(readText("/proc/self/status") ?? "")?.[1] ?? "0"
  return (BigInt(`0x${capabilities}`) & tracing) !== 0n
}

/** Whether this process sees those of other users. With `hidepid`, only a process that may trace them does. */
const seesAll = (): boolean =>
  readText("/proc/1/comm") !== undefined &&
  (mayTrace() ||
    mounts()?.some(({ at, options }) => at === "/proc" && /\bhidepid=(?!0|off)/.test(options)) === false)

/** The Git processes that may write to a repository; undefined if processes cannot be listed. */
export const gitWritersIn = (repository: string): ReadonlyArray<GitWriter> | undefined => {
  const bootedAt = bootTime()
  if (bootedAt === undefined || !seesAll()) return undefined
  const places = placesOf(repository)
  const processes = fs
    .readdirSync("/proc")
    .flatMap((pid) => (/^\d+$/.test(pid) ? [{ pid, name: processText(`/proc/${pid}/comm`) }] : []))
  const hooked = new Set(
    processes.flatMap(({ name, pid }) => (name === "pre-receive" ? [statOf(pid, processText)?.parent] : []))
  )
  return processes.flatMap(({ name, pid }) => {
    if (name === undefined || !mayBeGit(name)) return []
    const stat = statOf(pid, processText)
    if (stat === undefined || isZombie(stat.state)) return []
    if (!(worksIn(pid, stat.state, places) ?? isGit(name))) return []
    const writes = writesOf(processText(`/proc/${pid}/cmdline`)?.split("\0") ?? [])
    if (writes === "nothing") return []
    return [
      {
        start: bootedAt + millisOf(stat.start),
        waitsForHook: hooked.has(pid),
        writes
      }
    ]
  })
}

import * as fs from "node:fs"
import * as path from "node:path"
import { settingName } from "../files/ConfigFile.js"
import { EngineError } from "../files/EngineError.js"
import { fileIdOf, hasErrorCode } from "../files/FileOperations.js"
import { settingsIn } from "./CommonDirectory.js"
import { bootTime, isZombie, linkText, millisOf, mounts, readText, statOf } from "./ProcessIdentity.js"

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

/** Identifies a file by whatever path it is reached; undefined if it cannot be seen. */
const fileId = (file: string): string | undefined => {
  try {
    return fileIdOf(fs.statSync(file, { bigint: true }))
  } catch {
    return undefined
  }
}

/** A path with resolved symbolic links, or the path itself if it does not exist. */
const realPath = (file: string): string => {
  try {
    return fs.realpathSync(file)
  } catch {
    return file
  }
}

const isFile = (file: string): boolean => {
  try {
    return fs.statSync(file).isFile()
  } catch {
    return false
  }
}

/** The repository that a file `.git` names, as in a submodule. */
const gitDirectoryIn = (file: string): string | undefined =>
  // Reading a pipe of that name would never end.
  isFile(file) ? /^gitdir: (.+)/.exec(processText(file) ?? "")?.[1] : undefined

/** The repository that a file `.git` names; or else the real path of a file. */
const namedBy = (file: string): string => {
  const real = realPath(file)
  const named = path.basename(real) === ".git" ? gitDirectoryIn(real) : undefined
  return named === undefined ? real : realPath(path.resolve(path.dirname(real), named))
}

/** A directory and those above it. */
const andAbove = (directory: string): ReadonlyArray<string> => {
  const parent = path.dirname(directory)
  return parent === directory ? [directory] : [directory, ...andAbove(parent)]
}

/** The work trees that the configuration of a repository names. None if it is damaged: Git refuses such a repository. */
const configuredTrees = (repository: string): ReadonlyArray<string> => {
  try {
    return ["config", "config.worktree"]
      .flatMap((name) => settingsIn(path.join(repository, name)))
      .filter((setting) => settingName(setting) === "core.worktree")
      .map(({ value }) => realPath(path.resolve(repository, value)))
  } catch (cause) {
    if (cause instanceof EngineError) return []
    throw cause
  }
}

/** The directories in which Git finds a repository: its own, and those of its work trees. */
const directoriesOf = (repository: string): ReadonlyArray<string> => {
  const own = fs.realpathSync(repository)
  const registered = path.join(repository, "worktrees")
  let names: ReadonlyArray<string> = []
  try {
    names = fs.readdirSync(registered)
  } catch (cause) {
    if (!hasErrorCode(cause, "ENOENT", "ENOTDIR")) throw cause
  }
  return [
    path.basename(own) === ".git" ? path.dirname(own) : own,
    ...configuredTrees(own),
    ...names.flatMap((name) => {
      // The path of the file `.git` in the work tree. It may be relative to this file.
      const gitFile = readText(path.join(registered, name, "gitdir")) ?? ""
      return gitFile === "" ? [] : [realPath(path.dirname(path.resolve(registered, name, gitFile)))]
    })
  ]
}

/** Where Git finds a repository: directories by their real paths, and the ids of these and of what others can share with it. */
interface Places {
  readonly directories: ReadonlyArray<string>
  readonly ids: ReadonlySet<string>
}

/** The parts of a repository that others can share with it by symbolic links. */
const sharedParts = ["", "/objects", "/refs", "/packed-refs"]

const placesOf = (repository: string): Places => {
  const directories = directoriesOf(repository)
  const files = [...directories, ...sharedParts.map((part) => `${repository}${part}`)]
  return { directories, ids: new Set(files.flatMap((file) => fileId(file) ?? [])) }
}

/** Arguments that are longer are no paths. */
const maxPath = 4096

/** The largest number of arguments of a process that are looked at: each look asks the disk some ten times. */
const maxArguments = 64

/**
 * Whether a process reaches a repository by a path that has no meaning here, such as through a bind mount or below another root.
 * Only the kernel knows where its paths lead.
 */
const reaches = (pid: string, { ids }: Places, paths: ReadonlyArray<string>): boolean => {
  const [working, root] = [`/proc/${pid}/cwd`, `/proc/${pid}/root`]
  const isShared = (directory: string) =>
    sharedParts.some((part) => ids.has(fileId(`${directory}${part}`) ?? ""))
  const isOurs = (directory: string) => {
    if (isShared(directory) || isShared(`${directory}/.git`)) return true
    const named = gitDirectoryIn(`${directory}/.git`)
    if (named === undefined) return false
    const repository = path.isAbsolute(named) ? `${root}${named}` : `${directory}/${named}`
    // The directory of a linked work tree is two levels below the repository.
    return isShared(repository) || isShared(`${repository}/../..`)
  }
  let above: string | undefined
  for (let at = working; ; at += "/..") {
    const id = fileId(at)
    if (id === undefined || id === above) break
    if (isOurs(at)) return true
    above = id
  }
  return paths
    .filter(({ length }) => length <= maxPath)
    .some((text) =>
      andAbove(text).some((at) => at !== "." && isOurs(`${path.isAbsolute(text) ? root : working}/${at}`))
    )
}

/**
 * Whether a process works in a repository, by its working directory, arguments and environment; undefined if they are hidden or too
 * many, or if the process waits for a disk. If that disk never responds, a look at its paths would block this process, too.
 */
const worksIn = (pid: string, state: string | undefined, places: Places): boolean | undefined => {
  if (state === "D") return undefined
  const at = linkText(`/proc/${pid}/cwd`)
  const args = processText(`/proc/${pid}/cmdline`)
  const environment = processText(`/proc/${pid}/environ`)
  if (at === undefined || args === undefined || environment === undefined)
    return fs.existsSync(`/proc/${pid}`) ? undefined : false
  const isInside = (text: string) => {
    const absolute = namedBy(path.resolve(at, text))
    return places.directories.some(
      (directory) => absolute === directory || absolute.startsWith(`${directory}${path.sep}`)
    )
  }
  const given = args.split("\0")
  const paths = [
    ...given.slice(0, maxArguments).map((arg) => arg.replace(/^--[a-z-]+=/, "")),
    ...environment
      .split("\0")
      .filter((setting) => /^GIT_[A-Z_]*DIR/.test(setting))
      .map((setting) => setting.replace(/^\w+=/, ""))
  ]
  return (
    isInside(at) ||
    andAbove(at).some((directory) => isInside(path.join(directory, ".git"))) ||
    paths.some(isInside) ||
    reaches(pid, places, paths) ||
    (given.length > maxArguments ? undefined : false)
  )
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

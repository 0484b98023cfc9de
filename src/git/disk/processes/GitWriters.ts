import * as fs from "node:fs"
import * as path from "node:path"
import { bootTime, isZombie, linkText, readText, statOf } from "./ProcessIdentity.js"

/** The kernel reports process times in hundredths of a second, on every architecture. */
const ticks = 100

/** A path with resolved symbolic links, or the path itself if it does not exist. */
const realPath = (file: string): string => {
  try {
    return fs.realpathSync(file)
  } catch {
    return file
  }
}

/** Whether a process works in a directory, by its working directory, arguments and environment. True if they are hidden. */
const worksIn = (pid: string, directory: string): boolean => {
  const at = linkText(`/proc/${pid}/cwd`)
  const args = readText(`/proc/${pid}/cmdline`)
  const environment = readText(`/proc/${pid}/environ`)
  if (at === undefined || args === undefined || environment === undefined)
    return fs.existsSync(`/proc/${pid}`)
  const isInside = (text: string) => {
    const absolute = realPath(path.resolve(at, text))
    return absolute === directory || absolute.startsWith(`${directory}${path.sep}`)
  }
  return (
    isInside(at) ||
    args.split("\0").some((arg) => isInside(arg.replace(/^--[a-z-]+=/, ""))) ||
    environment
      .split("\0")
      .some((setting) => /^GIT_[A-Z_]*DIR/.test(setting) && isInside(setting.replace(/^\w+=/, "")))
  )
}

/** Commands that neither lock nor write files of a repository. */
const readers = new Set([
  ...["cat-file", "diff-tree", "for-each-ref", "ls-tree", "merge-base", "rev-list", "rev-parse"],
  ...["upload-archive", "upload-pack"]
])

/** Options of `git` that have a separate value. */
const optionsWithValue = new Set(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"])

/** Whether a Git process only reads, judged by its arguments. */
const isReader = ([program = "", ...args]: ReadonlyArray<string>): boolean => {
  const name = path.basename(program)
  let at = 0
  while (name === "git" && args[at]?.startsWith("-") === true) at += optionsWithValue.has(args[at]!) ? 2 : 1
  const command = name === "git" ? args[at] : name.replace(/^git-/, "")
  return command === "pack-objects" ? args.includes("--stdout") : readers.has(command ?? "")
}

/** A Git process that may write in a repository. */
export interface GitWriter {
  /** The start time, in milliseconds since the epoch. */
  readonly start: number
  /** Whether it is a push that waits for its `pre-receive` hook. It locks no ref before the hook ends. */
  readonly waitsForHook: boolean
}

/** The Git processes that may write to a repository; undefined if processes cannot be listed. */
export const gitWritersIn = (repository: string): ReadonlyArray<GitWriter> | undefined => {
  const bootedAt = bootTime()
  // If processes of other users are hidden (`hidepid`), process 1 is hidden, too.
  if (bootedAt === undefined || readText("/proc/1/comm") === undefined) return undefined
  const directory = fs.realpathSync(repository)
  const processes = fs
    .readdirSync("/proc")
    .flatMap((pid) => (/^\d+$/.test(pid) ? [{ pid, name: readText(`/proc/${pid}/comm`) }] : []))
  const hooked = new Set(
    processes.flatMap(({ name, pid }) => (name === "pre-receive" ? [statOf(pid)?.parent] : []))
  )
  return processes.flatMap(({ name, pid }) => {
    if (name?.startsWith("git") !== true) return []
    const stat = statOf(pid)
    if (stat === undefined || isZombie(stat.state) || !worksIn(pid, directory)) return []
    if (isReader(readText(`/proc/${pid}/cmdline`)?.split("\0") ?? [])) return []
    return [{ start: bootedAt + (Number(stat.start) / ticks) * 1000, waitsForHook: hooked.has(pid) }]
  })
}

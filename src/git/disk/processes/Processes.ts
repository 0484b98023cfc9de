import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

const readText = (file: string): string | undefined => {
  try {
    return fs.readFileSync(file, "utf8").trim()
  } catch {
    return undefined
  }
}

const linkText = (file: string): string | undefined => {
  try {
    return fs.readlinkSync(file)
  } catch {
    return undefined
  }
}

const machine = `${os.hostname()}${linkText("/proc/self/ns/pid") ?? ""}`.replace(/[^A-Za-z0-9-]+/g, "_")
const boot = (readText("/proc/sys/kernel/random/boot_id") ?? "unknown").replace(/[^A-Za-z0-9-]+/g, "_")

/** The state of a process, and when it started in the kernel's own count; undefined where it is not told. */
const statOf = (pid: number | string) => {
  const stat = readText(`/proc/${pid}/stat`)
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ")
  return fields === undefined ? undefined : { state: fields[0], parent: fields[1], start: fields[19] }
}

/** Whether a process is dead, although nobody has asked for its exit code yet: containers often have nobody who does. */
const isZombie = (state: string | undefined) => state === "Z" || state === "X"

/** What tells this process from every other one, on this machine and on others, now and later. */
export const identity: ReadonlyArray<string> = [
  machine,
  boot,
  String(process.pid),
  statOf(process.pid)?.start ?? "unknown"
]

/** Stands for the pid of a process that is known to be dead. */
const dead = "dead"

/** The same identity for a process that is known to be dead. */
export const asDead = ([itsMachine = "", itsBoot = "", , ...rest]: ReadonlyArray<string>) => [
  itsMachine,
  itsBoot,
  dead,
  ...rest
]

/** Whether a process runs, or ran, on this kernel but in another pid namespace: its pid says nothing here. */
export const isElsewhere = ([itsMachine, itsBoot]: ReadonlyArray<string>): boolean =>
  itsMachine !== machine && itsBoot === boot && boot !== "unknown"

/** Whether the process with an identity may still live. One of another machine or pid namespace counts as alive. */
export const mayLive = (its: ReadonlyArray<string>): boolean => {
  const [itsMachine, itsBoot, pidText, start] = its
  if (pidText === dead && isElsewhere(its)) return false
  if (itsMachine !== machine || itsBoot === undefined || pidText === undefined) return true
  if (itsBoot !== boot || pidText === dead) return false
  const pid = Number(pidText)
  try {
    process.kill(pid, 0)
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ESRCH") return false
  }
  const now = statOf(pid)
  if (isZombie(now?.state)) return false
  return start === "unknown" || now?.start === undefined || now.start === start
}

/** For how many milliseconds this kernel has been running; undefined where it does not tell. */
const uptime = (): number | undefined => {
  const seconds = Number(readText("/proc/uptime")?.split(" ")[0] ?? Number.NaN)
  return Number.isNaN(seconds) ? undefined : seconds * 1000
}

/** When this kernel began to run, by the clock as it is set now: this changes only when the clock is set. */
export const bootTime = (): number | undefined => {
  const running = uptime()
  return running === undefined ? undefined : Math.round(Date.now() - running)
}

/** Whether a process ran since this kernel began to run. */
export const isOfThisBoot = ([, itsBoot]: ReadonlyArray<string>): boolean =>
  itsBoot === boot && boot !== "unknown"

/** The kernel tells times of processes in hundredths of a second, on every architecture. */
const ticks = 100

/** A path without symbolic links, as far as it leads anywhere. */
const realPath = (file: string): string => {
  try {
    return fs.realpathSync(file)
  } catch {
    return file
  }
}

/** Whether a process has a directory as its own, or as one of its arguments; one that hides it may. */
const isIn = (pid: string, directory: string): boolean => {
  const at = linkText(`/proc/${pid}/cwd`)
  const args = readText(`/proc/${pid}/cmdline`)
  const environment = readText(`/proc/${pid}/environ`)
  if (at === undefined || args === undefined || environment === undefined)
    return fs.existsSync(`/proc/${pid}`)
  const isThis = (text: string) => {
    const absolute = realPath(path.resolve(at, text))
    return absolute === directory || absolute.startsWith(`${directory}${path.sep}`)
  }
  return (
    isThis(at) ||
    args.split("\0").some((arg) => isThis(arg.replace(/^--[a-z-]+=/, ""))) ||
    environment
      .split("\0")
      .some((setting) => /^GIT_[A-Z_]*DIR/.test(setting) && isThis(setting.replace(/^\w+=/, "")))
  )
}

/** Commands that take no lock and write no file of a repository. */
const readers = new Set([
  ...["cat-file", "diff-tree", "for-each-ref", "ls-tree", "merge-base", "rev-list", "rev-parse"],
  ...["upload-archive", "upload-pack"]
])

/** Options of `git` itself that are followed by their value. */
const valued = new Set(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"])

/** Whether a Git process only reads, by its arguments. */
const isReader = ([program = "", ...args]: ReadonlyArray<string>): boolean => {
  const name = path.basename(program)
  let at = 0
  while (name === "git" && args[at]?.startsWith("-") === true) at += valued.has(args[at]!) ? 2 : 1
  const command = name === "git" ? args[at] : name.replace(/^git-/, "")
  return command === "pack-objects" ? args.includes("--stdout") : readers.has(command ?? "")
}

/** A Git process that may write in a repository. */
export interface GitWriter {
  /** In milliseconds since the epoch. */
  readonly start: number
  /** It is a push that waits for its `pre-receive` hook, and locks no ref before the hook ends. */
  readonly waits: boolean
}

/** The Git processes that may write in a repository; undefined where this machine does not list its processes. */
export const gitWritersIn = (repository: string): ReadonlyArray<GitWriter> | undefined => {
  const began = bootTime()
  // Where processes of other users are hidden (`hidepid`), the first one is too.
  if (began === undefined || readText("/proc/1/comm") === undefined) return undefined
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
    if (stat === undefined || isZombie(stat.state) || !isIn(pid, directory)) return []
    if (isReader(readText(`/proc/${pid}/cmdline`)?.split("\0") ?? [])) return []
    return [{ start: began + (Number(stat.start) / ticks) * 1000, waits: hooked.has(pid) }]
  })
}

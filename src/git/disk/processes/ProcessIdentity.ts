import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"

export const readText = (file: string): string | undefined => {
  try {
    return fs.readFileSync(file, "utf8").trim()
  } catch {
    return undefined
  }
}

export const linkText = (file: string): string | undefined => {
  try {
    return fs.readlinkSync(file)
  } catch {
    return undefined
  }
}

/** The time namespace of the kernel itself. In another one, the start times of all processes are shifted. */
const firstTimeNamespace = "time:[4026531834]"

const namespaces = ["pid", "time"]
  .map((kind) => linkText(`/proc/self/ns/${kind}`) ?? "")
  .filter((name) => name !== firstTimeNamespace)
const machine = [os.hostname(), ...namespaces].join("").replace(/[^A-Za-z0-9-]+/g, "_")
const boot = (readText("/proc/sys/kernel/random/boot_id") ?? "unknown").replace(/[^A-Za-z0-9-]+/g, "_")

/** The state, the parent and the start time of a process, in the kernel's units; undefined if unknown. */
export const statOf = (pid: number | string, read = readText) => {
  const stat = read(`/proc/${pid}/stat`)
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ")
  return fields === undefined ? undefined : { state: fields[0], parent: fields[1], start: fields[19] }
}

/** Whether a process has ended although its parent has not read the exit code. Many containers have no init process that does. */
export const isZombie = (state: string | undefined) => state === "Z" || state === "X"

/** Identifies this process among all processes of all machines at all times. */
export const identity: ReadonlyArray<string> = [
  machine,
  boot,
  String(process.pid),
  statOf(process.pid)?.start ?? "unknown"
]

/** Whether an identity is that of this process. */
export const isOwn = (its: ReadonlyArray<string>): boolean => identity.every((part, at) => its[at] === part)

/** Replaces the pid of a process that is known to be dead. */
const dead = "dead"

/** The identity of a process that is known to be dead. */
export const asDead = ([itsMachine = "", itsBoot = "", , ...rest]: ReadonlyArray<string>) => [
  itsMachine,
  itsBoot,
  dead,
  ...rest
]

/** Whether a process runs, or ran, on this kernel in another pid namespace, where its pid has another meaning. */
export const isElsewhere = ([itsMachine, itsBoot]: ReadonlyArray<string>): boolean =>
  itsMachine !== machine && itsBoot === boot && boot !== "unknown"

/** Whether the process with an identity may be alive. A process of another machine or pid namespace counts as alive. */
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

/** Whether the process with an identity is known to be alive. */
export const isKnownToLive = (its: ReadonlyArray<string>): boolean => its[0] === machine && mayLive(its)

/** The kernel reports process times in hundredths of a second, on every architecture. */
const ticks = 100

/** When a process started, in milliseconds since the kernel was booted. */
export const millisOf = (start: string | undefined): number => (Number(start) / ticks) * 1000

/** A mounted file system. `options` are those of the mount and of the file system. */
export interface Mount {
  readonly at: string
  /** As `major:minor`. */
  readonly device: string
  readonly type: string
  readonly options: string
}

/** The mounted file systems that a process sees, by its own paths; undefined if unknown. */
export const mounts = (pid = "self"): ReadonlyArray<Mount> | undefined =>
  readText(`/proc/${pid}/mountinfo`)
    ?.split("\n")
    .map((line) => {
      const [, , device = "", , at = "", ...rest] = line.split(" ")
      return {
        at: at.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
        device,
        type: rest[rest.indexOf("-") + 1] ?? "",
        options: rest.join(" ")
      }
    })

const shownUptime = (): number => Number(readText("/proc/uptime")?.split(" ")[0] ?? Number.NaN) * 1000

let offset: number | undefined

/**
 * By how much the uptime of the kernel exceeds the one that is shown. In a container, lxcfs shows how long the container has run,
 * but start times are those of the kernel. They are compared by a process that starts now, so that the result is too large by the
 * time of its start, and by a second: old releases of lxcfs show whole seconds.
 */
const uptimeOffset = (): number => {
  if (offset !== undefined) return offset
  const mounted = mounts()
  if (mounted === undefined) return Number.NaN
  if (!mounted.some(({ at }) => at === "/proc/uptime")) {
    offset = 0
    return offset
  }
  const shown = shownUptime()
  const { stdout } = spawnSync("cat", ["/proc/self/stat"], { encoding: "utf8" })
  const measured = millisOf(statOf("self", () => stdout ?? undefined)?.start) - shown + 1000
  if (!Number.isNaN(measured)) offset = measured
  return measured
}

/**
 * The boot time of this kernel by the current clock; undefined if unknown. It changes only when the clock is set. Whatever delays
 * this process meanwhile makes it earlier: a process that seems to have started too early keeps its files.
 */
export const bootTime = (): number | undefined => {
  const uncounted = uptimeOffset()
  const now = Date.now()
  const booted = Math.round(now - shownUptime() - uncounted)
  return Number.isNaN(booted) ? undefined : booted
}

/** Whether a process ran since this kernel was booted. */
export const isOfThisBoot = ([, itsBoot]: ReadonlyArray<string>): boolean =>
  itsBoot === boot && boot !== "unknown"

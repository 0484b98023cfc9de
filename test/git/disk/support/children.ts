import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { Effect } from "effect"

/** A process that is killed when the scope closes. */
export const started = (...[command, args, stdio]: Parameters<typeof spawn>) =>
  Effect.acquireRelease(
    Effect.sync(() => spawn(command, args, stdio)),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )
/** Waits until something holds, at most half a minute. */
export const until = (holds: () => boolean) => Effect.repeat(Effect.sleep(5), { until: holds, times: 6_000 })
/** The exit code of a process, and what it said as errors. */
export const endOf = (child: ChildProcess) =>
  Effect.promise(async () => {
    let said = ""
    child.stderr?.on("data", (text: Buffer) => (said += text))
    const [code] = await once(child, "close")
    return `${code} ${said}`
  })

import { spawn } from "node:child_process"
import { Deferred, Effect, type Scope } from "effect"
import { bundled } from "../../../support/bundled.js"

const source = new URL("./writer.ts", import.meta.url)

export interface WriterProcess {
  /** Ids of acknowledged writes, so far. */
  readonly acknowledged: ReadonlyArray<string>
  readonly ready: Effect.Effect<void>
  readonly kill: Effect.Effect<void>
  /** Kills it together with all its children that are in its process group. */
  readonly killGroup: Effect.Effect<void>
  /** Its exit code and what it said on standard error. */
  readonly exit: Effect.Effect<{ readonly code: number | null; readonly stderr: string }>
}

/** A process of its own that writes the repository; killed at the end of the scope. */
export const writerProcess = (
  directory: string,
  name: string,
  options: { readonly writes?: number; readonly fibres?: number } = {}
): Effect.Effect<WriterProcess, never, Scope.Scope> =>
  Effect.gen(function* () {
    const ready = yield* Deferred.make<void>()
    const exit = yield* Deferred.make<{ readonly code: number | null; readonly stderr: string }>()
    const acknowledged: Array<string> = []
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(
          process.execPath,
          [bundled(source), directory, name, `${options.writes ?? 0}`, `${options.fibres ?? 1}`],
          { detached: true, stdio: ["ignore", "pipe", "pipe"] }
        )
      ),
      (running) => Effect.sync(() => running.kill("SIGKILL"))
    )
    let rest = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        if (line === "ready") Deferred.unsafeDone(ready, Effect.void)
        else if (line.startsWith("ack ")) acknowledged.push(line.split(" ")[1]!)
      }
    })
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk
    })
    child.on("close", (code) => Deferred.unsafeDone(exit, Effect.succeed({ code, stderr })))
    return {
      acknowledged,
      ready: Effect.raceFirst(Deferred.await(ready), Deferred.await(exit)),
      kill: Effect.zipRight(
        Effect.sync(() => child.kill("SIGKILL")),
        Deferred.await(exit)
      ),
      killGroup: Effect.zipRight(
        Effect.sync(() => process.kill(-child.pid!, "SIGKILL")),
        Deferred.await(exit)
      ),
      exit: Deferred.await(exit)
    }
  })

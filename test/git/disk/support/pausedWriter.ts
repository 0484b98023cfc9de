/** Commits, and stops while it holds the lock of the branch, until a file exists. It may be a thread of another program. */
import mutable from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { isMainThread, workerData } from "node:worker_threads"
import { Effect } from "effect"
import * as Engine from "../../../../src/git/disk/Engine.js"
import { put, write } from "./temporary.js"

const [directory = "", flags = ""] = isMainThread ? process.argv.slice(2) : (workerData as Array<string>)

const program = Effect.gen(function* () {
  const repository = yield* Engine.open({ directory, maintenance: false })
  const { renameSync } = mutable
  ;(mutable as any).renameSync = (from: string, to: string) => {
    if (from.endsWith(".lock")) {
      mutable.writeFileSync(`${flags}/locked`, "")
      const pause = new Int32Array(new SharedArrayBuffer(4))
      while (!mutable.existsSync(`${flags}/go`)) Atomics.wait(pause, 0, 0, 20)
    }
    renameSync(from, to)
  }
  syncBuiltinESMExports()
  yield* write(repository, [put("paused", "1")])
})

await Effect.runPromise(Effect.scoped(program))

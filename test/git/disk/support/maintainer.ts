/** Maintains a repository, and kills itself before the first file system call that a pattern describes, as in `unlinkSync .*\.pack$`. */
import mutable from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { Effect } from "effect"
import * as Engine from "../../../../src/git/disk/Engine.js"

const [directory = "", pattern = ""] = process.argv.slice(2)
const fatal = new RegExp(pattern)

const arm = () => {
  for (const name of ["linkSync", "renameSync", "rmSync", "unlinkSync"] as const) {
    const real = mutable[name] as (...args: ReadonlyArray<unknown>) => void
    ;(mutable as any)[name] = (...args: ReadonlyArray<unknown>) => {
      if (fatal.test(`${name} ${args.filter((arg) => typeof arg === "string").join(" ")}`)) {
        process.kill(process.pid, "SIGKILL")
      }
      return real(...args)
    }
  }
  syncBuiltinESMExports()
}

const program = Effect.gen(function* () {
  const repository = yield* Engine.open({ directory, maintenance: false, timeout: 1_000 })
  arm()
  yield* repository.maintain
})

await Effect.runPromise(Effect.scoped(program))

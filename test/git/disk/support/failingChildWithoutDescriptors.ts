/** Like `failingChild`, but no descriptor is left when the first Git child is to start. */
import * as fs from "node:fs"
import { Effect } from "effect"
import * as Engine from "../../../../src/git/disk/Engine.js"

const [directory = ""] = process.argv.slice(2)

const exhausted = () => {
  const open: Array<number> = []
  try {
    for (;;) open.push(fs.openSync("/dev/null", "r"))
  } catch {
    return () => {
      for (const fd of open) fs.closeSync(fd)
    }
  }
}

const program = Effect.gen(function* () {
  const repository = yield* Engine.open({ directory, maintenance: false })
  const free = exhausted()
  yield* Effect.exit(repository.withGitChildren(Effect.void))
  free()
  const failing = Effect.async<never, string>((resume) => {
    fs.writeSync(1, "ready\n")
    process.stdin.once("data", () => resume(Effect.fail("failed")))
  })
  yield* Effect.exit(repository.withGitChildren(failing))
  yield* Effect.sleep(1_000)
})

await Effect.runPromise(Effect.scoped(program))
process.exit(0)

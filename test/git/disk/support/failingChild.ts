/**
 * Ends a Git child of an engine that has failed, when a line arrives, and waits while the engine removes what it may have left.
 * A second argument says what comes before that child.
 */
import * as fs from "node:fs"
import { Effect } from "effect"
import * as Engine from "../../../../src/git/disk/Engine.js"

const [directory = "", before = "nothing"] = process.argv.slice(2)

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

const uptime = () => fs.readFileSync("/proc/uptime", "utf8")

const program = Effect.gen(function* () {
  const repository = yield* Engine.open({ directory, maintenance: false })
  if (before === "a child without descriptors") {
    const free = exhausted()
    yield* Effect.exit(repository.withGitChildren(Effect.void))
    free()
  }
  if (before === "a change of the uptime") {
    const begun = uptime()
    while (uptime() === begun);
  }
  const failing = Effect.async<never, string>((resume) => {
    fs.writeSync(1, "ready\n")
    process.stdin.once("data", () => resume(Effect.fail("failed")))
  })
  yield* Effect.exit(repository.withGitChildren(failing))
  yield* Effect.sleep(1_000)
})

await Effect.runPromise(Effect.scoped(program))
process.exit(0)

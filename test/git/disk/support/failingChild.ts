/** Ends a Git child of an engine that has failed, when a line arrives, and waits while the engine removes what it may have left. */
import * as fs from "node:fs"
import { Effect } from "effect"
import * as Engine from "../../../../src/git/disk/Engine.js"

const [directory = ""] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const repository = yield* Engine.open({ directory, maintenance: false })
  const failing = Effect.async<never, string>((resume) => {
    fs.writeSync(1, "ready\n")
    process.stdin.once("data", () => resume(Effect.fail("failed")))
  })
  yield* Effect.exit(repository.withGitChildren(failing))
  yield* Effect.sleep(1_000)
})

await Effect.runPromise(Effect.scoped(program))
process.exit(0)

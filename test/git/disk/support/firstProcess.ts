/** Maintains a repository several times as process 1 of a container, and counts the processes that have ended but are left. */
import * as fs from "node:fs"
import { Effect } from "effect"
import * as Engine from "../../../../src/git/disk/Engine.js"

const [directory = "", rounds = "1"] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const repository = yield* Engine.open({ directory, maintenance: false })
  for (let n = 0; n < Number(rounds); n++) yield* repository.maintain
  yield* Effect.sleep(500)
})

await Effect.runPromise(Effect.scoped(program))
const zombies = fs
  .readdirSync("/proc")
  .filter((pid) => /^\d+$/.test(pid))
  .filter((pid) => / Z 1 /.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8")))
process.stdout.write(JSON.stringify({ pid: process.pid, zombies: zombies.length }))

/** Opens a repository and says what became of it, for tests of what else is on the machine. */
import { Effect } from "effect"
import * as Engine from "../../../../src/git/disk/Engine.js"

const [directory = ""] = process.argv.slice(2)
const opened = Effect.scoped(Engine.open({ directory, create: true }))
const error = await Effect.runPromise(Effect.flip(opened))
process.stdout.write(JSON.stringify({ reason: error.reason, message: error.message, hint: error.hint }))

import { spawnSync } from "node:child_process"
import { assert, it } from "@effect/vitest"

const script = `
import * as Effect from "effect/Effect"
import { GitRemote } from "./src/store/GitRemote.js"
import * as Memory from "./src/store/memory/Memory.js"
import * as Store from "./src/store/Store.js"
const parent = { name: "p", children: [] }
parent.children.push({ name: "a", parent }, { name: "b", parent })
const out = await Effect.runPromise(Effect.gen(function* () {
  const store = yield* Effect.provideService(Store.make({}), GitRemote, yield* Memory.make())
  return yield* Effect.flip(store.collection("c").insert({ parent }))
}))
console.log(out._tag)
`

// In a process of its own: where it is wrong, nothing else runs any more.
it("a document that holds itself twice is refused, and holds nobody up", () => {
  const { stdout } = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
    encoding: "utf8",
    timeout: 30_000,
    killSignal: "SIGKILL"
  })
  assert.strictEqual(stdout.trim(), "ValidationError", "no answer within 30 seconds")
}, 60_000)

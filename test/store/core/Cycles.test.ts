import { spawnSync } from "node:child_process"
import { assert, it } from "@effect/vitest"

const script = `
import * as Effect from "effect/Effect"
import { GitRemote } from "./src/store/remote/GitRemote.js"
import * as Memory from "./src/store/remote/memory/Memory.js"
import * as Store from "./src/store/Store.js"
const parent = { name: "p", children: [] }
parent.children.push({ name: "a", parent }, { name: "b", parent })
const out = await Effect.runPromise(Effect.gen(function* () {
  const store = yield* Effect.provideService(Store.make({}), GitRemote, yield* Memory.make())
  const c = store.collection("c")
  const put = store.batch({}, (batch) => batch.put("c", "x", { parent }))
  const itself = { n: 1 }
  itself.again = itself
  return yield* Effect.all([c.insert({ parent }, { id: "x" }), put, c.insert(itself, { id: "x" })].map(Effect.flip))
}))
for (const error of out) console.log(error._tag, error.message, error.issues[0].path)
`

// In a process of its own: where it is wrong, nothing else runs any more.
it("a document that holds itself twice is refused with the path, and holds nobody up", () => {
  const { stdout } = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
    encoding: "utf8",
    timeout: 30_000,
    killSignal: "SIGKILL"
  })
  const told = "c/x: parent.children[0].parent: is parent again: a cycle"
  assert.deepStrictEqual(
    stdout.trim().split("\n"),
    [
      `ValidationError ${told} parent.children[0].parent`,
      `ValidationError ${told} parent.children[0].parent`,
      "ValidationError c/x: again: is the document itself: a cycle again"
    ],
    "no answer within 30 seconds"
  )
}, 60_000)

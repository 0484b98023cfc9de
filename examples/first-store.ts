/**
 * A first store: documents in a bare Git repository on this machine, and every write a commit.
 *
 * Output:
 * Ada, revision 2, lives in Paris
 * 2 people, 1 of them in London
 * delete people/bob
 * insert people/eve
 * update people/ada
 * insert people/bob
 * insert people/ada
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { LocalGit } from "chainstore/local"
import { Store } from "chainstore/store"
import { Effect, Layer, Stream } from "effect"

const directory = mkdtempSync(join(tmpdir(), "first-store-"))

const program = Effect.gen(function* () {
  const store = yield* Store
  const people = store.collection("people")

  yield* people.insert({ name: "Ada", city: "London" }, { id: "ada" })
  yield* people.insert({ name: "Bob", city: "London" }, { id: "bob" })
  const ada = yield* people.update("ada", { city: "Paris" })
  console.log(`${ada["name"]}, revision ${ada._rev}, lives in ${ada["city"]}`)

  yield* people.insert({ name: "Eve", city: "London" }, { id: "eve" })
  yield* people.delete("bob")
  const londoners = yield* Stream.runCount(people.find(({ city }) => city === "London"))
  console.log(`${yield* people.count} people, ${londoners} of them in London`)
})

const layer = Layer.provide(Store.layer(), LocalGit.layer({ directory }))
await Effect.runPromise(Effect.provide(program, layer))

// It is a Git repository like any other.
const log = ["-C", `${directory}/local/store.git`, "log", "--format=%s", "main"]
console.log(execFileSync("git", log).toString().trim())

import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { beforeEach } from "vitest"

// The counterexample of a mutant is not read: it need not be made smaller.
fc.configureGlobal({ endOnFailure: true })

const parts: Readonly<Record<string, { readonly without?: ReadonlyArray<string> }>> = JSON.parse(
  readFileSync(join(process.cwd(), "build/mutation/parts.json"), "utf8")
)

// The algorithms of the store are the same on every remote, and the one in memory is the fastest. Tests of many rows
// let a mutant that never ends run for minutes.
const slow = [
  "on LocalGit",
  "GitHub's client",
  "Git's protocol",
  "in the disk",
  ...(parts[process.env["MUTATE"] ?? "chain"]?.without ?? [])
]

beforeEach(({ skip, task }) => {
  for (let one: typeof task.suite | typeof task = task; one !== undefined; one = one.suite) {
    if (slow.some((name) => one!.name.includes(name))) skip()
  }
})

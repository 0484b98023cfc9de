import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { GitRemote } from "../src/store/remote/GitRemote.js"
import * as LocalGit from "../src/store/remote/local/LocalGit.js"
import * as Store from "../src/store/Store.js"
import type { StoreOptions } from "../src/store/StoreOptions.js"
import { undisturbed } from "./support/busy.js"
import { machine } from "./support/compare.js"

/**
 * The merge of two branches of many documents, each with some changed: ours of documents, field by field, with their
 * indexes, beside the merge of the same files by stock Git, of which nobody changed the same lines and no index is kept.
 */

const documents = 10_000
const changed = 100
const rounds = 5

const fields = { name: "Somebody", street: "A street", city: "Bern", note: "A note", price: 1 }

const median = (values: ReadonlyArray<number>) => [...values].sort((a, b) => a - b)[values.length >> 1]!

const measure = (options: StoreOptions) =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-bench-merge-"))),
      (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
    )
    const remote = yield* LocalGit.scoped({ directory, repo: "bench/merge", maintenance: false })
    const store = yield* Effect.provideService(Store.make(options), GitRemote, remote)
    const people = store.collection("people")
    const put = (on: typeof store, from: number, to: number, more: object) =>
      on.batch({}, (batch) =>
        Effect.forEach(Array.from({ length: to - from }), (_, at) =>
          batch.put("people", `p${from + at}`, { ...fields, n: from + at, ...more })
        )
      )
    yield* put(store, 0, documents, {})
    const ours: Array<number> = []
    const stock: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const draft = `draft-${round}`
      yield* store.createBranch(draft)
      const from = round * 2 * changed
      yield* put(store, from, from + changed, { name: `ours ${round}` })
      // Half of these both have changed, each another field.
      yield* put(store.onBranch(draft), from + changed / 2, from + changed * 1.5, { price: round + 2 })
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", args, {
          cwd: join(directory, "bench/merge.git"),
          encoding: "utf8",
          maxBuffer: 2 ** 28
        })
      const before = performance.now()
      try {
        git("merge-tree", "--write-tree", "main", draft)
      } catch {
        // Metadata of documents that both changed are conflicts to Git.
      }
      stock.push(performance.now() - before)
      const began = performance.now()
      const merged = yield* store.merge(draft)
      ours.push(performance.now() - began)
      if (merged.kind !== "merge" || merged.documents.length !== changed) throw new Error("it is no merge")
    }
    const found = yield* people.findBy("n", 51).pipe(Effect.orElseSucceed(() => []))
    if (options.indexes !== undefined && found.length !== 1) throw new Error("the index is wrong")
    return { ours: median(ours), stock: median(stock) }
  }).pipe(Effect.scoped)

console.log(
  `## Merge of two branches of ${documents} documents, ${changed} changed on each\n\n${machine()}\n`
)
console.log("| store | merge | git merge-tree | ratio |\n| --- | ---: | ---: | ---: |")
for (const [name, options] of [
  ["no index", {}],
  ["one index and a manifest, format 1", { indexes: { people: ["n"] }, manifests: { people: ["name"] } }],
  ["the same, format 2", { format: 2, indexes: { people: ["n"] }, manifests: { people: ["name"] } }]
] as const) {
  const [{ ours, stock }, isQuiet] = await undisturbed(() => Effect.runPromise(measure(options)))
  const ratio = isQuiet ? (ours / stock).toFixed(1) : "the machine was busy"
  console.log(`| ${name} | ${ours.toFixed(0)} ms | ${stock.toFixed(0)} ms | ${ratio} |`)
}

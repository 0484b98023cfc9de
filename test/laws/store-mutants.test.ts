import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { misplaced } from "../mutants/bundled.js"
import { breaks, mutants } from "../mutants/store/index.js"

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const text = (path: string) =>
  readFileSync(root(path), "utf8")
    .replace(/\n\s*\* ?/g, " ")
    .replace(/\s+/g, " ")

/** Faults of several families, and the law that has to catch each; soak has all of them. */
const sample: Readonly<Record<string, string>> = {
  "a stale index is believed": "foreignCommits",
  "ranges are not merged": "queriesAgree",
  "a merge forgets what others changed": "mergingWrites",
  "one merge base is enough": "histories that cross have several merge bases",
  "a conflict keeps no branch": "transactionRaces",
  "everything is an ancestor": "ancestors are told from strangers"
}

describe("faults of stores and remotes", () => {
  it("break sentences of the documentation", () => {
    const pages = readdirSync(root("docs")).filter((name) => name.endsWith(".md"))
    const all = [
      ...pages.map((name) => text(`docs/${name}`)),
      ...["GitRemote", "RemoteSnapshot"].map((name) => text(`src/store/remote/${name}.ts`)),
      ...[
        "Batch",
        "Branches",
        "Cache",
        "Collection",
        "Proposals",
        "StoreDecorator",
        "StoreService",
        "Writer",
        "transfer/Export",
        "transfer/Import"
      ].map((name) => text(`src/store/${name}.ts`))
    ]
    const missing = mutants.filter((mutant) => !all.some((page) => page.includes(mutant.breaks)))
    assert.deepStrictEqual(
      missing.map(({ breaks }) => breaks),
      []
    )
    assert.strictEqual(new Set(mutants.map(({ name }) => name)).size, mutants.length)
    assert.deepStrictEqual(misplaced(mutants, "src"), [])
    assert.isAtLeast(mutants.length, 120)
  })

  it("have a row each in the table of the laws that catch them", () => {
    const table = readFileSync(root("test/mutants/store/caught.md"), "utf8")
    const rows = [...table.matchAll(/^\| (.+?) \| /gm)].map(([, name]) => name).slice(2)
    assert.deepStrictEqual(
      rows,
      mutants.map(({ name }) => name)
    )
  })

  it.each(Object.entries(sample))("%s: the law catches it: %s", async (name, law) => {
    const mutant = mutants.find((one) => one.name === name)
    assert.include(await breaks(mutant ?? { name, edits: [] }, law), "does not hold")
  })
})

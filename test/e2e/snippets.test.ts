import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { examples, snippets } from "../support/snippets/Pages.js"
import { programOf } from "../support/snippets/Program.js"
import { snippetContexts } from "../support/snippets/SnippetContext.js"

const root = fileURLToPath(new URL("../..", import.meta.url))
/** Below `test`, where packages are found and `chainstore` is our sources; Git ignores it. */
const directory = `${root}test/e2e/snippets`
const fileOf = (name: string) => `${name.replace(/\W+/g, "-")}.ts`

const configuration = {
  extends: "../../../tsconfig.json",
  compilerOptions: {
    noUnusedLocals: false,
    noUnusedParameters: false,
    allowUnreachableCode: true,
    plugins: []
  },
  include: ["*.ts"],
  exclude: []
}

beforeAll(() => {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(configuration))
  for (const snippet of snippets) writeFileSync(join(directory, fileOf(snippet.name)), programOf(snippet))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe("the snippets of the pages and the examples of docstrings", () => {
  it("are all tested, and no context is left of a removed one", () => {
    assert.isAtLeast(snippets.length - examples.length, 30)
    assert.isAtLeast(examples.length, 40)
    const names = snippets.flatMap(({ name }) => [name, name.replace(/ \d+$/, "")])
    assert.deepStrictEqual(
      Object.keys(snippetContexts).filter((name) => !names.includes(name)),
      []
    )
  })

  it("compile", { timeout: 180_000 }, () => {
    const compiler = `${root}node_modules/typescript/bin/tsc`
    const { stdout } = spawnSync(process.execPath, [compiler, "-p", directory, "--pretty", "false"], {
      encoding: "utf8"
    })
    assert.deepStrictEqual(
      // Effect's own diagnostics begin at 377000: a snippet may show an Effect without running it.
      stdout.split("\n").filter((line) => /error TS(?!377)/.test(line)),
      []
    )
  })

  it.each(snippets.map(({ name }) => name))("%s runs", async (name) => {
    const home = process.cwd()
    process.chdir(await mkdtemp(join(tmpdir(), "snippet-")))
    try {
      await import(join(directory, fileOf(name)))
    } finally {
      process.chdir(home)
    }
  })
})

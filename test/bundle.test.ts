import { readFileSync } from "node:fs"
import { builtinModules } from "node:module"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { build, type Metafile } from "esbuild"

const source = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** What a bundler makes of an entry for browsers; a Node module that cannot be had there is an error of its own. */
const bundled = (entry: string) =>
  build({
    entryPoints: [source(entry)],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    metafile: true,
    splitting: true,
    outdir: "out",
    logLevel: "silent"
  })

/** The entry's file and what it imports statically, to the end. */
const loadedAtOnce = (metafile: Metafile, entry: string) => {
  const outputs = Object.entries(metafile.outputs)
  const [start] = outputs.find(([, output]) => output.entryPoint?.endsWith(entry)) ?? []
  const found = new Set<string>()
  const visit = (name: string) => {
    if (found.has(name)) return
    found.add(name)
    for (const { kind, path } of metafile.outputs[name]?.imports ?? [])
      if (kind === "import-statement") visit(path)
  }
  visit(start!)
  return [...found]
}

const [, table = ""] = readFileSync(new URL("../docs/dependencies.md", import.meta.url), "utf8").split(
  "## What a page loads"
)

/** What the documentation says of a subpath, in kB: what is loaded at once, and with all that is loaded later. */
const documented = (subpath: string) => {
  const row = table.split("\n").find((line) => line.startsWith(`| \`${subpath}\` |`)) ?? ""
  const [, , atOnce, inAll] = row.split("|").map((cell) => Number(cell.trim()))
  return { atOnce, inAll }
}

/** By how much a size may grow before somebody says so in the documentation. */
const slack = 1.05

const entries = {
  chainstore: "src/index.ts",
  "chainstore/chain": "src/chain/index.ts",
  "chainstore/store": "src/store/index.ts",
  "chainstore/batching": "src/store/batching/index.ts",
  "chainstore/promise": "src/store/promise/index.ts",
  "chainstore/codec": "src/codec/index.ts",
  "chainstore/merge": "src/domain/merge/index.ts"
}

describe("what the browser carries", () => {
  for (const [subpath, entry] of Object.entries(entries)) {
    it(`has no Node module in it, and weighs no more than documented: ${subpath}`, async () => {
      const { errors, metafile, outputFiles } = await bundled(entry)
      assert.deepStrictEqual(errors, [])
      const inputs = Object.keys(metafile.inputs)
      const builtin = new Set([...builtinModules, ...builtinModules.map((name) => `node:${name}`)])
      const imported = Object.values(metafile.outputs).flatMap((output) =>
        output.imports.map(({ path }) => path)
      )
      assert.deepStrictEqual(
        imported.filter((path) => builtin.has(path)),
        []
      )
      assert.deepStrictEqual(
        inputs.filter((path) => path.includes("@effect/platform-node") || path.includes("src/git/disk/")),
        []
      )
      const first = loadedAtOnce(metafile, entry)
      const zipped = outputFiles.map(({ contents, path }) => ({ path, bytes: gzipSync(contents).length }))
      const kB = (files: typeof zipped) => files.reduce((sum, { bytes }) => sum + bytes, 0) / 1000
      const atOnce = kB(zipped.filter(({ path }) => first.some((name) => path.endsWith(name))))
      const says = documented(subpath)
      assert.isAtMost(atOnce, (says.atOnce ?? 0) * slack, "loaded at once")
      assert.isAtMost(kB(zipped), (says.inAll ?? 0) * slack, "in all")
      assert.isBelow(atOnce, 200)
    })
  }
})

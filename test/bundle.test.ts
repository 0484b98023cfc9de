import { builtinModules } from "node:module"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { build, type Metafile } from "esbuild"

const source = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url))

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

describe("what the browser carries", () => {
  for (const entry of ["chain/index.ts", "store/index.ts", "store/promise/index.ts"]) {
    it(`has no Node module in it: ${entry}`, async () => {
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
      const bytes = outputFiles.filter(({ path }) => first.some((name) => path.endsWith(name)))
      assert.isBelow(
        bytes.reduce((sum, file) => sum + gzipSync(file.contents).length, 0),
        200_000
      )
    })
  }
})

import { builtinModules } from "node:module"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { build } from "esbuild"

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
        inputs.filter((path) => path.includes("@effect/platform-node") || path.includes("src/store/git/")),
        []
      )
      const first = outputFiles.find((file) => file.path.endsWith("index.js"))!
      assert.isBelow(gzipSync(first.contents).length, 200_000)
    })
  }
})

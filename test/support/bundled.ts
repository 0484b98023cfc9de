import { copyFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { buildSync } from "esbuild"
import { processDirectory } from "./processDirectory.js"

/** The programs of this process, by their sources. */
const programs = new Map<string, string>()

/** Bundles some programs, each with one file of its own and files that they share. Returns the paths of the programs. */
export const bundledAll = (sources: ReadonlyArray<URL>): ReadonlyArray<string> => {
  const fresh = sources.filter(({ href }) => !programs.has(href))
  if (fresh.length > 0) build(fresh)
  return sources.map(({ href }) => programs.get(href)!)
}

/** A program as one file: loading its sources takes each process seconds, loading this a fraction of one. */
export const bundled = (source: URL): string => bundledAll([source])[0]!

const build = (sources: ReadonlyArray<URL>) => {
  const directory = processDirectory()
  // The package's manifest lies two folders up, as from a program that is built.
  const outdir = join(directory, "dist/bin")
  copyFileSync(fileURLToPath(new URL("../../package.json", import.meta.url)), join(directory, "package.json"))
  // What is CommonJS inside asks for Node's modules by `require`.
  const js =
    'import { createRequire as createRequire$ } from "node:module"; const require = createRequire$(import.meta.url);'
  buildSync({
    entryPoints: sources.map((source) => fileURLToPath(source)),
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: sources.length > 1,
    platform: "node",
    target: "node20",
    format: "esm",
    banner: { js },
    logLevel: "error"
  })
  for (const source of sources)
    programs.set(source.href, join(outdir, `${basename(fileURLToPath(source), ".ts")}.mjs`))
}

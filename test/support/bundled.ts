import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { buildSync } from "esbuild"
import { processDirectory } from "./processDirectory.js"

/** The programs of this process. */
const programs = new Map<string, string>()

/** A program as one file: loading its sources takes each process seconds, loading this a fraction of one. */
export const bundled = (source: URL): string => {
  const known = programs.get(source.href)
  if (known !== undefined) return known
  const directory = processDirectory()
  // The package's manifest lies two folders up, as from a program that is built.
  const outfile = join(directory, "dist/bin/program.mjs")
  copyFileSync(fileURLToPath(new URL("../../package.json", import.meta.url)), join(directory, "package.json"))
  const entryPoints = [fileURLToPath(source)]
  // What is CommonJS inside asks for Node's modules by `require`.
  const js =
    'import { createRequire as createRequire$ } from "node:module"; const require = createRequire$(import.meta.url);'
  buildSync({
    entryPoints,
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    banner: { js },
    logLevel: "error"
  })
  programs.set(source.href, outfile)
  return outfile
}

import { chmodSync, copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "@effect/vitest"
import { buildSync } from "esbuild"

/** A program as one file, gone with the test file: loading its sources takes each process a second, loading this none. */
export const bundled = (source: URL): string => {
  const directory = mkdtempSync(join(tmpdir(), "bundled-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  // Other users may run it.
  chmodSync(directory, 0o755)
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
  return outfile
}

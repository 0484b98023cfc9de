import { chmodSync, mkdtempSync, rmSync } from "node:fs"
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
  const outfile = join(directory, "program.mjs")
  const entryPoints = [fileURLToPath(source)]
  buildSync({ entryPoints, outfile, bundle: true, platform: "node", format: "esm", logLevel: "error" })
  return outfile
}

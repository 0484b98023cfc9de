import { chmodSync, copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { buildSync } from "esbuild"

const prefix = "bundled-"
/** The programs of this process. */
const programs = new Map<string, string>()

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Removes what ended processes have left: workers of the test runner are killed. */
const removeLeft = () => {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid)))
      rmSync(join(tmpdir(), name), { recursive: true, force: true })
  }
}

/** A program as one file: loading its sources takes each process seconds, loading this a fraction of one. */
export const bundled = (source: URL): string => {
  const known = programs.get(source.href)
  if (known !== undefined) return known
  removeLeft()
  const directory = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
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
  programs.set(source.href, outfile)
  return outfile
}

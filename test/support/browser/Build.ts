import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const cache = join(root, "node_modules/.cache/chainstore-console")
const day = 86_400_000

/** The addresses that the built page knows; whoever serves it puts the real ones in their place. */
export const placeholders = {
  host: "http://127.0.0.1:1",
  limited: "http://127.0.0.1:2",
  /** Where nobody listens. */
  offline: "http://127.0.0.1:9"
} as const

const config = {
  apis: [
    { name: "Host", apiUrl: `${placeholders.host}/api/v3`, rawUrl: `${placeholders.host}/raw` },
    { name: "Limited", apiUrl: placeholders.limited, rawUrl: `${placeholders.host}/raw` },
    { name: "Offline", apiUrl: placeholders.offline }
  ]
}

const filesBelow = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()

const fingerprint = () => {
  const hash = createHash("sha256").update(JSON.stringify(config))
  for (const file of [...filesBelow(join(root, "src")), join(root, "package-lock.json")]) {
    hash.update(file).update("\0").update(readFileSync(file)).update("\0")
  }
  return hash.digest("hex").slice(0, 16)
}

/**
 * Where the console lies, built from the sources as they are: the build is kept beside the dependencies until a source
 * changes, because every file of tests asks for it.
 */
export const builtConsole = async (): Promise<string> => {
  const kept = join(cache, fingerprint())
  if (existsSync(kept)) return kept
  mkdirSync(cache, { recursive: true })
  for (const old of readdirSync(cache)) {
    if (Date.now() - statSync(join(cache, old)).mtimeMs > day)
      rmSync(join(cache, old), { recursive: true, force: true })
  }
  const fresh = mkdtempSync(join(cache, "building-"))
  const configFile = join(fresh, "apis.json")
  writeFileSync(configFile, JSON.stringify(config))
  const vite = join(root, "node_modules/vite/bin/vite.js")
  const site = join(fresh, "site")
  await promisify(execFile)(
    process.execPath,
    [vite, "build", "--config", "src/console/vite.config.ts", "--outDir", site, "--logLevel", "error"],
    { cwd: root, env: { PATH: process.env["PATH"], CHAINSTORE_CONSOLE_CONFIG: configFile } }
  )
  if (!existsSync(kept)) renameSync(site, kept)
  rmSync(fresh, { recursive: true, force: true })
  return kept
}

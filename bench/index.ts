/** Runs all benchmarks in sequence, each in its own process. */
import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { cpus, release, totalmem, type } from "node:os"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL(".", import.meta.url))
const root = fileURLToPath(new URL("..", import.meta.url))

const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown"}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node ${process.version}`
process.stdout.write(`${machine}\n`)

const chosen = process.argv.slice(2)
const benches = readdirSync(folder)
  .filter((file) => file.endsWith(".ts") && file !== "index.ts")
  .filter((file) => chosen.length === 0 || chosen.includes(file.replace(/\.ts$/, "")))
  .sort()

let failed = 0
for (const file of benches) {
  process.stdout.write(`\n== ${file}\n`)
  const { status } = spawnSync(process.execPath, ["--import", "tsx", `bench/${file}`], {
    cwd: root,
    stdio: "inherit"
  })
  if (status !== 0) failed++
}
process.exitCode = failed === 0 ? 0 : 1

/**
 * Builds the library, compiles the benchmarks against the build, and runs them in sequence, each in its own process.
 *
 *   npm run bench [-- NAME...] [-- ARGUMENT...]
 *
 * Without a name, all benchmarks of `usual` are run.
 */
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { cpus, release, totalmem, type } from "node:os"
import { join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "esbuild"

const root = fileURLToPath(new URL("..", import.meta.url))
const sources = join(root, "src")
const compiled = join(root, "node_modules/.cache/bench")

const run = (command: string, args: ReadonlyArray<string>) =>
  spawnSync(command, args, { cwd: root, stdio: "inherit" }).status === 0

/** The benchmarks of the table in `docs/performance.md`. The others take longer or count requests. */
const usual = ["chain", "engine", "host", "http", "merge", "start", "store"]

const names = readdirSync(join(root, "bench"))
  .filter((file) => file.endsWith(".ts") && file !== "index.ts")
  .map((file) => file.replace(/\.ts$/, ""))
const given = process.argv.slice(2)
const chosen = given.filter((argument) => names.includes(argument))
const rest = given.filter((argument) => !names.includes(argument))

if (!run("npm", ["run", "--silent", "build:library"])) process.exit(1)

// tsx sets the name of every closure when the closure is created, which doubles the time of some benchmarks. Compiled
// code does not. The library is not compiled a second time: imports of `src` become imports of `dist`.
await build({
  absWorkingDir: root,
  entryPoints: [...names.map((name) => `bench/${name}.ts`), "bench/support/fastifyPlayground.ts"],
  entryNames: "[name]",
  outdir: compiled,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  tsconfigRaw: {},
  logLevel: "warning",
  plugins: [
    {
      name: "imports of src are imports of dist",
      setup: ({ onResolve }) => {
        onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
          const file = resolve(resolveDir, path)
          if (!file.startsWith(sources)) return undefined
          const built = join(root, "dist", file.slice(sources.length))
          return { path: pathToFileURL(built).href, external: true }
        })
      }
    },
    {
      name: "tests find their files",
      setup: ({ onLoad }) => {
        onLoad({ filter: /\/test\/.*\.ts$/ }, ({ path }) => ({
          contents: readFileSync(path, "utf8").replaceAll(
            "import.meta.url",
            JSON.stringify(pathToFileURL(path).href)
          ),
          loader: "ts"
        }))
      }
    }
  ]
})

const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown"}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node ${process.version}`
process.stdout.write(`${machine}\n`)

for (const name of chosen.length === 0 ? usual : chosen) {
  process.stdout.write(`\n== ${name}\n`)
  if (!run(process.execPath, [join(compiled, `${name}.js`), ...rest])) process.exitCode = 1
}

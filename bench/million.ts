/**
 * One collection of a million documents on this machine, with an index and a manifest in trees: what an import of all of
 * them, the first reads of a new process, a rebuild and Git's own checks take. Every figure is of a process of its own.
 *
 *   npm run bench million -- [rows] [--in DIRECTORY]
 *
 * With `--in` the repository is kept, and used again without another import.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { Effect, Layer, Option, Stream } from "effect"
import { Store } from "../src/store/index.js"
import { recommendedStorage } from "../src/store/internal/derived/StorageAdvice.js"
import { LocalGit } from "../src/store/local/index.js"
import { machine } from "./support/compare.js"
import { bytesOf, idOf } from "./support/repositories.js"

/** The measurements of one step. */
export interface Figure {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakMegabytes: number
  readonly result: number
}

const body = (n: number, count: number) => ({
  _id: idOf(n),
  city: `City ${n % Math.ceil(count / 20)}`,
  age: n,
  email: `somebody-${n}@example.org`,
  name: `Somebody ${n}`
})

type Step = (store: Store["Type"], count: number) => Effect.Effect<number, unknown>

const users = (store: Store["Type"]) => store.collection("users")

const steps: Readonly<Record<string, Step>> = {
  import: (store, count) => {
    const rows = Stream.map(Stream.range(0, count - 1), (n) => body(n, count))
    return Effect.map(users(store).importRecords(rows, { chunkSize: 5_000 }), () => count)
  },
  "open and first read": (store) =>
    Effect.map(users(store).get(idOf(1)), (found) => (Option.isSome(found) ? 1 : 0)),
  count: (store) => users(store).count,
  "equality, 20 documents": (store) =>
    Effect.map(users(store).query({ where: { city: "City 7" } }), ({ documents }) => documents.length),
  "range, 20 documents": (store, count) =>
    Effect.map(
      users(store).query({
        where: { age: { atLeast: count / 2, lessThan: count / 2 + 20 } },
        orderBy: "age"
      }),
      ({ documents }) => documents.length
    ),
  "one insert": (store, count) => Effect.as(users(store).insert(body(count, count)), 1),
  // It finds nothing to change: what was written step by step is what is made anew.
  reindex: (store) =>
    Effect.flatMap(users(store).reindex(), (commit) =>
      Option.isNone(commit) ? users(store).count : Effect.dieMessage("the indexes were not right")
    )
}

const stepIn = (directory: string, name: string, count: number) =>
  Effect.runPromise(
    Effect.flatMap(Store, (store) => steps[name]!(store, count)).pipe(
      Effect.provide(
        Layer.provide(
          Store.layer({
            ...recommendedStorage(count),
            indexes: { users: ["city", "age"] },
            manifests: { users: ["name"] }
          }),
          LocalGit.layer({ directory, repo: "bench/million", maintenance: false })
        )
      )
    )
  )

const child = async (name: string, directory: string, count: number) => {
  const before = process.cpuUsage()
  const started = performance.now()
  const result = await stepIn(directory, name, count)
  const { system, user } = process.cpuUsage(before)
  const figure: Figure = {
    seconds: (performance.now() - started) / 1e3,
    cpuSeconds: (system + user) / 1e6,
    peakMegabytes: process.resourceUsage().maxRSS / 1e3,
    result
  }
  process.stdout.write(JSON.stringify(figure))
}

/** `npm run bench` compiles this file; the soak test runs the source. */
const loader = import.meta.url.endsWith(".ts") ? ["--import", "tsx"] : []

/** Runs one step in its own process. */
const runStep = (name: string, directory: string, count: number): Figure => {
  const ran = spawnSync(
    process.execPath,
    [...loader, fileURLToPath(import.meta.url), `${count}`, "--step", name, "--in", directory],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }
  )
  if (ran.status !== 0) throw new Error(`${name} ended with ${ran.status}`)
  return JSON.parse(ran.stdout)
}

/** Runs every step, and then Git's own check and collection, which throw where something is wrong. */
export const runAll = (count: number, tell: (name: string, figure: Figure) => void, kept?: string) => {
  const directory = kept ?? mkdtempSync(join(tmpdir(), "chainstore-million-"))
  const isMade = existsSync(join(directory, "imported"))
  try {
    for (const name of Object.keys(steps)) {
      if (isMade && (name === "import" || name === "one insert")) continue
      tell(name, runStep(name, directory, count))
      if (name === "import") writeFileSync(join(directory, "imported"), "")
    }
    const repository = join(directory, "bench", "million.git")
    for (const args of [
      ["fsck", "--strict"],
      ["gc", "--quiet"]
    ]) {
      const started = performance.now()
      execFileSync("git", ["-C", repository, ...args], { stdio: ["ignore", "ignore", "inherit"] })
      const seconds = (performance.now() - started) / 1e3
      tell(`git ${args[0]}`, { seconds, cpuSeconds: 0, peakMegabytes: 0, result: bytesOf(repository) })
    }
  } finally {
    if (kept === undefined) rmSync(directory, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { in: { type: "string" }, step: { type: "string" } }
  })
  const count = Number(positionals[0] ?? 1_000_000)
  if (values.step !== undefined) await child(values.step, values.in!, count)
  else {
    console.log(`# ${count} documents, two indexes and a manifest\n${machine()}\n`)
    console.log("| step | seconds | processor s | peak MB | result |\n| --- | --- | --- | --- | --- |")
    const tell = (step: string, { cpuSeconds, peakMegabytes, result, seconds }: Figure) => {
      const cells = [seconds.toFixed(3), cpuSeconds.toFixed(2), peakMegabytes.toFixed(0), result]
      console.log(`| ${step} | ${cells.join(" | ")} |`)
    }
    runAll(count, tell, values.in)
  }
}

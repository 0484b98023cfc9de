/**
 * Import of rows of ten columns into a repository on this machine, and exports of them: time and memory, at a quarter
 * of the rows and at all rows, which shows what grows with them. Every figure is of a process of its own.
 *
 *   npm run bench transfer -- [--rows 8000] [--rounds 3]
 */
import { spawnSync } from "node:child_process"
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { fileURLToPath } from "node:url"
import { NodeContext, NodeStream } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { writeXlsxStream } from "hucre/xlsx"
import { fromNdjson, Store, type StoreOptions, writeXlsx } from "../src/store/index.js"
import { LocalGit } from "../src/store/local/index.js"
import { machine } from "./support/compare.js"

const option = (name: string, fallback: number) => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? fallback : Number(process.argv[at + 1])
}

const columns = ["_id", "name", "category", "price", "stock", "active", "at", "note", "weight", "maker"]

const row = (n: number) => ({
  _id: `p${String(n).padStart(7, "0")}`,
  name: `Product number ${n}`,
  category: `c${n % 37}`,
  price: Math.round((n * 7919) % 100_000) / 100,
  stock: n % 501,
  active: n % 3 === 0,
  at: new Date(1_700_000_000_000 + n * 60_000).toISOString(),
  note: `It is the ${n}th of them, "quoted", & with <marks>`,
  weight: (n % 1000) / 8,
  maker: { country: ["de", "fr", "in", "br"][n % 4]!, code: n % 97 }
})

function* rows(count: number) {
  for (let n = 0; n < count; n++) yield row(n)
}

/** Live bytes after a collection, in the heap and in buffers outside of it, the most that was seen. */
const live = { heap: 0, buffers: 0 }
/** How long the collections took, which is not time of what is measured. */
let millisOfLooks = 0
const look = () => {
  const started = performance.now()
  // Buffers are given back after the collection that finds them.
  for (let times = 0; times < 3; times++) globalThis.gc?.()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  live.heap = Math.max(live.heap, heapUsed)
  live.buffers = Math.max(live.buffers, arrayBuffers)
  millisOfLooks += performance.now() - started
}

const inStore = <A, E>(
  directory: string,
  body: Effect.Effect<A, E, Store | NodeContext.NodeContext>,
  { repo = "transfer", ...options }: StoreOptions & { readonly repo?: string } = {}
) =>
  Effect.runPromise(
    Effect.provide(
      body,
      Layer.merge(
        Layer.provide(
          Store.layer({
            shardBy: "hash",
            shardDepth: 1,
            shardWidth: 2,
            concurrency: 8,
            ...options
          }),
          LocalGit.layer({ directory, repo: `bench/${repo}` })
        ),
        NodeContext.layer
      )
    )
  )

/** Looks at the heap about ten times in all. */
const seldom = (count: number) => {
  let next = 0
  return (done: number) =>
    Effect.sync(() => {
      if (done < next) return
      next = done + count / 10
      look()
    })
}

const exported = (format: "xlsx" | "csv" | "ndjson") => (directory: string, count: number) =>
  inStore(
    directory,
    Effect.flatMap(Store, (store) => {
      const target = join(directory, `out.${format}`)
      const tell = seldom(count)
      const options = { columns, onProgress: ({ documents }: { documents: number }) => tell(documents) }
      const collection = store.collection("products")
      return format === "xlsx"
        ? Effect.asVoid(collection.exportExcel(target, options))
        : Effect.asVoid(collection.exportText(target, format, options))
    })
  ).then(() => statSync(join(directory, `out.${format}`)).size)

const sampled = (count: number) => {
  const step = Math.ceil(count / 10)
  return function* () {
    let n = 0
    for (const one of rows(count)) {
      if (n++ % step === 0) look()
      yield one
    }
  }
}

const imported =
  (chunkSize: number, options?: Parameters<typeof inStore>[2]) => (directory: string, count: number) =>
    inStore(
      directory,
      Effect.flatMap(Store, (store) => {
        const bytes = NodeStream.fromReadable<Error, Uint8Array>(
          () => createReadStream(join(directory, "in.ndjson")),
          (error) => error as Error
        )
        const tell = seldom(count)
        return store.collection("products").importRecords(fromNdjson(bytes), {
          chunkSize,
          onProgress: ({ records }) => tell(records)
        })
      }),
      options
    )

const indexes = { products: ["category"] }

const stages: Record<string, (directory: string, count: number) => Promise<unknown>> = {
  "import NDJSON": imported(1_000),
  "import NDJSON, index of format 1": imported(1_000, { repo: "one-file", indexes }),
  "import NDJSON, index of format 2": imported(1_000, { repo: "tree", format: 2, indexes }),
  "the same, 5,000 rows a commit": imported(5_000, { repo: "large-commits", format: 2, indexes }),
  "export NDJSON": exported("ndjson"),
  "export CSV": exported("csv"),
  "export xlsx": exported("xlsx"),
  "rows to xlsx": (directory, count) =>
    Effect.runPromise(
      Effect.provide(
        writeXlsx(join(directory, "ours.xlsx"), Stream.fromIterable(sampled(count)()), { columns }),
        NodeContext.layer
      )
    ),
  "rows to xlsx, hucre": async (directory, count) => {
    function* cells() {
      for (const one of sampled(count)()) {
        yield [...Object.values(one).slice(0, 9), JSON.stringify(one.maker)] as Array<
          string | number | boolean
        >
      }
    }
    await pipeline(
      writeXlsxStream(cells(), { name: "Sheet1", columns: columns.map((header) => ({ header })) }),
      createWriteStream(join(directory, "theirs.xlsx"))
    )
  }
}

interface Figure {
  readonly seconds: number
  readonly heap: number
  readonly buffers: number
  readonly rss: number
}

const child = async (stage: string, directory: string, count: number) => {
  look()
  const start = performance.now()
  millisOfLooks = 0
  await stages[stage]!(directory, count)
  const seconds = (performance.now() - start - millisOfLooks) / 1000
  look()
  const figure: Figure = {
    seconds,
    heap: live.heap / 1e6,
    buffers: live.buffers / 1e6,
    rss: process.resourceUsage().maxRSS / 1e3
  }
  process.stdout.write(JSON.stringify(figure))
}

const measure = (stage: string, directory: string, count: number): Figure => {
  const ran = spawnSync(
    process.execPath,
    [
      "--expose-gc",
      fileURLToPath(import.meta.url),
      "--stage",
      stage,
      "--in",
      directory,
      "--rows",
      String(count)
    ],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }
  )
  if (ran.status !== 0) throw new Error(`${stage} ended with ${ran.status}`)
  return JSON.parse(ran.stdout)
}

const median = (figures: ReadonlyArray<number>) => figures.toSorted((a, b) => a - b)[figures.length >> 1]!

const parent = async (count: number, rounds: number) => {
  const sizes = [Math.ceil(count / 4), count]
  const found = new Map<string, Array<Figure>>()
  const key = (stage: string, size: number) => `${stage}/${size}`
  for (let round = 0; round < rounds; round++) {
    for (const size of sizes) {
      const directory = mkdtempSync(join(tmpdir(), "chainstore-transfer-"))
      const out = createWriteStream(join(directory, "in.ndjson"))
      await pipeline(
        (function* () {
          for (const one of rows(size)) yield `${JSON.stringify(one)}\n`
        })(),
        out
      )
      for (const stage of Object.keys(stages)) {
        const figures = found.get(key(stage, size)) ?? []
        found.set(key(stage, size), [...figures, measure(stage, directory, size)])
      }
      rmSync(directory, { recursive: true })
    }
  }
  const at = (stage: string, size: number, of: keyof Figure) =>
    median(found.get(key(stage, size))!.map((figure) => figure[of]))
  const lines = Object.keys(stages).map((stage) => {
    const [small, whole] = sizes as [number, number]
    const seconds = at(stage, whole, "seconds")
    const span = (of: "heap" | "buffers") =>
      `${at(stage, small, of).toFixed(0)} -> ${at(stage, whole, of).toFixed(0)}`
    return `| ${stage} | ${seconds.toFixed(2)} | ${Math.round(whole / seconds)} | ${span("heap")} | ${span("buffers")} | ${at(stage, whole, "rss").toFixed(0)} |`
  })
  const ratios = Array.from({ length: rounds }, (_, round) => {
    const of = (stage: string) => found.get(key(stage, count))![round]!.seconds
    return of("rows to xlsx") / of("rows to xlsx, hucre")
  })
  process.stdout.write(
    [
      `# Transfer: ${count} rows of ${columns.length} columns, hash-sharded, 1,000 rows a commit; median of ${rounds}`,
      machine(),
      "",
      `| what | seconds | rows/s | live heap in MB, ${sizes[0]} -> ${sizes[1]} rows | live buffers in MB | peak RSS in MB |`,
      "| --- | --- | --- | --- | --- | --- |",
      ...lines,
      "",
      `Rows to xlsx, ours to hucre's own one-sheet stream, time: ${median(ratios).toFixed(2)}`,
      ""
    ].join("\n")
  )
}

const stage = process.argv.indexOf("--stage")
if (stage === -1) await parent(option("rows", 8_000), option("rounds", 3))
else {
  await child(
    process.argv[stage + 1]!,
    process.argv[process.argv.indexOf("--in") + 1]!,
    option("rows", 8_000)
  )
}

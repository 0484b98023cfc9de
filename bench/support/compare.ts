import { spawn } from "node:child_process"
import { cpus, loadavg, release } from "node:os"
import { fileURLToPath } from "node:url"
import { undisturbed } from "./busy.js"

/** Something to measure: either work repeated in a loop, or a measurement of its own. */
export type Variant =
  | {
      readonly name: string
      /** Does the work so many times; the harness takes the time. */
      readonly run: (iterations: number) => void | Promise<void>
    }
  | {
      readonly name: string
      /** Gives one figure per round, in the comparison's unit. */
      readonly measure: () => Promise<number>
    }

export interface Comparison {
  readonly title: string
  /** The name of the variant that the others are compared with. */
  readonly peer: string
  readonly variants: ReadonlyArray<Variant>
  readonly rounds?: number
  /** How long one variant runs in one round. */
  readonly roundMillis?: number
  /** What the figures are; nanoseconds per operation when absent. */
  readonly unit?: string
}

export interface Row {
  readonly name: string
  /** The median figure of all rounds. */
  readonly median: number
  /** The median of figure / the peer's figure in the same round, and its quartiles. */
  readonly ratio: number
  readonly low: number
  readonly high: number
}

export interface Result {
  readonly title: string
  readonly peer: string
  readonly unit: string
  readonly rounds: number
  readonly rows: ReadonlyArray<Row>
  /** Whether the machine had no other work; otherwise the ratios are not printed. */
  readonly isQuiet: boolean
}

const quantile = (values: ReadonlyArray<number>, q: number) => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const below = sorted[Math.floor(at)]!
  const above = sorted[Math.ceil(at)]!
  return below + (above - below) * (at - Math.floor(at))
}

const timed = async (run: (iterations: number) => void | Promise<void>, iterations: number) => {
  const started = process.hrtime.bigint()
  await run(iterations)
  return Number(process.hrtime.bigint() - started)
}

/** How long code runs before it is measured: the compiler works beside it, and is late on a busy machine. */
const warmUpNanos = 4e8

/** How many iterations fill a round; the doubling warms the code up. */
const calibrate = async (run: (iterations: number) => void | Promise<void>, nanos: number) => {
  let iterations = 1
  let best = Number.POSITIVE_INFINITY
  for (let spent = 0; spent < Math.max(nanos * 4, warmUpNanos); ) {
    const took = await timed(run, iterations)
    spent += took
    best = Math.min(best, took / iterations)
    if (took < nanos / 2) iterations *= 2
  }
  return Math.max(1, Math.round(nanos / best))
}

/** Measures all variants in interleaved rounds, each round starting with another one. */
export const compare = async (comparison: Comparison): Promise<Result> => {
  const { peer, rounds = 15, roundMillis = 20, title, unit = "ns", variants } = comparison
  const peerIndex = variants.findIndex((variant) => variant.name === peer)
  if (peerIndex < 0) throw new RangeError(`No variant of "${title}" is called "${peer}".`)
  const measures: Array<() => Promise<number>> = []
  for (const variant of variants) {
    if ("measure" in variant) measures.push(variant.measure)
    else {
      const iterations = await calibrate(variant.run, roundMillis * 1e6)
      measures.push(async () => (await timed(variant.run, iterations)) / iterations)
    }
  }
  const figures: Array<Array<number>> = variants.map(() => [])
  const [, isQuiet] = await undisturbed(async () => {
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < variants.length; turn++) {
        const index = (round + turn) % variants.length
        figures[index]!.push(await measures[index]!())
      }
    }
  })
  const rows = variants.map(({ name }, index) => {
    const ratios = figures[index]!.map((figure, round) => figure / figures[peerIndex]![round]!)
    return {
      name,
      median: quantile(figures[index]!, 0.5),
      ratio: quantile(ratios, 0.5),
      low: quantile(ratios, 0.25),
      high: quantile(ratios, 0.75)
    }
  })
  return { title, peer, unit, rounds, rows, isQuiet }
}

const casePrefix = "--case="

/**
 * Runs each named comparison in a process of its own, so that variants share no type feedback with those of
 * other cases, and returns the results in order. The calling script must be an entry point.
 */
export const compareIsolated = async (
  entry: string,
  cases: Readonly<Record<string, () => Comparison>>
): Promise<ReadonlyArray<Result>> => {
  const wanted = process.argv.find((argument) => argument.startsWith(casePrefix))?.slice(casePrefix.length)
  if (wanted !== undefined) {
    process.stdout.write(JSON.stringify(await compare(cases[wanted]!())))
    process.exit(0)
  }
  const only = process.argv.slice(2)
  const results: Array<Result> = []
  for (const name of Object.keys(cases)) {
    if (only.length > 0 && !only.some((part) => name.includes(part))) continue
    results.push(await inChild(entry, name))
  }
  return results
}

const inChild = (entry: string, name: string) =>
  new Promise<Result>((resolve, reject) => {
    const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(entry), casePrefix + name], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    let output = ""
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      output += chunk
    })
    child.on("error", reject)
    child.on("close", (code) =>
      code === 0
        ? resolve(JSON.parse(output) as Result)
        : reject(new Error(`Case ${name} ended with ${code}.`))
    )
  })

/** Where the figures come from. */
export const machine = () => {
  const [first] = cpus()
  const load = loadavg().map((figure) => figure.toFixed(1))
  return `Node ${process.versions.node}, ${cpus().length} × ${first?.model.trim() ?? "unknown"}, ${process.platform} ${release()}, load ${load.join(" ")}, ${new Date().toISOString().slice(0, 16)}Z`
}

const figure = (value: number) =>
  value >= 1000
    ? Math.round(value).toLocaleString("en")
    : value >= 100
      ? value.toFixed(0)
      : value.toPrecision(3)

/** One Markdown table for results of the same peer and unit. */
export const markdown = (results: ReadonlyArray<Result>) =>
  [
    "| comparison | variant | median | ratio to peer | quartiles |",
    "| --- | --- | --- | --- | --- |",
    ...results.flatMap((result) =>
      result.rows.map(
        (row) =>
          `| ${result.title} | ${row.name}${row.name === result.peer ? " (peer)" : ""} | ${figure(row.median)} ${result.unit} | ${
            result.isQuiet
              ? `${row.ratio.toFixed(2)} | ${row.low.toFixed(2)}–${row.high.toFixed(2)}`
              : "the machine was busy | "
          } |`
      )
    )
  ].join("\n")

/** Prints the machine and the table. */
export const report = (heading: string, results: ReadonlyArray<Result>) => {
  console.log(`## ${heading}\n\n${machine()}\n\n${markdown(results)}\n`)
}

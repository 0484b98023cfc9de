/**
 * The service against Fastify 5 with JSON schema doing the same work (log line, request id, security headers, Host
 * check, metrics, limit, time-out): 64 connections, one process each, rounds interleaved. `npm run bench http`
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import autocannon from "autocannon"
import { compare, report } from "./support/compare.js"

const seconds = Number(process.env["BENCH_SECONDS"] ?? 3)
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)

interface Running {
  readonly url: string
  readonly child: ChildProcess
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Starts a server that discards its log, because reading it would take time from the measurement. */
const started = async (args: ReadonlyArray<string>): Promise<Running> => {
  const port = await freePort()
  const child = spawn(process.execPath, args, {
    env: {
      ...process.env,
      PORT: String(port),
      NODE_ENV: "production",
      CHAINSTORE_DATA: mkdtempSync(join(tmpdir(), "bench-"))
    },
    stdio: ["ignore", "ignore", "inherit"]
  })
  const url = `http://127.0.0.1:${port}`
  for (let attempt = 0; attempt < 200; attempt++) {
    const answered = await fetch(`${url}/v1/languages`).then(
      (response) => response.ok,
      () => false
    )
    if (answered) return { url, child }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  child.kill()
  throw new Error(`${args.join(" ")} does not answer`)
}

const cpuMicros = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

interface Work {
  readonly title: string
  readonly path: string
  readonly method: "GET" | "POST"
  readonly body?: string
}

const handlers = [
  { name: "negative", when: { lessThan: 0 }, respond: "{request} is negative" },
  { name: "zero", when: { equals: 0 }, respond: "{request} is zero" },
  { name: "positive", when: { greaterThan: 0 }, respond: "{request} is positive" }
]

const works: ReadonlyArray<Work> = [
  {
    title: "POST /v1/chains/execute",
    path: "/v1/chains/execute",
    method: "POST",
    body: JSON.stringify({ request: 5, handlers, fallback: null })
  },
  { title: "GET /v1/languages", path: "/v1/languages", method: "GET" }
]

interface Figures {
  readonly rps: number
  readonly micros: number
}

const load = async ({ child, url }: Running, work: Work, duration: number): Promise<Figures> => {
  const before = cpuMicros(child.pid!)
  const result = await autocannon({
    url: url + work.path,
    method: work.method,
    connections: 64,
    duration,
    headers: { "content-type": "application/json" },
    ...(work.body === undefined ? {} : { body: work.body })
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${work.title}: ${result.non2xx} refused, ${result.errors} broken`)
  return { rps: result["2xx"] / result.duration, micros: (cpuMicros(child.pid!) - before) / result["2xx"] }
}

const measure = async (work: Work, ours: Running, peer: Running) => {
  const micros: Record<string, Array<number>> = { chainstore: [], fastify: [] }
  const variant = (name: string, running: Running) => ({
    name,
    measure: async () => {
      const figures = await load(running, work, seconds)
      micros[name]!.push(figures.micros)
      return figures.rps
    }
  })
  for (const running of [ours, peer]) await load(running, work, 2)
  const result = await compare({
    title: work.title,
    peer: "fastify",
    unit: "requests/s",
    rounds,
    variants: [variant("chainstore", ours), variant("fastify", peer)]
  })
  const least = (name: string) => Math.min(...micros[name]!).toFixed(1)
  return {
    result,
    cpu: `${work.title}: least CPU per request ${least("chainstore")} µs, fastify ${least("fastify")} µs`
  }
}

const long = async (running: Running, count: number) => {
  const body = JSON.stringify({
    request: -1,
    handlers: Array.from({ length: count }, (_, at) => ({
      name: `h${at}`,
      when: { equals: at },
      respond: "r"
    })),
    fallback: "none"
  })
  const once = async () => {
    const response = await fetch(`${running.url}/v1/chains/execute`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" }
    })
    if (response.status !== 200) throw new Error(`${count} handlers: status ${response.status}`)
    await response.text()
  }
  for (let warm = 0; warm < 5; warm++) await once()
  const times: Array<number> = []
  for (let round = 0; round < 15; round++) {
    const at = performance.now()
    await once()
    times.push(performance.now() - at)
  }
  return times.sort((a, b) => a - b)[7]!
}

const ours = await started(["dist/bin/serve.js"])
const peer = await started([fileURLToPath(new URL("fastifyPlayground.js", import.meta.url))])
try {
  const measured = []
  for (const work of works) measured.push(await measure(work, ours, peer))
  report(
    "HTTP, 64 connections, one process",
    measured.map(({ result }) => result)
  )
  for (const { cpu } of measured) console.log(cpu)
  console.log("\n| handlers in one request | median ms | µs per handler |\n| --- | --- | --- |")
  for (const count of [1000, 2500, 5000, 10_000]) {
    const took = await long(ours, count)
    console.log(`| ${count} | ${took.toFixed(2)} | ${((took * 1000) / count).toFixed(2)} |`)
  }
} finally {
  for (const { child } of [ours, peer]) child.kill("SIGTERM")
}

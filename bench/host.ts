/**
 * The GitHub-compatible host against the engine underneath it, and cloning against `git daemon`. `npm run bench host`
 */
import { fork, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { Agent, request } from "node:http"
import { createServer } from "node:net"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { NodeContext } from "@effect/platform-node"
import autocannon from "autocannon"
import { Effect, Layer, Logger, LogLevel, Option, Redacted, Runtime } from "effect"
import { Tokens } from "../src/http/host/access/Tokens.js"
import * as HostLayer from "../src/http/host/HostLayer.js"
import { mounts } from "../src/http/host/HostMounts.js"
import { Repositories } from "../src/http/host/repository/Repositories.js"
import * as Server from "../src/http/server/Server.js"
import { compare, report } from "./support/compare.js"

/** What one load asks for. The loader is a process of its own, so that the host has its core to itself. */
interface Load {
  readonly url: string
  readonly seconds: number
  readonly headers: Record<string, string>
  readonly method: "GET" | "POST" | "PUT"
  /** Asked for in turn. */
  readonly paths: ReadonlyArray<string>
  readonly body?: string
  /** Every request goes to a path of its own below the first. */
  readonly fresh?: boolean
}

interface Loaded {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly wrong: number
  /** The number of replies, those of the warm-up included. */
  readonly replies: number
}

const loader = async ({ body, fresh, headers, method, paths, seconds, url }: Load): Promise<Loaded> => {
  let next = 0
  const at = fresh === true ? () => `${paths[0]}/${next++}.json` : () => paths[next++ % paths.length]!
  const run = (duration: number) =>
    autocannon({
      url,
      connections: 64,
      duration,
      headers,
      method,
      ...(body === undefined ? {} : { body }),
      requests: [
        { method, ...(body === undefined ? {} : { body }), setupRequest: (sent) => ({ ...sent, path: at() }) }
      ]
    })
  const warm = await run(2)
  const { errors, latency, non2xx, requests, statusCodeStats, timeouts } = await run(seconds)
  const unchanged = statusCodeStats?.["304"]?.count ?? 0
  return {
    perSecond: requests.average,
    p50: latency.p50,
    p99: latency.p99,
    wrong: errors + timeouts + non2xx - unchanged,
    replies: warm.requests.total + requests.total
  }
}

if (process.argv[2] === "load") {
  process.send?.(await loader(JSON.parse(process.argv[3] ?? "")))
  process.exit(0)
}

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)
const seconds = Number(process.env["BENCH_SECONDS"] ?? 3)
const documents = Number(process.env["BENCH_DOCUMENTS"] ?? 10_000)
const data = mkdtempSync(join(tmpdir(), "bench-host-"))

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const git = (...args: ReadonlyArray<string>) =>
  new Promise<void>((resolve, reject) => {
    const child = spawn("git", [...args], { stdio: "ignore" })
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`git ${args[0]} ended with ${code}`))
    )
  })

const text = (index: number) =>
  `${JSON.stringify({ _id: String(index), _rev: 1, name: `Document ${index}`, note: "x".repeat(200) }, null, 2)}\n`

const bench = Effect.gen(function* () {
  const { url } = yield* Server.Server
  const token = Redacted.value((yield* Tokens).own)
  const repositories = yield* Repositories
  const principal = { id: "bench", login: "bench", grants: [{ repository: "*", access: "write" as const }] }
  yield* repositories.create("local", "bench", { private: false, description: null })
  const { git: repository } = yield* repositories.openForWrite(principal, "local", "bench")
  const put = (path: string, content: string) => ({
    _tag: "Put" as const,
    path,
    content: Buffer.from(content)
  })
  const commit = (changes: ReadonlyArray<ReturnType<typeof put>>) =>
    repository.commitNext("main", () =>
      Effect.succeed({ commit: Option.some({ message: "bench", changes }), result: undefined })
    )
  const path = (index: number) => `data/things/${String(index).padStart(6, "0")}.json`
  yield* commit(Array.from({ length: documents }, (_, index) => put(path(index), text(index))))
  yield* commit(Array.from({ length: 200 }, (_, index) => put(`small/${index}.json`, text(index))))
  const head = Option.getOrThrow(yield* repository.ref("refs/heads/main"))

  const agent = new Agent({ keepAlive: true })
  const headers = {
    authorization: `Bearer ${token}`,
    "user-agent": "bench",
    "content-type": "application/json"
  }
  const call = (method: string, at: string, body?: string, more: Record<string, string> = {}) =>
    new Promise<{ readonly status: number; readonly etag: string; readonly body: string }>(
      (resolve, reject) => {
        const sent = request(`${url}${at}`, { method, agent, headers: { ...headers, ...more } }, (answer) => {
          const chunks: Array<Buffer> = []
          answer.on("data", (chunk: Buffer) => chunks.push(chunk))
          answer.on("end", () =>
            resolve({
              status: answer.statusCode!,
              etag: answer.headers.etag ?? "",
              body: Buffer.concat(chunks).toString()
            })
          )
        })
        sent.on("error", reject)
        sent.end(body)
      }
    )
  const expecting = async (status: number, ...args: Parameters<typeof call>) => {
    const answer = await call(...args)
    if (answer.status !== status)
      throw new Error(`${args[0]} ${args[1]}: ${answer.status} ${answer.body.slice(0, 300)}`)
    return answer
  }

  const repeat = (work: (index: number) => Promise<unknown>) => async (iterations: number) => {
    for (let index = 0; index < iterations; index++) await work(index)
  }
  const run = Runtime.runPromise(yield* Effect.runtime<never>())

  const at = "/api/v3/repos/local/bench"
  const one = `${at}/contents/small/7.json`
  const { etag } = yield* Effect.promise(() => expecting(200, "GET", one))
  const read = (file: string) =>
    Effect.gen(function* () {
      const tip = Option.getOrThrow(yield* repository.ref("refs/heads/main"))
      const entry = Option.getOrThrow(yield* repository.lookup(tip, file))
      return yield* repository.object(entry.oid)
    })
  let written = 0
  let cold = 0
  const aliases = Array.from(
    { length: 50 },
    (_, index) =>
      `d${index}: file(path: "small/${index}.json") { oid object { ... on Blob { text isTruncated byteSize } } }`
  ).join(" ")
  const query = JSON.stringify({
    query: `{ repository(owner: "local", name: "bench") { ref(qualifiedName: "main") { target { ... on Commit { oid ${aliases} } } } } }`
  })

  const results = yield* Effect.promise(async () => [
    await compare({
      title: "GET contents",
      peer: "engine",
      rounds,
      variants: [
        { name: "engine", run: repeat(() => run(read("small/7.json"))) },
        {
          name: "host, another one each time",
          run: repeat(() => expecting(200, "GET", `${at}/contents/${path(cold++ % documents)}`))
        },
        { name: "host, 200", run: repeat(() => expecting(200, "GET", one)) },
        {
          name: "host, 304",
          run: repeat(() => expecting(304, "GET", one, undefined, { "if-none-match": etag }))
        }
      ]
    }),
    await compare({
      title: "PUT contents, durable",
      peer: "engine",
      rounds,
      roundMillis: 100,
      variants: [
        { name: "engine", run: repeat(() => run(commit([put(`written/e${written++}.json`, text(1))]))) },
        {
          name: "host",
          run: repeat(() =>
            expecting(
              201,
              "PUT",
              `${at}/contents/written/h${written++}.json`,
              JSON.stringify({ message: "m", content: Buffer.from(text(1)).toString("base64") })
            )
          )
        }
      ]
    }),
    await compare({
      title: `tree of ${documents.toLocaleString("en")}`,
      peer: "engine",
      rounds,
      roundMillis: 200,
      variants: [
        { name: "engine", run: repeat(() => run(repository.tree(head, "data/things"))) },
        { name: "host", run: repeat(() => expecting(200, "GET", `${at}/git/trees/${head}:data/things`)) }
      ]
    }),
    await compare({
      title: "GraphQL read of 50",
      peer: "engine",
      rounds,
      roundMillis: 100,
      variants: [
        {
          name: "engine",
          run: repeat(() =>
            run(
              Effect.forEach(
                Array.from({ length: 50 }, (_, index) => `small/${index}.json`),
                read
              )
            )
          )
        },
        { name: "host", run: repeat(() => expecting(200, "POST", "/api/graphql", query)) }
      ]
    })
  ])
  report("The host and the engine underneath it, one request after the other", results)

  const port = yield* Effect.promise(freePort)
  yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const daemon = spawn(
        "git",
        [
          "daemon",
          "--export-all",
          `--base-path=${data}/repos`,
          `--port=${port}`,
          "--listen=127.0.0.1",
          "--reuseaddr"
        ],
        { stdio: "ignore" }
      )
      for (let attempt = 0; attempt < 100; attempt++) {
        const up = await git("ls-remote", "-q", `git://127.0.0.1:${port}/local/bench.git`).then(
          () => true,
          () => false
        )
        if (up) break
      }
      return daemon
    }),
    (daemon) => Effect.sync(() => daemon.kill())
  )
  let clones = 0
  const clone =
    (from: string, ...args: ReadonlyArray<string>) =>
    async () => {
      const target = join(data, `clone-${clones++}`)
      const started = performance.now()
      await git("clone", "-q", "--bare", ...args, from, target)
      const took = performance.now() - started
      rmSync(target, { recursive: true, force: true })
      return took
    }
  const cloned = yield* Effect.promise(async () => [
    await compare({
      title: `clone of ${documents.toLocaleString("en")} documents`,
      peer: "git daemon",
      rounds,
      unit: "ms",
      variants: [
        { name: "git daemon", measure: clone(`git://127.0.0.1:${port}/local/bench.git`) },
        { name: "host", measure: clone(`${url}/local/bench.git`) }
      ]
    }),
    await compare({
      title: "the same, without blobs",
      peer: "git daemon, whole",
      rounds,
      unit: "ms",
      variants: [
        { name: "git daemon, whole", measure: clone(`git://127.0.0.1:${port}/local/bench.git`) },
        { name: "host, --filter=blob:none", measure: clone(`${url}/local/bench.git`, "--filter=blob:none") }
      ]
    })
  ])
  report("Cloning", cloned)

  const load = (title: string, paths: ReadonlyArray<string>, more: Partial<Load> = {}) =>
    Effect.promise(async () => {
      const asked: Load = { url, seconds, headers, method: "GET", paths, ...more }
      const child = fork(fileURLToPath(import.meta.url), ["load", JSON.stringify(asked)])
      const before = process.cpuUsage()
      const { p50, p99, perSecond, replies, wrong } = await new Promise<Loaded>((resolve, reject) => {
        child.once("message", (loaded) => resolve(loaded as Loaded))
        child.once("exit", (code) => reject(new Error(`the loader ended with ${code}`)))
      })
      const { system, user } = process.cpuUsage(before)
      const micros = Math.round((system + user) / replies)
      console.log(
        `| ${title} | ${Math.round(perSecond).toLocaleString("en")} | ${micros} | ${p50} | ${p99} | ${wrong} |`
      )
    })
  const [before] = loadavg()
  console.log(
    `## 64 connections, load ${before?.toFixed(1)}\n\n| request | per second | µs of CPU | p50 ms | p99 ms | errors |\n| --- | --- | --- | --- | --- | --- |`
  )
  const some = Array.from({ length: 1000 }, (_, index) => `${at}/contents/${path(index % documents)}`)
  yield* load("GET contents, one file", [one])
  yield* load("GET contents, 1,000 files in turn", some)
  yield* load("GET contents, 304", [one], { headers: { ...headers, "if-none-match": etag } })
  yield* load("GET contents/small (200 entries)", [`${at}/contents/small`])
  yield* load("GET git/trees (10,000 entries)", [`${at}/git/trees/${head}:data/things`])
  yield* load("GraphQL read of 50", ["/api/graphql"], { method: "POST", body: query })
  yield* load("PUT contents, durable", [`${at}/contents/load`], {
    method: "PUT",
    fresh: true,
    body: JSON.stringify({ message: "m", content: Buffer.from(text(1)).toString("base64") })
  })
  const resident = process.memoryUsage().rss / 1024 / 1024
  console.log(`\nResident memory at the end: ${Math.round(resident)} MiB`)
  agent.destroy()
})

const stack = HostLayer.layer({ atRoot: true, createOnFirstUse: false, directory: data, demo: false }).pipe(
  Layer.provideMerge(HostLayer.layerRepositories(data))
)
const server = Server.layer(
  Server.defaults,
  Effect.map(mounts({ atRoot: true }), (all) => ({ operations: new Map(), mounts: all }))
)

await Effect.runPromise(
  bench.pipe(
    Effect.scoped,
    Effect.provide(
      server.pipe(
        Layer.provideMerge(stack),
        Layer.provide(Layer.merge(NodeContext.layer, Logger.minimumLogLevel(LogLevel.Warning)))
      )
    ),
    Effect.ensuring(Effect.sync(() => rmSync(data, { recursive: true, force: true })))
  )
)
process.exit(0)

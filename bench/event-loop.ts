import { Effect } from "effect"
import { ask } from "../test/http/console/Client.js"
import {
  hostile,
  hostileMerges,
  hostileToHost,
  longestHold,
  type Shape
} from "../test/support/service/Hostile.js"
import { port, serve } from "../test/support/service/ServiceProcess.js"
import { machine } from "./support/compare.js"

/*
 * How long a service is held by bodies that cost more than they look, of up to 1 MiB: the longest hold of the event loop
 * while each is answered, as its own monitor shows it.
 *
 *   npm run bench event-loop -- [how many shapes to print]
 */

const print = Number(process.argv[2] ?? 10)
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3)

const quantile = (sorted: ReadonlyArray<number>, q: number) => sorted[Math.floor((sorted.length - 1) * q)]!

const program = Effect.gen(function* () {
  const token = "t".repeat(40)
  const service = yield* serve({ CHAINSTORE_HOST_TOKEN: token }, [], "serve", { isBuilt: true })
  const url = `http://127.0.0.1:${yield* port(service)}`
  const headers = { authorization: `Bearer ${token}`, "user-agent": "bench" }
  const head = yield* ask(url, "GET", "/api/v3/repos/local/demo/git/ref/heads/main", { headers })
  const { cookie } = yield* ask(url, "POST", "/api/login", {
    body: { api: "embedded", repo: "local/demo", token }
  })
  const hold = ({ body, path }: Shape) =>
    Effect.gen(function* () {
      yield* longestHold(url)
      yield* ask(url, "POST", path, { body, cookie, headers })
      return yield* longestHold(url)
    })
  const merges = yield* hostileMerges((path, body) => ask(url, "POST", path, { body, cookie, headers }))
  const sent = [...hostile, ...hostileToHost(head.body.object.sha), ...merges]
  const shapes = sent.filter(({ name }) => name.includes(process.env["BENCH_ONLY"] ?? ""))
  const found = yield* Effect.forEach(shapes, (shape) =>
    Effect.map(Effect.replicateEffect(hold(shape), rounds), (holds) => ({
      name: shape.name,
      holds: [...holds].sort((a, b) => a - b)
    }))
  )
  const all = found.flatMap(({ holds }) => holds).sort((a, b) => a - b)
  const figures = [0.5, 0.9, 0.99, 1].map((q) => quantile(all, q).toFixed(1))
  console.log(machine())
  console.log(`${shapes.length} shapes, ${rounds} times each: p50, p90, p99, max ${figures.join(", ")} ms\n`)
  console.log("| body | median | longest |\n| --- | --- | --- |")
  const slowest = found.sort((a, b) => b.holds.at(-1)! - a.holds.at(-1)!).slice(0, print)
  for (const { holds, name } of slowest) {
    console.log(`| ${name} | ${quantile(holds, 0.5).toFixed(1)} ms | ${holds.at(-1)!.toFixed(1)} ms |`)
  }
})

await Effect.runPromise(Effect.scoped(program))

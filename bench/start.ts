/**
 * How long the programs take to start, beside an empty program of Node. `npm run bench start`
 */
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { compare, report } from "./support/compare.js"

const data = mkdtempSync(join(tmpdir(), "bench-start-"))
const env = { ...process.env, CHAINSTORE_DATA: data, CHAINSTORE_REPO: "local/bench" }
const program = (name: string) => join("dist/bin", `${name}.js`)

/** Runs a program to its end, and returns the milliseconds that it took. */
const ended = (...args: ReadonlyArray<string>): number => {
  const started = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" })
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`)
  return performance.now() - started
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Starts the service, and returns the milliseconds until its first reply. */
const firstReply = async (): Promise<number> => {
  const port = await freePort()
  const started = performance.now()
  const child = spawn(process.execPath, [program("serve")], {
    env: { ...env, PORT: String(port) },
    stdio: "ignore"
  })
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  try {
    while (performance.now() - started < 60_000) {
      const isReady = await fetch(`http://127.0.0.1:${port}/v1/languages`).then(
        ({ ok }) => ok,
        () => false
      )
      if (isReady) return performance.now() - started
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    throw new Error("the service does not reply")
  } finally {
    child.kill("SIGTERM")
    await gone
  }
}

try {
  ended(program("chainstore"), "put", "things", "1", "--data", '{"name":"one"}')
  report("Start", [
    await compare({
      title: "milliseconds from the start",
      peer: "node, an empty program",
      rounds: Number(process.env["BENCH_ROUNDS"] ?? 7),
      unit: "ms",
      variants: [
        { name: "node, an empty program", measure: async () => ended("-e", "0") },
        { name: "chainstore --version", measure: async () => ended(program("chainstore"), "--version") },
        {
          name: "chainstore get",
          measure: async () => ended(program("chainstore"), "get", "things", "1")
        },
        { name: "npm start, to the first reply", measure: firstReply }
      ]
    })
  ])
} finally {
  rmSync(data, { recursive: true, force: true })
}

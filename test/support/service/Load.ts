import { fileURLToPath } from "node:url"
import autocannon from "autocannon"
import type { Serving } from "./ServiceProcess.js"

/** The result of a load. */
export interface LoadResult {
  readonly answered: number
  readonly refused: number
  readonly broken: number
}

const body = JSON.stringify({
  request: 5,
  handlers: [
    { name: "negative", when: { lessThan: 0 }, respond: "{request} is negative" },
    { name: "positive", when: { greaterThan: 0 }, respond: "{request} is positive" }
  ]
})

/** Reads and writes over 64 connections for a number of seconds. */
export const load = async (url: string, seconds: number): Promise<LoadResult> => {
  const result = await autocannon({
    url,
    connections: 64,
    duration: seconds,
    requests: [
      { method: "GET", path: "/v1/languages" },
      { method: "POST", path: "/v1/chains/execute", body, headers: { "content-type": "application/json" } },
      { method: "GET", path: "/v1/chains/ticket-triage" }
    ]
  })
  return { answered: result["2xx"], refused: result.non2xx, broken: result.errors + result.timeouts }
}

/** The resident memory of another process. */
export const resident = async (pid: number): Promise<number> => {
  const { readFile } = await import("node:fs/promises")
  const pages = (await readFile(`/proc/${pid}/statm`, "utf8")).split(" ")[1]
  return Number(pages) * 4096
}

/** The environment of a service that reports its live heap. */
export const collecting = {
  NODE_OPTIONS: `--import ${fileURLToPath(new URL("Collecting.mjs", import.meta.url))}`
}

/** The live heap after a garbage collection, of a service started with `collecting`. */
export const alive = ({ child }: Serving): Promise<number> =>
  new Promise((resolve) => {
    const listen = (text: string) => {
      const found = /^alive (\d+)$/m.exec(text)
      if (found === null) return
      child.stderr.off("data", listen)
      resolve(Number(found[1]))
    }
    child.stderr.on("data", listen)
    child.kill("SIGUSR2")
  })

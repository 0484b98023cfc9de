import autocannon from "autocannon"

/** What a load left behind. */
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

/** 64 connections that read and write for so many seconds. */
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

/** Resident bytes of another process. */
export const resident = async (pid: number): Promise<number> => {
  const { readFile } = await import("node:fs/promises")
  const pages = (await readFile(`/proc/${pid}/statm`, "utf8")).split(" ")[1]
  return Number(pages) * 4096
}

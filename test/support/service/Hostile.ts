import { Effect } from "effect"
import { ask } from "../../http/console/Client.js"

/** A body that costs more than it looks. */
export interface Shape {
  readonly name: string
  readonly path: string
  readonly body: string
}

const mebibyte = 1_000_000
/** The most that the console's API takes. */
const consoleBody = 64_000

/** So many copies of a text as fit into so many bytes, with commas between. */
const filled = (piece: string, bytes = mebibyte) =>
  Array(Math.floor(bytes / (piece.length + 1)))
    .fill(piece)
    .join(",")
const deep = (levels: number, open = "[", close = "]") => open.repeat(levels) + close.repeat(levels)
const keys = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":1`).join(",")

const executed: Readonly<Record<string, string>> = {
  "the most handlers": `{"request":5,"handlers":[${filled('{"name":"","when":{"equals":1},"respond":""}')}]}`,
  "empty handlers": `{"request":5,"handlers":[${filled("{}")}]}`,
  "numbers for handlers": `{"request":5,"handlers":[${filled("1")}]}`,
  "empty conditions": `{"request":5,"handlers":[${filled('{"when":{}}')}]}`,
  "unknown comparisons": `{"request":5,"handlers":[${filled('{"name":"","when":{"a":1,"b":2},"respond":""}')}]}`,
  "a condition of many keys": `{"request":1,"handlers":[{"name":"a","when":{${keys(80_000)}},"respond":""}]}`,
  "many keys": `{${keys(80_000)}}`,
  "deep lists": `{"request":1,"handlers":${deep(mebibyte / 2)}}`,
  "deep objects": `{"request":${deep(mebibyte / 6, '{"a":', "")}1${"}".repeat(mebibyte / 6)}}`,
  "many places for the request": `{"request":-1.2345678901234567e-300,"handlers":[{"name":"a","when":{"lessThan":1},"respond":"${"{request}".repeat(110_000)}"}]}`,
  "what never closes": "[".repeat(mebibyte),
  "a list": `[${filled("1")}]`
}

const filters = (list: ReadonlyArray<unknown>, more: object = {}) =>
  JSON.stringify({ collection: "products", filters: list, limit: 500, ...more })
const raw = (value: string, operator: string) =>
  `{"collection":"products","filters":[{"path":"name","operator":"${operator}","value":${value}}]}`
const every = (filter: unknown, count: number) => filters(Array.from({ length: count }, () => filter))

const asked: Readonly<Record<string, string>> = {
  "a path of dots": filters([{ path: ".".repeat(4000), operator: "exists" }]),
  "a path of more dots": filters([{ path: ".".repeat(60_000), operator: "exists" }]),
  "a path of dots, projected": filters([{ path: `name${".".repeat(4000)}`, operator: "exists" }], {
    projected: true
  }),
  "the most filters": every({ path: "a.b", operator: "missing" }, 100),
  "the most filters that search": every({ path: "name", operator: "isNot", value: "x".repeat(500) }, 100),
  "more filters": every({ path: "a.b", operator: "missing" }, 1500),
  "a long text": filters([{ path: "name", operator: "contains", value: "a".repeat(consoleBody) }]),
  "a long list": filters([{ path: "name", operator: "contains", value: Array(12_000).fill("a") }]),
  "a deep value": raw(deep(30_000), "is"),
  "a deep value to print": raw(deep(30_000), "contains"),
  "a deep value in a text": filters([{ path: "name", operator: "is", value: 1 }], {
    field: "name",
    value: deep(30_000)
  }),
  "a sort by dots": JSON.stringify({
    ...{ collection: "products", projected: true, filters: [] },
    sort: { path: ".".repeat(60_000), descending: true }
  }),
  "a deep cursor": JSON.stringify({
    ...{ collection: "products", projected: true, sort: { path: "name", descending: false } },
    cursor: `{"id":"a","value":${deep(20_000)}}`
  }),
  "numbers for filters": `{"collection":"products","filters":[${filled("1", consoleBody)}]}`,
  "a commit with many steps": JSON.stringify({ collection: "products", at: `main${"~1".repeat(30_000)}` }),
  "a commit of carets": JSON.stringify({ collection: "products", at: `main${"^".repeat(60_000)}` })
}

const signIns: Readonly<Record<string, string>> = {
  "a root of slashes": JSON.stringify({
    ...{ api: "embedded", repo: "local/demo" },
    root: `a${"/".repeat(60_000)}a`
  }),
  "a branch of steps": JSON.stringify({
    ...{ api: "embedded", repo: "local/demo" },
    branch: `${"a/".repeat(30_000)}b`
  }),
  "a repository of slashes": JSON.stringify({ api: "embedded", repo: "a/".repeat(30_000) })
}

const to = (path: string, bodies: Readonly<Record<string, string>>): ReadonlyArray<Shape> =>
  Object.entries(bodies).map(([name, body]) => ({ name: `${path}: ${name}`, path, body }))

/** What a service is sent to keep it busy. */
export const hostile: ReadonlyArray<Shape> = [
  ...to("/v1/chains/execute", executed),
  ...to("/v1/chains/ticket-triage/execute", executed),
  ...to("/api/query", asked),
  ...to("/api/login", signIns)
]

/** Milliseconds for which the event loop of a service was held at most, since this was asked the last time but one. */
export const longestHold = (url: string) =>
  Effect.map(
    ask(url, "GET", "/metrics"),
    ({ text }) => Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]) * 1000
  )

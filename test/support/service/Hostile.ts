import { Effect } from "effect"
import { ask } from "../../http/console/Client.js"

/** A body that is expensive to process for its size. */
export interface Shape {
  readonly name: string
  readonly path: string
  readonly body: string
}

const mebibyte = 1_000_000
/** The maximum body size of the console's API. */
const consoleBody = 64_000
/** The maximum size of a document as JSON inside JSON. */
const consoleDocument = 200_000

/** As many comma-separated copies of a text as fit into a size. */
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

/** Comma-separated pieces of a text up to a size. */
const pieces = (piece: (at: number) => string, bytes: number) => {
  let text = piece(0)
  for (let at = 1; text.length < bytes; at++) text += `,${piece(at)}`
  return text
}

const edited: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    "objects with a key each": `{"a":[${pieces((at) => `{"k${at}":1}`, consoleDocument * 0.75)}]}`,
    "empty objects": `{"a":[${pieces(() => "{}", consoleDocument)}]}`,
    "many keys": `{${pieces((at) => `"k${at}":1`, consoleDocument * 0.75)}}`,
    "long numbers": `{"a":[${pieces((at) => `1.${String(at).padStart(6, "0")}12345678`, consoleDocument)}]}`,
    "small numbers": `{"a":[${pieces(() => "1", consoleDocument)}]}`,
    escapes: `{"a":"${"\\u00e9".repeat(consoleDocument / 8)}"}`,
    "deep lists": `{"a":${deep(800)}}`,
    "a long list in deep objects": `${'{"a":'.repeat(800)}[${filled("0", consoleDocument)}]${"}".repeat(800)}`
  }).map(([name, text]) => [
    name,
    JSON.stringify({ message: "m", edits: [{ collection: "hostile", id: "a", base: null, text }] })
  ])
)

const edits = {
  "numbers for edits": `{"message":"m","edits":[${filled("1", consoleDocument)}]}`,
  "empty edits": `{"message":"m","edits":[${filled("{}", consoleDocument)}]}`,
  "more edits": JSON.stringify({
    message: "m",
    edits: Array.from({ length: 3500 }, (_, at) => ({ collection: "a", id: `${at}`, base: null, text: null }))
  }),
  "the most edits": JSON.stringify({
    message: "m",
    edits: Array.from({ length: 500 }, (_, at) => ({
      collection: "a",
      id: `${at}`,
      base: null,
      text: '{"a":1}'
    }))
  }),
  "decisions without steps": `{"message":"m","edits":[{"collection":"a","id":"a","base":null,"text":null,"settled":{"against":"a","theirs":[${filled("[]", consoleDocument)}]}}]}`,
  "decisions that are none": `{"message":"m","edits":[{"collection":"a","id":"a","base":null,"text":null,"settled":{"against":"a","theirs":[${filled("{}", consoleDocument)}]}}]}`
}

const to = (path: string, bodies: Readonly<Record<string, string>>): ReadonlyArray<Shape> =>
  Object.entries(bodies).map(([name, body]) => ({ name: `${path}: ${name}`, path, body }))

/** Requests that keep a service busy. */
export const hostile: ReadonlyArray<Shape> = [
  ...to("/v1/chains/execute", executed),
  ...to("/v1/chains/ticket-triage/execute", executed),
  ...to("/api/query", asked),
  ...to("/api/review", edited),
  ...to("/api/publish", edited),
  ...to("/api/propose", edited),
  ...to("/api/review", edits),
  ...to("/api/login", signIns)
]

/** A document that one client has changed and another one edits from an older base. */
interface Merging {
  readonly base: string
  readonly theirs: string
  readonly ours: string
  /** The paths at which the stored value was chosen. */
  readonly settled?: ReadonlyArray<ReadonlyArray<string>>
}

/** The maximum size of an edited document as JSON inside JSON. */
const editedDocument = 230_000

/** A list whose middle both sides change, or two places that one side each changes. */
const listed = (piece: (at: number) => string, size = editedDocument): Merging => {
  const items = pieces(piece, size)
  const text = (first: number, last: number) => `{"a":[${first},${items},${last}],"n":${first}}`
  return { base: text(0, 0), theirs: text(1, 0), ours: text(0, 1) }
}

const keyed = (value: (at: number, side: number) => string, size = editedDocument): Merging => {
  const text = (side: number) => `{${pieces((at) => `"k${at}":${value(at, side)}`, size)}}`
  return { base: text(1), theirs: text(2), ours: text(3) }
}

const apart = (piece: (at: number) => string, size = editedDocument): Merging => {
  const items = pieces(piece, size)
  const text = (first: number, last: number) => `{"first":${first},"a":[${items}],"last":${last}}`
  return { base: text(0, 0), theirs: text(1, 0), ours: text(0, 1) }
}

/** Nested objects with a long list in the innermost, before the members that each side changes. */
const nested = (first: number, last: number) =>
  `${'{"a":'.repeat(4)}{"list":[${filled("0", editedDocument * 0.9)}],"x":${first},"y":${last}}${"}".repeat(4)}`

const merged: Readonly<Record<string, Merging>> = {
  "objects with a key each, in conflict": listed((at) => `{"k${at}":1}`, editedDocument * 0.75),
  "objects with a key each, unchanged": apart((at) => `{"k${at}":1}`, editedDocument * 0.75),
  "numbers, in conflict": listed(() => "1"),
  "numbers, unchanged": apart(() => "1"),
  "long numbers, in conflict": listed((at) => `1.${String(at).padStart(6, "0")}12345678`),
  "floats as Python writes them": listed((at) => `${at}.0`),
  "keys, all in conflict": keyed((_, side) => `${side}`, editedDocument * 0.75),
  "keys, each changed by one side": keyed(
    (at, side) => `${side - 1 === 1 + (at % 2) ? 1 : 0}`,
    editedDocument * 0.75
  ),
  "objects under keys, all in conflict": keyed((at, side) => `{"m${at}":${side}}`, editedDocument * 0.6),
  "lists in lists": listed(() => "[[]]"),
  "deep lists": listed((at) => (at === 0 ? deep(800) : "0"), editedDocument / 2),
  texts: listed((at) => `"${at}"`, editedDocument * 0.6),
  "keys, all decided": {
    ...keyed((_, side) => `${side}`, editedDocument * 0.4),
    settled: Array.from({ length: 7000 }, (_, at) => [`k${at}`])
  },
  "objects in objects above a list": {
    base: nested(0, 0),
    theirs: nested(1, 0),
    ours: nested(0, 1)
  }
}

/** Requests that review and publish edits of documents that others have changed meanwhile. */
export const hostileMerges = <E, R>(
  send: (path: string, body: unknown) => Effect.Effect<{ readonly body: any }, E, R>
): Effect.Effect<ReadonlyArray<Shape>, E, R> =>
  Effect.map(
    Effect.forEach(Object.entries(merged), ([name, { base, ours, settled, theirs }], at) =>
      Effect.gen(function* () {
        const place = { collection: "merged", id: `m${at}` }
        const publish = (base: unknown, text: string) =>
          send("/api/publish", { message: "m", edits: [{ ...place, base, text }] })
        yield* publish(null, base)
        const read = Effect.map(
          send("/api/editable", { collection: place.collection, ids: [place.id] }),
          ({ body }) => body.documents[0]
        )
        const { commit, sha } = yield* read
        yield* publish({ commit, sha }, theirs)
        const now = yield* read
        const decided = settled && { settled: { against: now.sha, theirs: settled } }
        const edit = { ...place, base: { commit, sha }, text: ours, ...decided }
        const body = JSON.stringify({ edits: [edit] })
        return [{ name: `/api/review: merged ${name}`, path: "/api/review", body }]
      })
    ),
    (shapes) => shapes.flat()
  )

/** The maximum event loop delay of a service in milliseconds since the last call. */
export const longestHold = (url: string) =>
  Effect.map(
    ask(url, "GET", "/metrics"),
    ({ text }) => Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]) * 1000
  )

const rest = "/api/v3/repos/local/demo"
const document = (query: string, variables?: object) => JSON.stringify({ query, variables })
const times = (count: number, piece: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => piece(at)).join(" ")
const additions = (count: number, head: string) =>
  document(
    `mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }`,
    {
      input: {
        branch: { repositoryNameWithOwner: "local/demo", branchName: "main" },
        expectedHeadOid: head,
        message: { headline: "many" },
        fileChanges: {
          additions: Array.from({ length: count }, (_, at) => ({ path: `f/${at}`, contents: "" }))
        }
      }
    }
  )
const spread = (name: number) => `fragment F${name} on Query { ...F${name + 1} }`

/** Documents for a GraphQL endpoint; `head` is the head of `main` of `local/demo`. */
const documents = (head: string): Readonly<Record<string, string>> => ({
  "a chain of fragments": document(
    `{ ...F0 } ${times(3000, spread)} fragment F3000 on Query { viewer { login } }`
  ),
  "a star of fragments": document(
    `{ ${times(5000, (at) => `...G${at}`)} } ${times(3000, (at) => `fragment G${at} on Query { __typename }`)}`
  ),
  "fragments that spread the same twice": document(
    `{ ...F0 } ${times(1500, (at) => `fragment F${at} on Query { ...F${at + 1} ...F${at + 1} }`)} fragment F1500 on Query { __typename }`
  ),
  "aliased repositories": document(
    `{ ${times(3000, (at) => `a${at}: repository(owner: "local", name: "demo") { id }`)} }`
  ),
  "one field many times": document(`{ ${"__typename ".repeat(29_000)} }`),
  "unknown fields": document(`{ ${times(14_000, (at) => `x${at}`)} }`),
  "unknown fields at depth": document(`{ ${"viewer { ".repeat(7000)} x ${"}".repeat(7001)}`),
  "fields that conflict": document(
    `{ ${times(9000, (at) => `a: ${at % 2 ? "viewer" : "rateLimit"} { __typename }`)} }`
  ),
  "overlapping fields below": document(`{ ${"viewer { login } ".repeat(6000)} }`),
  "deep overlapping fields": document(`{ ${`viewer { ${"id login ".repeat(2000)} } `.repeat(6)} }`),
  "inline fragments": document(`{ ${"... { ".repeat(9000)} __typename ${"}".repeat(9001)}`),
  "variables that are not used": document(`query(${times(6000, (at) => `$v${at}: Int`)}) { __typename }`),
  "many operations": document(times(7000, (at) => `query q${at} { __typename }`)),
  directives: document(`{ __typename ${"@include(if: true) ".repeat(4000)} }`),
  "a deep list of values": document(
    `{ repository(owner: ${"[".repeat(14_000)}${"]".repeat(14_000)}, name: "a") { id } }`
  ),
  comments: document(`{ __typename } ${"#\n".repeat(333_000)}`),
  "a long string": document(`{ repository(owner: "${"\\u0041".repeat(80_000)}", name: "a") { id } }`),
  "a block of lines": document(`{ repository(owner: """${"\n ".repeat(200_000)}""", name: "a") { id } }`),
  "deep variables": `{"query":"query($a: String) { __typename }","variables":{"a":${deep(400_000)}}}`,
  "many variables": `{"query":"{ __typename }","variables":{${keys(80_000)}}}`,
  "an input of many keys": `{"query":"mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }","variables":{"input":{${keys(80_000)}}}}`,
  "additions of the wrong kind": `{"query":"mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }","variables":{"input":{"fileChanges":{"additions":[${filled("1", 900_000)}]}}}}`,
  "the most additions": additions(9990, head),
  "too many additions": additions(25_000, head),
  "additions to a branch that moved": additions(9990, "0".repeat(40)),
  "what never closes": "{".repeat(30_000)
})

const trees = (count: number, entry: (at: number) => object, more: object = {}) =>
  JSON.stringify({ ...more, tree: Array.from({ length: count }, (_, at) => entry(at)) })

const repositoryBodies: ReadonlyArray<readonly [path: string, name: string, body: string]> = [
  ["git/trees", "many contents", trees(2000, (at) => ({ path: `f${at}`, content: "" }))],
  [
    "git/trees",
    "many removals",
    trees(17_000, (at) => ({ path: `f${at}`, mode: "100644", sha: null }), { base_tree: "main" })
  ],
  [
    "git/trees",
    "many directories",
    trees(1000, (at) => ({ path: `${"a/".repeat(20)}${at}/b`, content: "" }))
  ],
  ["git/trees", "a deep path", trees(1, () => ({ path: `${"a/".repeat(400_000)}b`, content: "" }))],
  ["git/trees", "numbers", `{"tree":[${filled("1")}]}`],
  ["git/trees", "deep lists", `{"tree":${deep(mebibyte / 2)}}`],
  ["git/blobs", "a text", JSON.stringify({ content: "a".repeat(mebibyte - 100) })],
  [
    "git/blobs",
    "white space in base64",
    JSON.stringify({ content: "\n".repeat(mebibyte / 2 - 100), encoding: "base64" })
  ],
  [
    "git/commits",
    "many parents",
    JSON.stringify({ message: "a", tree: "a", parents: Array(20_000).fill("0".repeat(40)) })
  ],
  ["git/commits", "many lines", JSON.stringify({ message: "\n".repeat(400_000), tree: "main" })],
  [
    "git/refs",
    "a name of slashes",
    JSON.stringify({ ref: `refs/heads/${"a/".repeat(400_000)}`, sha: "main" })
  ],
  ["git/tags", "many keys", `{${keys(80_000)}}`],
  ["merges", "a head of carets", JSON.stringify({ base: "main", head: "^".repeat(900_000) })],
  ["merges", "a head of steps", JSON.stringify({ base: "main", head: `main${"~1".repeat(400_000)}` })]
]

/** Requests to the host with a token that may write. */
export const hostileToHost = (head: string): ReadonlyArray<Shape> => [
  ...to("/api/graphql", documents(head)),
  ...repositoryBodies.map(([path, name, body]) => ({
    name: `${path}: ${name}`,
    path: `${rest}/${path}`,
    body
  }))
]

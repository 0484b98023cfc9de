import { execFileSync } from "node:child_process"
import { cpSync, rmSync } from "node:fs"
import { FetchHttpClient } from "@effect/platform"
import { Context, Effect, Either, Layer, Option, Random, Redacted, TestClock } from "effect"
import { GitRemote } from "../../../src/store/GitRemote.js"
import * as GitHub from "../../../src/store/github/GitHub.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { HostServer, layer as host } from "../host/HostServer.js"
import { newRepository } from "./OnHost.js"
import { countingFetch, type InFlight, settle } from "./Virtual.js"

type Document = { readonly [name: string]: unknown } | undefined

interface Operation {
  readonly run: (store: StoreService, first: string) => Effect.Effect<unknown, { readonly _tag: string }>
  /** The document that tells whether the operation was done, and what it is then. */
  readonly id: string
  readonly done: (document: Document) => boolean
}

const docs = (store: StoreService) => store.collection("docs")

const changed = (document: Document) => document?.["n"] === 9 && document["_rev"] === 4
const inserted = (document: Document) => document?.["n"] === 9 && document["_rev"] === 1

/** Before each, `a` has revision 3 and `b` revision 1. */
const operations = {
  insert: { run: (store) => docs(store).insert({ n: 9 }, { id: "new" }), id: "new", done: inserted },
  update: { run: (store) => docs(store).update("a", { n: 9 }), id: "a", done: changed },
  "update expecting a revision": {
    run: (store) => docs(store).update("a", { n: 9 }, { expectedRev: 3 }),
    id: "a",
    done: changed
  },
  upsert: { run: (store) => docs(store).upsert("a", { n: 9 }), id: "a", done: changed },
  "upsert of a missing document": {
    run: (store) => docs(store).upsert("new", { n: 9 }),
    id: "new",
    done: inserted
  },
  replace: { run: (store) => docs(store).replace("a", { n: 9 }), id: "a", done: changed },
  delete: { run: (store) => docs(store).delete("a"), id: "a", done: (document) => document === undefined },
  batch: {
    run: (store) =>
      store.batch({}, (batch) =>
        Effect.zipRight(batch.put("docs", "a", { n: 9 }), batch.put("docs", "new", { n: 9 }))
      ),
    id: "a",
    done: changed
  },
  writer: {
    run: (store) => store.writer({}, (writer) => writer.put("docs", "a", { n: 9 })),
    id: "a",
    done: changed
  },
  transaction: {
    run: (store) => store.transaction({}, (tx) => tx.collection("docs").update("a", { n: 9 })),
    id: "a",
    done: changed
  },
  restore: {
    run: (store, first) => docs(store).restore("a", first),
    id: "a",
    done: (document) => document?.["n"] === 1 && document["_rev"] === 4
  }
} satisfies { readonly [name: string]: Operation }

const carriers = {
  "REST Contents": [{}, {}],
  "Git Data with an index": [{}, { indexes: { docs: ["n"] } }],
  GraphQL: [{ useGraphql: true, commitVia: "graphql" }, {}],
  "GraphQL with an index": [{ useGraphql: true, commitVia: "graphql" }, { indexes: { docs: ["n"] } }]
} as const

const replies = ["lost before", "lost after", "twice", "refused", "none"] as const
type Reply = (typeof replies)[number]

/** What becomes of one write: of its request number `at`, of the request after that, and how old answers are. */
export interface Cell {
  readonly operation: keyof typeof operations
  readonly carrier: keyof typeof carriers
  readonly first: Reply
  readonly second: Reply
  readonly at: 0 | 1 | 2
  readonly stale: number
}

const cellsOf = (operation: Cell["operation"], carrier: Cell["carrier"]): ReadonlyArray<Cell> =>
  replies
    .filter((first) => first !== "none")
    .flatMap((first) =>
      replies.flatMap((second) =>
        [0, 0.3, 0.6, 1, 2, 5].flatMap((stale) =>
          // Only a transaction has more than one write that takes effect.
          (operation === "transaction" ? ([0, 1, 2] as const) : ([0] as const)).map((at) => ({
            operation,
            carrier,
            first,
            second,
            at,
            stale
          }))
        )
      )
    )

/** Every operation, on every carrier, with every pair of faults and every lag. */
export const cells: ReadonlyArray<Cell> = (Object.keys(operations) as Array<Cell["operation"]>).flatMap(
  (operation) =>
    (Object.keys(carriers) as Array<Cell["carrier"]>).flatMap((carrier) => cellsOf(operation, carrier))
)

/** Some cells, another choice for each seed. */
export const sample = (seed: string, count: number) =>
  Effect.map(Effect.withRandom(Random.shuffle(cells), Random.make(seed)), (all) => [...all].slice(0, count))

const isEffective = (method: string, url: string, body: unknown) =>
  url.endsWith("/graphql")
    ? typeof body === "string" && body.includes('"mutation ')
    : method === "PUT" ||
      method === "PATCH" ||
      method === "DELETE" ||
      (method === "POST" && url.endsWith("/git/refs"))

const limited = () =>
  new Response(JSON.stringify({ message: "You have exceeded a secondary rate limit" }), {
    status: 403,
    headers: { "content-type": "application/json", "retry-after": "120" }
  })

/** A proxy before the host, which treats the writes that take effect as it is told. */
const proxy =
  (fate: () => Reply): typeof globalThis.fetch =>
  async (input, init) => {
    const url = String(input instanceof Request ? input.url : input)
    const bytes = init?.body
    const body = bytes instanceof Uint8Array ? new TextDecoder().decode(bytes) : bytes
    const reply = isEffective(init?.method ?? "GET", url, body) ? fate() : "none"
    if (reply === "refused") return limited()
    if (reply === "lost before") throw new TypeError("fetch failed")
    const answer = await fetch(input, init)
    if (reply === "none") return answer
    await answer.arrayBuffer()
    if (reply === "lost after") throw new TypeError("fetch failed")
    return fetch(input, init)
  }

const git = (directory: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["--git-dir", directory, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"]
  })

const readDocument = (directory: string, id: string): Document => {
  try {
    return JSON.parse(git(directory, "show", `main:data/docs/${id}.json`)) as Document
  } catch {
    return undefined
  }
}

const outcomes = new Set(["success", "AmbiguousWriteError"])

/** A host on the test's clock, and a function that runs a cell there and says what is wrong with its outcome. */
export const matrix = Effect.gen(function* () {
  const flight: InFlight = { count: 0, now: 0 }
  const server = Context.get(
    yield* Layer.build(host({ judged: false, staleBy: Effect.sync(() => flight.now) })),
    HostServer
  )
  let made = 0

  const open = (repo: string, carrier: Cell["carrier"], fate: () => Reply) =>
    Effect.gen(function* () {
      const [options, storeOptions] = carriers[carrier]
      const remote = yield* GitHub.make({
        repo,
        apiUrl: server.api,
        rawUrl: server.raw,
        token: Redacted.make(server.token),
        paceRequests: false,
        ...options
      }).pipe(
        Effect.provide(
          Layer.provide(
            FetchHttpClient.layer,
            Layer.succeed(FetchHttpClient.Fetch, countingFetch(flight, proxy(fate)))
          )
        )
      )
      return yield* Effect.provideService(Store.make(storeOptions), GitRemote, remote)
    })

  const templates = new Map<string, { readonly directory: string; readonly first: string }>()
  for (const carrier of ["REST Contents", "Git Data with an index"] as const) {
    const { directory, repo } = yield* Effect.provideService(newRepository, HostServer, server)
    const store = yield* open(repo, carrier, () => "none")
    const { result } = yield* settle(
      flight,
      Effect.gen(function* () {
        yield* docs(store).insert({ n: 1 }, { id: "a" })
        const first = Option.getOrThrow(yield* store.commitSha)
        yield* docs(store).update("a", { n: 2 })
        yield* docs(store).insert({ n: 1 }, { id: "b" })
        return first
      })
    )
    const first = Either.getOrThrow(result)
    for (const [name, [, options]] of Object.entries(carriers)) {
      if (options === carriers[carrier][1] || "indexes" in options === "indexes" in carriers[carrier][1]) {
        templates.set(name, { directory, first })
      }
    }
  }

  return (cell: Cell): Effect.Effect<string | undefined> =>
    Effect.gen(function* () {
      const template = templates.get(cell.carrier)!
      const name = `cell${++made}`
      const directory = `${server.directory}/repos/local/${name}.git`
      cpSync(template.directory, directory, { recursive: true })
      // Every reply of the cell before is old by now, also for the host.
      yield* TestClock.adjust("2 minutes")
      flight.now += 120_000
      yield* server.faults.set({ staleSeconds: cell.stale })
      let count = -1
      let isOn = false
      const store = yield* open(`local/${name}`, cell.carrier, () => {
        if (!isOn) return "none"
        count++
        return count === cell.at ? cell.first : count === cell.at + 1 ? cell.second : "none"
      })
      const warm = yield* settle(flight, docs(store).update("a", { n: 3 }))
      if (Either.isLeft(warm.result)) return `the write before: ${warm.result.left}`
      isOn = true
      const before = git(directory, "rev-parse", "main").trim()
      const operation: Operation = operations[cell.operation]
      const { result } = yield* settle(flight, operation.run(store, template.first))
      const outcome = Either.isRight(result) ? "success" : result.left._tag
      const commits = git(
        directory,
        ...["rev-list", `${before}..main`, "--", `data/docs/${operation.id}.json`]
      ).split("\n")
      const times = commits.length - 1
      const isDone = operation.done(readDocument(directory, operation.id))
      const fsck = git(directory, "fsck", "--connectivity-only")
      rmSync(directory, { recursive: true, force: true })
      const right =
        (outcome === "success" ? times === 1 : outcomes.has(outcome) ? times <= 1 : times === 0) &&
        isDone === (times === 1)
      return right && !/broken|missing/.test(fsck)
        ? undefined
        : `${JSON.stringify(cell)}: ${outcome} (${Either.isLeft(result) ? String(result.left) : ""}), done ${times} times`
    }).pipe(Effect.scoped, Effect.orDie) as Effect.Effect<string | undefined>
})

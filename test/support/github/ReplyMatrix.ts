import { execFileSync } from "node:child_process"
import { cpSync, rmSync } from "node:fs"
import { FetchHttpClient } from "@effect/platform"
import { Context, Effect, Either, Layer, Option, Random, Redacted, TestClock } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHub from "../../../src/store/remote/github/GitHub.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { HostServer, layer as host } from "../host/HostServer.js"
import { newRepository } from "./OnHost.js"
import { ownProcess } from "./ownProcess.js"
import { countingFetch, type InFlight, settle } from "./Virtual.js"

type Document = { readonly [name: string]: unknown } | undefined

/** What an operation is given: its number, the first commit, and the document that tells whether it was done. */
interface Given {
  readonly n: number
  readonly first: string
  readonly id: string
  readonly rev: number
}

interface Operation {
  readonly run: (store: StoreService, given: Given) => Effect.Effect<unknown, { readonly _tag: string }>
  /** It makes a document instead of changing `a`. */
  readonly makes?: boolean
  /** What the document is when it was done; the number and the next revision when absent. */
  readonly done?: (document: Document, given: Given) => boolean
  /** Somebody else deletes the document before, without this client's knowing: an error says that it stays deleted. */
  readonly vanished?: boolean
}

const docs = (store: StoreService) => store.collection("docs")

const operations = {
  insert: { run: (store, { id, n }) => docs(store).insert({ n }, { id }), makes: true },
  update: { run: (store, { id, n }) => docs(store).update(id, { n }) },
  "update expecting a revision": {
    run: (store, { id, n, rev }) => docs(store).update(id, { n }, { expectedRev: rev })
  },
  upsert: { run: (store, { id, n }) => docs(store).upsert(id, { n }) },
  "upsert of a missing document": { run: (store, { id, n }) => docs(store).upsert(id, { n }), makes: true },
  replace: { run: (store, { id, n }) => docs(store).replace(id, { n }) },
  delete: { run: (store, { id }) => docs(store).delete(id), done: (document) => document === undefined },
  batch: {
    run: (store, { id, n }) =>
      store.batch({}, (batch) =>
        Effect.zipRight(batch.put("docs", id, { n }), batch.put("docs", `beside${n}`, { n }))
      )
  },
  writer: {
    run: (store, { id, n }) => store.writer({}, (writer) => writer.put("docs", id, { n }))
  },
  transaction: {
    run: (store, { id, n }) => store.transaction({}, (tx) => tx.collection("docs").update(id, { n }))
  },
  "update of a document that has vanished": {
    run: (store, { id, n }) => docs(store).update(id, { n }),
    done: (document) => document !== undefined,
    vanished: true
  },
  restore: {
    run: (store, { first, id }) => docs(store).restore(id, first),
    done: (document, { rev }) => document?.["n"] === 1 && document["_rev"] === rev + 1
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

/** A host on the test's clock, on which cells and sequences of them run. */
const world = Effect.gen(function* () {
  const flight: InFlight = { count: 0, now: 0 }
  const server = Context.get(
    yield* Layer.build(host({ judged: false, staleBy: Effect.sync(() => flight.now) })),
    HostServer
  )
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
        ),
        ownProcess
      )
      return yield* Effect.provideService(Store.make(storeOptions), GitRemote, remote)
    })

  const templates = new Map<boolean, { readonly directory: string; readonly first: string }>()
  for (const carrier of ["REST Contents", "Git Data with an index"] as const) {
    const { directory, repo } = yield* Effect.provideService(newRepository, HostServer, server)
    const store = yield* open(repo, carrier, () => "none")
    const { result } = yield* settle(
      flight,
      Effect.gen(function* () {
        yield* docs(store).insert({ n: 1 }, { id: "a" })
        const first = Option.getOrThrow(yield* store.commitSha)
        yield* docs(store).update("a", { n: 2 })
        return first
      })
    )
    templates.set("indexes" in carriers[carrier][1], { directory, first: Either.getOrThrow(result) })
  }

  let repositories = 0
  let numbers = 100

  /** A repository of its own, with a client behind the proxy; the function runs a cell there and says what is wrong. */
  const repository = (carrier: Cell["carrier"]) =>
    Effect.gen(function* () {
      const { directory: template, first } = templates.get("indexes" in carriers[carrier][1])!
      const name = `cell${++repositories}`
      const directory = `${server.directory}/repos/local/${name}.git`
      cpSync(template, directory, { recursive: true })
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
      let fate: () => Reply = () => "none"
      const store = yield* open(`local/${name}`, carrier, () => fate())
      const other = yield* open(`local/${name}`, carrier, () => "none")

      const run = (cell: Cell) =>
        Effect.gen(function* () {
          yield* server.faults.set({ staleSeconds: cell.stale })
          const warm = yield* settle(flight, docs(store).upsert("a", { n: ++numbers }))
          if (Either.isLeft(warm.result)) return `${JSON.stringify(cell)}: before it ${warm.result.left}`
          const operation: Operation = operations[cell.operation]
          const n = ++numbers
          const id = operation.makes === true ? `new${n}` : "a"
          const given = { n, first, id, rev: Number(readDocument(directory, id)?.["_rev"] ?? 0) }
          if (operation.vanished === true) yield* settle(flight, docs(other).delete("a"))
          const before = git(directory, "rev-parse", "main").trim()
          let count = -1
          fate = () => {
            count++
            return count === cell.at ? cell.first : count === cell.at + 1 ? cell.second : "none"
          }
          const { result } = yield* settle(flight, operation.run(store, given))
          fate = () => "none"
          const outcome = Either.isRight(result) ? "success" : result.left._tag
          const path = `data/docs/${id}.json`
          const times = git(directory, "rev-list", `${before}..main`, "--", path).split("\n").length - 1
          const document = readDocument(directory, id)
          const isDone =
            operation.done?.(document, given) ?? (document?.["n"] === n && document["_rev"] === given.rev + 1)
          const right =
            operation.vanished === true
              ? outcome === "AmbiguousWriteError" || (outcome !== "success" && !isDone)
              : (outcome === "success"
                  ? times === 1
                  : outcome === "AmbiguousWriteError"
                    ? times <= 1
                    : times === 0) && isDone === (times === 1)
          // One fault alone, and a machine that is behind for no longer than that, cost nothing but time.
          const single = cell.second === "none" && cell.first !== "refused" && operation.vanished !== true
          return right && (!single || outcome === "success")
            ? undefined
            : `${JSON.stringify(cell)}: ${Either.isLeft(result) ? String(result.left) : outcome}, done ${times} times`
        })
      const sound = Effect.sync(() => git(directory, "fsck", "--strict"))
      return { run, sound }
    })

  /** Every answer so far is old, also for the host, and every limit over. */
  const later = Effect.suspend(() => {
    flight.now += 121_000
    return TestClock.setTime(flight.now)
  })

  return { later, repository }
})

/** Runs each cell in a repository of its own, and answers what is wrong. */
export const runAlone = (chosen: ReadonlyArray<Cell>) =>
  Effect.gen(function* () {
    const { later, repository } = yield* world
    const wrong: Array<string> = []
    for (const cell of chosen) {
      yield* later
      const problem = yield* Effect.scoped(Effect.flatMap(repository(cell.carrier), ({ run }) => run(cell)))
      if (problem !== undefined) wrong.push(problem)
    }
    return wrong
  })

/** Runs cells one after the other by one client of one repository for each carrier, and answers what is wrong. */
export const runInSequence = (chosen: ReadonlyArray<Cell>) =>
  Effect.gen(function* () {
    const { later, repository } = yield* world
    const wrong: Array<string> = []
    for (const carrier of Object.keys(carriers) as Array<Cell["carrier"]>) {
      const { run, sound } = yield* repository(carrier)
      for (const cell of chosen.filter((one) => one.carrier === carrier)) {
        const problem = yield* run(cell)
        // The client keeps to the limit that it was told.
        if (cell.first === "refused" || cell.second === "refused") yield* later
        if (problem !== undefined) wrong.push(problem)
      }
      yield* sound
    }
    return wrong
  })

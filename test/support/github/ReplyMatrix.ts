import { rmSync } from "node:fs"
import { Effect, Either, Option, Random, TestClock } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { type Fault, makeServer, replying, type Server, setStale, staleness } from "./InProcess.js"
import type { Seen } from "./Oracle.js"
import { remoteOf } from "./Remote.js"
import { countingFetch, type InFlight, settle } from "./VirtualTime.js"

export type Document = { readonly [name: string]: unknown } | undefined

/** What an operation is given: its number, the first commit, and the document that tells whether it was done. */
export interface Given {
  readonly n: number
  readonly first: string
  readonly id: string
  readonly rev: number
  /** What was prepared for it. */
  readonly prepared: string
}

export interface Operation {
  readonly run: (store: StoreService, given: Given) => Effect.Effect<unknown, { readonly _tag: string }>
  /** It makes a document instead of changing `a`. */
  readonly makes?: boolean
  /** What the document is when it was done; the number and the next revision when absent. */
  readonly done?: (document: Document, given: Given) => boolean
  /** Somebody else deletes the document before, without this client's knowing: an error says that it stays deleted. */
  readonly vanished?: boolean
  /** Comes before it, without faults. */
  readonly prepare?: (
    store: StoreService,
    given: Pick<Given, "n" | "id">
  ) => Effect.Effect<string, { readonly _tag: string }>
  /** The same by somebody else, when all is over: whatever became of it, it is done once afterwards. */
  readonly again?: (store: StoreService, given: Given) => Effect.Effect<unknown, { readonly _tag: string }>
}

export const docs = (store: StoreService) => store.collection("docs")

/** What a merge is made of: the branch, or an edit of a proposal, writes the number, and the target another field. */
const aside = (store: StoreService, { id, n }: Pick<Given, "n" | "id">) =>
  docs(store).update(id, { aside: n })

const isMerged = (document: Document, { n, rev }: Given) =>
  document?.["n"] === n && document["aside"] === n && document["_rev"] === rev + 1

export const operations = {
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
  },
  merge: {
    prepare: (store, given) =>
      Effect.gen(function* () {
        const branch = `draft-${given.n}`
        yield* store.createBranch(branch)
        yield* docs(store.onBranch(branch)).update(given.id, { n: given.n })
        yield* aside(store, given)
        return branch
      }),
    run: (store, { prepared }) => store.merge(prepared),
    done: isMerged,
    again: (store, { prepared }) => store.merge(prepared)
  },
  accept: {
    prepare: (store, given) =>
      Effect.gen(function* () {
        const { proposal } = yield* store.propose({ title: "a number" }, (draft) =>
          draft.collection("docs").update(given.id, { n: given.n })
        )
        yield* aside(store, given)
        return proposal.id
      }),
    run: (store, { prepared }) => store.proposal(prepared).accept(),
    done: isMerged,
    again: (store, { prepared }) =>
      Effect.catchIf(
        store.proposal(prepared).accept(),
        (error) => error._tag === "ConflictError",
        (error) =>
          Effect.filterOrFail(
            store.proposal(prepared).get(),
            ({ state }) => state === "accepted",
            () => error
          )
      )
  }
} satisfies { readonly [name: string]: Operation }

/** Whether a document is as the operation makes it. */
export const isDoneIn = (document: Document, operation: Operation, given: Given): boolean =>
  operation.done?.(document, given) ?? (document?.["n"] === given.n && document["_rev"] === given.rev + 1)

/** Whether an operation ended as it says: it was done once, not at all, or nobody can tell. */
export const isRight = (
  { first, second }: { readonly first: Reply; readonly second: Reply },
  { vanished = false }: Operation,
  outcome: string,
  { isDone, times }: { readonly isDone: boolean; readonly times: number }
): boolean => {
  const right = vanished
    ? outcome === "AmbiguousWriteError" || (outcome !== "success" && !isDone)
    : (outcome === "success" ? times === 1 : outcome === "AmbiguousWriteError" ? times <= 1 : times === 0) &&
      isDone === (times === 1)
  // One fault alone, and a machine that is behind for no longer than that, cost nothing but time.
  const single = second === "none" && first !== "refused" && !vanished
  return right && (!single || outcome === "success")
}

const carriers = {
  "REST Contents": [{}, {}],
  "Git Data with an index": [{}, { indexes: { docs: ["n"] } }],
  GraphQL: [{ useGraphql: true, commitVia: "graphql" }, {}],
  "GraphQL with an index": [{ useGraphql: true, commitVia: "graphql" }, { indexes: { docs: ["n"] } }]
} as const

export const replies = ["lost before", "lost after", "twice", "refused", "none"] as const
export type Reply = (typeof replies)[number]

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

const isEffective = ({ body, method, url }: Seen) =>
  url === "/graphql"
    ? body.includes('"mutation ')
    : method === "PUT" ||
      method === "PATCH" ||
      method === "DELETE" ||
      (method === "POST" && url.endsWith("/git/refs"))

const faultOf: { readonly [reply in Reply]: Fault | undefined } = {
  "lost before": { _tag: "Reset", when: "before" },
  "lost after": { _tag: "Reset", when: "after" },
  twice: { _tag: "Twice" },
  refused: replying({
    status: 403,
    headers: { "retry-after": "120" },
    body: { message: "You have exceeded a secondary rate limit" }
  }),
  none: undefined
}

const readDocument = (server: Server, id: string): Document => {
  const text = server.show(`data/docs/${id}.json`)
  return text === undefined ? undefined : (JSON.parse(text) as Document)
}

/** A host on the test's clock, on which cells and sequences of them run. */
const world = Effect.gen(function* () {
  const flight: InFlight = { count: 0, now: 0 }
  staleness.now = () => flight.now
  const open = (server: Server, carrier: Cell["carrier"]) =>
    Effect.gen(function* () {
      const [options, storeOptions] = carriers[carrier]
      const send = countingFetch(flight, server.fetch)
      const remote = yield* remoteOf(server, { paceRequests: false, ...options }, send)
      return yield* Effect.provideService(Store.make(storeOptions), GitRemote, remote)
    })

  const templates = new Map<boolean, { readonly server: Server; readonly first: string }>()
  for (const carrier of ["REST Contents", "Git Data with an index"] as const) {
    const server = yield* makeServer()
    const store = yield* open(server, carrier)
    const { result } = yield* settle(
      flight,
      Effect.gen(function* () {
        yield* docs(store).insert({ n: 1 }, { id: "a" })
        const first = Option.getOrThrow(yield* store.commitSha)
        yield* docs(store).update("a", { n: 2 })
        return first
      })
    )
    templates.set("indexes" in carriers[carrier][1], { server, first: Either.getOrThrow(result) })
  }

  /** Every answer so far is old, also for the host, and every limit over. */
  const later = Effect.suspend(() => {
    flight.now += 121_000
    return TestClock.setTime(flight.now)
  })

  let numbers = 100

  /** A repository of its own with a client; the function runs a cell there and says what is wrong. */
  const repository = (carrier: Cell["carrier"]) =>
    Effect.gen(function* () {
      const { first, server: template } = templates.get("indexes" in carriers[carrier][1])!
      const server = template.copy()
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => rmSync(server.directory, { recursive: true, force: true }))
      )
      const store = yield* open(server, carrier)
      const other = yield* open(server, carrier)

      const run = (cell: Cell, othersWrote = false) =>
        Effect.gen(function* () {
          yield* setStale(cell.stale)
          // A machine may show the first of two commits that this client's own stands on, and that it never saw.
          if (othersWrote) {
            for (const n of [++numbers, ++numbers]) yield* settle(flight, docs(other).upsert("a", { n }))
          }
          const warm = yield* settle(flight, docs(store).upsert("a", { n: ++numbers }))
          if (Either.isLeft(warm.result)) return `${JSON.stringify(cell)}: before it ${warm.result.left}`
          const operation: Operation = operations[cell.operation]
          const n = ++numbers
          const id = operation.makes === true ? `new${n}` : "a"
          const prepared = yield* settle(flight, operation.prepare?.(store, { n, id }) ?? Effect.succeed(""))
          if (Either.isLeft(prepared.result)) {
            return `${JSON.stringify(cell)}: before it ${prepared.result.left}`
          }
          const stored = Number(readDocument(server, id)?.["_rev"] ?? 0)
          const given = { n, first, id, rev: stored, prepared: prepared.result.right }
          if (operation.vanished === true) {
            const remove = settle(flight, docs(other).delete("a"))
            const removed = yield* remove
            if (Either.isLeft(removed.result)) {
              // The machine that the other client asked had not heard of the document yet, which the cell before removed too.
              flight.now += cell.stale * 1000
              yield* TestClock.setTime(flight.now)
              const again = yield* remove
              if (Either.isLeft(again.result))
                return `${JSON.stringify(cell)}: before it ${again.result.left}`
            }
          }
          const before = server.head()
          let count = -1
          server.fault = (seen) => {
            if (!isEffective(seen)) return undefined
            count++
            return faultOf[count === cell.at ? cell.first : count === cell.at + 1 ? cell.second : "none"]
          }
          const { result } = yield* settle(flight, operation.run(store, given))
          server.fault = () => undefined
          const outcome = Either.isRight(result) ? "success" : result.left._tag
          const path = `data/docs/${id}.json`
          const timesNow = () =>
            Number(server.git(["rev-list", "--count", "--first-parent", `${before}..main`, "--", path]))
          const times = timesNow()
          const document = readDocument(server, id)
          const isDone = isDoneIn(document, operation, given)
          if (!isRight(cell, operation, outcome, { times, isDone })) {
            return `${JSON.stringify(cell)}: ${Either.isLeft(result) ? String(result.left) : outcome}, done ${times} times`
          }
          if (operation.again !== undefined) {
            yield* later
            const { result: again } = yield* settle(flight, operation.again(other, given))
            const isOnce = timesNow() === 1 && isDoneIn(readDocument(server, id), operation, given)
            return Either.isRight(again) && isOnce
              ? undefined
              : `${JSON.stringify(cell)}: ${outcome}, and again ${Either.isLeft(again) ? String(again.left) : "success"}, done ${timesNow()} times`
          }
          // What it has written is read again, whichever machine answers.
          if (operation.vanished === true || outcome === "AmbiguousWriteError") return undefined
          const { result: read } = yield* settle(flight, docs(store).get(id))
          if (Either.isLeft(read)) {
            return read.left._tag === "RateLimitError"
              ? undefined
              : `${JSON.stringify(cell)}: after it ${read.left}`
          }
          const rev = Option.getOrUndefined(read.right)?.["_rev"]
          return rev === document?.["_rev"]
            ? undefined
            : `${JSON.stringify(cell)}: read revision ${rev} instead of ${document?.["_rev"]}`
        })
      const sound = Effect.sync(() => server.git(["fsck", "--strict"]))
      return { run, sound }
    })

  return { later, repository }
})

/** Collects what is wrong with so many cells, and of a long run says how far it is and what it has found. */
export const verdicts = (total: number) => {
  const wrong: Array<string> = []
  let judged = 0
  const add = (problem: string | undefined) =>
    Effect.sync(() => {
      judged++
      if (problem !== undefined) wrong.push(problem)
      if (total < 500) return
      if (problem !== undefined) process.stdout.write(`${problem}\n`)
      if (judged % 100 === 0) process.stdout.write(`${judged} of ${total} cells, ${wrong.length} wrong\n`)
    })
  return { add, wrong }
}

/** Runs each cell in a repository of its own, and answers what is wrong. */
export const runAlone = (chosen: ReadonlyArray<Cell>) =>
  Effect.gen(function* () {
    const { later, repository } = yield* world
    const { add, wrong } = verdicts(chosen.length)
    for (const cell of chosen) {
      yield* later
      yield* add(yield* Effect.scoped(Effect.flatMap(repository(cell.carrier), ({ run }) => run(cell))))
    }
    return wrong
  })

/** Runs cells one after the other by one client of one repository for each carrier, and answers what is wrong. */
export const runInSequence = (chosen: ReadonlyArray<Cell>) =>
  Effect.gen(function* () {
    const { later, repository } = yield* world
    const { add, wrong } = verdicts(chosen.length)
    for (const carrier of Object.keys(carriers) as Array<Cell["carrier"]>) {
      const { run, sound } = yield* repository(carrier)
      for (const [numbered, cell] of chosen.filter((one) => one.carrier === carrier).entries()) {
        const problem = yield* run(cell, numbered % 4 === 0)
        // The client keeps to the limit that it was told.
        if (cell.first === "refused" || cell.second === "refused") yield* later
        yield* add(problem)
      }
      yield* sound
    }
    return wrong
  })

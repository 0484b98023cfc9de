import { Chunk, Effect, Layer, Stream } from "effect"
import { Store, type StoreOptions } from "../../../src/store/index.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../src/store/remote/github/GitHub.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { makeServer, type Server, verbs } from "./InProcess.js"
import { remoteOf } from "./Remote.js"

export interface Row {
  readonly operation: string
  readonly reference: string
  /** At most so many requests; undefined where the table says nothing. */
  readonly rest: number
  readonly graphql: number | undefined
  /** What it takes today, where that is more; each is a debt. */
  readonly owed?: { readonly rest?: number; readonly graphql?: number }
  /** At most so many as the first call of a process, over REST and with GraphQL; absent where another row says it. */
  readonly first?: readonly [rest: number, graphql: number]
  readonly store?: StoreOptions
  readonly seed?: (store: StoreService) => Effect.Effect<unknown, unknown>
  /** The first operation of the measured store, on another collection, is a read and not a write. */
  readonly reads?: boolean
  /** What the measured store did before, beside that first operation. */
  readonly before?: (store: StoreService) => Effect.Effect<unknown, unknown>
  readonly run: (store: StoreService) => Effect.Effect<unknown, unknown>
}

export interface Measured {
  readonly row: Row
  readonly rest: number
  readonly graphql: number | undefined
  /** As the first call of a process, over REST and with GraphQL. */
  readonly first: ReadonlyArray<{ readonly count: number; readonly verbs: ReadonlyArray<string> }> | undefined
  readonly verbs: ReadonlyArray<string>
  readonly graphqlVerbs: ReadonlyArray<string>
  readonly problems: ReadonlyArray<string>
}

const document = (index: number) => ({ category: `c${index % 7}`, name: `Document ${index}`, n: index })
const ids = (count: number) => Array.from({ length: count }, (_, index) => `d${`${index}`.padStart(4, "0")}`)
const docs = (store: StoreService) => store.collection("docs")

const seedMany = (count: number) => (store: StoreService) =>
  Effect.asVoid(
    store.batch({}, (batch) =>
      Effect.forEach(ids(count), (id, index) => batch.put("docs", id, document(index)), { discard: true })
    )
  )

const derived: StoreOptions = { indexes: { docs: ["category"] }, manifests: ["docs"] }
const one = seedMany(1)
const first = ids(1)[0]!
const get = (store: StoreService) => docs(store).get(first)
const collect = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.size)

const putMany =
  (count: number, from = 0) =>
  (store: StoreService) =>
    store.batch({}, (batch) =>
      Effect.forEach(ids(count), (id, index) => batch.put("docs", `${id}-${from}`, document(index)), {
        discard: true
      })
    )

/** The table, row by row. */
export const rows: ReadonlyArray<Row> = [
  {
    operation: "insert",
    first: [3, 2],
    reference: "1",
    rest: 1,
    graphql: 1,
    seed: one,
    run: (s) => docs(s).insert(document(1))
  },
  {
    operation: "get, cold",
    first: [2, 2],
    reads: true,
    reference: "1",
    rest: 1,
    graphql: 1,
    seed: one,
    run: get
  },
  {
    operation: "get, warm (304)",
    reads: true,
    reference: "1",
    rest: 1,
    graphql: 1,
    seed: one,
    before: get,
    run: get
  },
  {
    operation: "update, cold",
    first: [4, 3],
    reference: "2",
    rest: 2,
    graphql: 2,
    seed: one,
    run: (s) => docs(s).update(first, { n: 5 })
  },
  {
    operation: "update, warm",
    reference: "2",
    rest: 2,
    graphql: 1,
    seed: one,
    before: get,
    run: (s) => docs(s).update(first, { n: 5 })
  },
  {
    operation: "replace, cold",
    first: [4, 3],
    reference: "2",
    rest: 2,
    graphql: 2,
    seed: one,
    run: (s) => docs(s).replace(first, { n: 5 })
  },
  {
    operation: "replace, warm",
    reference: "2",
    rest: 2,
    graphql: 1,
    seed: one,
    before: get,
    run: (s) => docs(s).replace(first, { n: 5 })
  },
  {
    operation: "upsert of an existing document, cold",
    first: [4, 3],
    reference: "2",
    rest: 2,
    graphql: 2,
    seed: one,
    run: (s) => docs(s).upsert(first, { n: 5 })
  },
  {
    operation: "upsert of an existing document, warm",
    reference: "2",
    rest: 2,
    graphql: 1,
    seed: one,
    before: get,
    run: (s) => docs(s).upsert(first, { n: 5 })
  },
  {
    operation: "upsert of a missing document, cold",
    first: [4, 3],
    reference: "3",
    rest: 2,
    graphql: 2,
    seed: one,
    run: (s) => docs(s).upsert("new", { n: 5 })
  },
  {
    operation: "upsert of a missing document, warm",
    reference: "3",
    rest: 2,
    graphql: 1,
    seed: one,
    before: (s) => docs(s).get("new"),
    run: (s) => docs(s).upsert("new", { n: 5 })
  },
  {
    operation: "delete, cold",
    first: [4, 3],
    reference: "2",
    rest: 2,
    graphql: 2,
    seed: one,
    run: (s) => docs(s).delete(first)
  },
  {
    operation: "delete, warm",
    reference: "1",
    rest: 1,
    graphql: 1,
    seed: one,
    before: get,
    run: (s) => docs(s).delete(first)
  },
  ...(["cold", "warm"] as const).flatMap((state): ReadonlyArray<Row> => {
    const warm = (s: StoreService) =>
      Effect.zipRight(
        docs(s).insert(document(3), { id: "warm-up" }),
        Effect.asVoid(docs(s).update(first, { n: 4 }))
      )
    const base = { store: derived, seed: one, ...(state === "warm" ? { before: warm } : {}) }
    const most = state === "cold" ? { rest: 7, graphql: 2 } : { rest: 4, graphql: 1 }
    const asFirst = (rest: number) => (state === "cold" ? { first: [rest, 2] as const } : {})
    return [
      {
        operation: `insert with an index and a manifest, ${state}`,
        ...asFirst(8),
        reference: "11",
        ...base,
        ...most,
        run: (s) => docs(s).insert(document(1))
      },
      {
        operation: `update with an index and a manifest, ${state}`,
        ...asFirst(9),
        reference: "12",
        ...base,
        ...most,
        run: (s) => docs(s).update(first, { category: "c9" })
      },
      {
        operation: `delete with an index and a manifest, ${state}`,
        ...asFirst(9),
        reference: "11",
        ...base,
        ...most,
        run: (s) => docs(s).delete(first)
      }
    ]
  }),
  {
    operation: "batch of 50 new documents",
    first: [5, 2],
    reference: "55",
    rest: 5,
    graphql: 2,
    seed: one,
    run: putMany(50)
  },
  {
    operation: "the same with index, manifest and expect",
    first: [9, 2],
    reference: "59",
    rest: 7,
    graphql: 2,
    store: derived,
    seed: one,
    run: (s) =>
      s.batch({}, (batch) =>
        Effect.zipRight(
          batch.expect("docs", first, { rev: 1 }),
          Effect.forEach(ids(50), (id, index) => batch.put("docs", `${id}-new`, document(index)), {
            discard: true
          })
        )
      )
  },
  {
    operation: "all() of 200, cold",
    first: [202, 6],
    reads: true,
    reference: "201",
    rest: 201,
    graphql: 5,
    seed: seedMany(200),
    run: (s) => collect(docs(s).all())
  },
  {
    operation: "all() of 200, warm, unchanged",
    reads: true,
    reference: "1",
    rest: 1,
    graphql: 1,
    seed: seedMany(200),
    before: (s) => collect(docs(s).all()),
    run: (s) => collect(docs(s).all())
  },
  {
    operation: "page(100) of 200",
    first: [102, 4],
    reads: true,
    reference: "101",
    rest: 101,
    graphql: 3,
    seed: seedMany(200),
    run: (s) => docs(s).page({ limit: 100 })
  },
  {
    operation: "findBy, indexed, one hit, cold",
    first: [4, 3],
    reads: true,
    owed: { rest: 3 },
    reference: "2",
    rest: 2,
    graphql: 2,
    store: { indexes: { docs: ["name"] } },
    seed: seedMany(20),
    run: (s) => docs(s).findBy("name", "Document 3")
  },
  {
    operation: "findBy, indexed, one hit, warm",
    reads: true,
    reference: "1, stale",
    rest: 2,
    graphql: 2,
    store: { indexes: { docs: ["name"] } },
    seed: seedMany(20),
    before: (s) => docs(s).findBy("name", "Document 3"),
    run: (s) => docs(s).findBy("name", "Document 3")
  },
  {
    operation: "count",
    first: [2, 2],
    reads: true,
    reference: "1",
    rest: 1,
    graphql: 1,
    seed: seedMany(20),
    run: (s) => docs(s).count
  },
  {
    operation: "list",
    first: [2, 2],
    reads: true,
    reference: "1",
    rest: 1,
    graphql: 1,
    seed: seedMany(20),
    run: (s) => docs(s).list()
  },
  {
    operation: "transaction of 3 inserts",
    first: [11, 7],
    reference: "8",
    rest: 8,
    graphql: 6,
    seed: one,
    run: (s) =>
      s.transaction({}, (tx) =>
        Effect.forEach([1, 2, 3], (n) => tx.collection("docs").insert(document(n)), { discard: true })
      )
  },
  {
    operation: "revert of 50 documents",
    first: [108, 7],
    owed: { rest: 108, graphql: 7 },
    reference: "56",
    rest: 60,
    graphql: 5,
    seed: (s) =>
      Effect.zipRight(
        seedMany(50)(s),
        s.batch({}, (batch) =>
          Effect.forEach(ids(50), (id, index) => batch.put("docs", id, { n: -index }), { discard: true })
        )
      ),
    run: (s) => Effect.suspend(() => s.revert((s as StoreService & { readonly seeded: string }).seeded))
  },
  {
    operation: "restore",
    first: [6, 4],
    reference: "3",
    rest: 3,
    graphql: 2,
    seed: (s) => Effect.zipRight(one(s), docs(s).update(first, { n: 9 })),
    before: (s) => docs(s).get(first),
    run: (s) =>
      Effect.suspend(() =>
        docs(s).restore(first, (s as StoreService & { readonly firstCommit: string }).firstCommit)
      )
  },
  {
    operation: "import of 250 new documents, chunks of 100",
    first: [11, 4],
    reference: "265",
    rest: 15,
    graphql: 6,
    seed: one,
    run: (s) =>
      docs(s).importRecords(
        Array.from({ length: 250 }, (_, index) => ({ _id: `i${index}`, ...document(index) })),
        {
          chunkSize: 100
        }
      )
  }
]

const open = (server: Server, options: Partial<GitHubOptions>, store: StoreOptions | undefined) =>
  Effect.gen(function* () {
    const remote = yield* remoteOf(server, options)
    const context = yield* Layer.build(
      Layer.provide(Store.layer({ root: "data", ...store }), Layer.succeed(GitRemote, remote))
    )
    return yield* Effect.provide(Store, context)
  })

/** The requests of a row by a store that has done something before, or as the first call of a process. */
const measureOne = (row: Row, options: Partial<GitHubOptions>, state: "opened" | "used") =>
  Effect.gen(function* () {
    const server = yield* makeServer()
    const seeding = yield* open(server, {}, row.store)
    yield* seeding.collection("warmup").insert({ n: 1 }, { id: "first" })
    yield* (row.seed ?? (() => Effect.void))(seeding)
    const [oldest = ""] = server
      .git(["rev-list", "--reverse", "main", "--", `data/docs/${first}.json`])
      .split("\n")
    const store = Object.assign(Object.create(yield* open(server, options, row.store)) as StoreService, {
      firstCommit: oldest,
      seeded: server.head()
    })
    if (state === "used") {
      if (row.reads === true) yield* store.collection("warmup").get("first")
      else yield* store.collection("warmup").insert({ n: 2 })
      if (row.before !== undefined) yield* row.before(store)
    }
    server.seen.length = 0
    yield* row.run(store)
    return { count: server.seen.length, verbs: verbs(server), problems: server.problems }
  }).pipe(Effect.scoped)

/** Counts the requests of a row at the socket, for both ways of asking. */
export const measure = (row: Row) =>
  Effect.gen(function* () {
    const viaGraphql: Partial<GitHubOptions> = { useGraphql: true, commitVia: "graphql" }
    const rest = yield* measureOne(row, {}, "used")
    const graphql = yield* measureOne(row, viaGraphql, "used")
    const first = row.first && [
      yield* measureOne(row, {}, "opened"),
      yield* measureOne(row, viaGraphql, "opened")
    ]
    const measured: Measured = {
      row,
      rest: rest.count,
      graphql: graphql.count,
      first: first?.map(({ count, verbs }) => ({ count, verbs })),
      verbs: rest.verbs,
      graphqlVerbs: graphql.verbs,
      problems: [rest, graphql, ...(first ?? [])].flatMap(({ problems }) => problems)
    }
    return measured
  })

/** The table as it is printed. */
export const print = (table: ReadonlyArray<Measured>) =>
  [
    "| operation | reference | allowed | ours | first call | allowed, GraphQL | ours, GraphQL | first call, GraphQL |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...table.map(({ first, graphql, rest, row }) => {
      const [firstRest, firstGraphql] = first ?? []
      const cells = [
        row.operation,
        row.reference,
        row.rest,
        rest,
        firstRest?.count,
        row.graphql,
        graphql,
        firstGraphql?.count
      ]
      return `| ${cells.map((cell) => cell ?? "").join(" | ")} |`
    })
  ].join("\n")

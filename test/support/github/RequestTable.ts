import { Chunk, Effect, Layer, Stream } from "effect"
import { Store, type StoreOptions } from "../../../src/store/index.js"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
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
  /** The options of the measured store, if they are not those of the store that wrote the repository. */
  readonly measured?: StoreOptions
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

const update = (s: StoreService) => docs(s).update(first, { n: 5 })
const replace = (s: StoreService) => docs(s).replace(first, { n: 5 })
const upsert = (s: StoreService) => docs(s).upsert(first, { n: 5 })
const upsertNew = (s: StoreService) => docs(s).upsert("new", { n: 5 })
const remove = (s: StoreService) => docs(s).delete(first)
const insert = (s: StoreService) => docs(s).insert(document(1))
const all = (s: StoreService) => collect(docs(s).all())
const byName = (s: StoreService) => docs(s).findBy("name", "Document 3")

const revert = (s: StoreService) =>
  Effect.suspend(() => s.revert((s as StoreService & { readonly seeded: string }).seeded))

/** Fields around the changed one that no patch shows whole. */
const longFields = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`m${index + 100}`, index]))

const seedTwice = (more: object) => (s: StoreService) =>
  Effect.forEach([1, -1], (sign) =>
    s.batch({}, (batch) =>
      Effect.forEach(ids(50), (id, index) => batch.put("docs", id, { ...more, n: sign * (index + 1) }), {
        discard: true
      })
    )
  )

/** Over REST and with GraphQL; then the same as the first call of a process, where no other row says it. */
type Counts = readonly [rest: number, graphql: number, firstRest?: number, firstGraphql?: number]

const row = (
  operation: string,
  reference: string,
  [rest, graphql, firstRest, firstGraphql]: Counts,
  run: Row["run"],
  more: Partial<Row> = {}
): Row => ({
  operation,
  reference,
  rest,
  graphql,
  ...(firstRest === undefined || firstGraphql === undefined ? {} : { first: [firstRest, firstGraphql] }),
  seed: one,
  run,
  ...more
})

/** A row whose store has read nothing of the documents, and one whose store knows them by `before`. */
const coldAndWarm = (
  operation: string,
  [cold, coldCounts]: readonly [reference: string, counts: Counts],
  [warm, warmCounts]: readonly [reference: string, counts: Counts],
  run: Row["run"],
  { before = get, ...more }: Partial<Row> = {}
): ReadonlyArray<Row> => [
  row(`${operation}, cold`, cold, coldCounts, run, more),
  row(`${operation}, warm`, warm, warmCounts, run, { before, ...more })
]

const written = (s: StoreService) =>
  Effect.zipRight(docs(s).insert(document(3), { id: "warm-up" }), docs(s).update(first, { n: 4 }))

const recorded: Partial<Row> = { store: derived, before: written }
/** The options of the store name neither index nor manifest. */
const adopted = (format: 1 | 2): Partial<Row> => ({ store: { ...derived, format }, measured: {} })
const byIndex: Partial<Row> = { store: { indexes: { docs: ["name"] } }, seed: seedMany(20), reads: true }

/** Twenty documents of each category, in trees. */
const byTree: Partial<Row> = {
  store: { format: 2, indexes: { docs: ["category", "n"] }, manifests: { docs: ["name"] } },
  seed: seedMany(140),
  reads: true
}
const byCity = (s: StoreService) => docs(s).query({ where: { category: "c3" }, limit: 20 })
const inRange = (s: StoreService) =>
  docs(s).query({ where: { n: { atLeast: 50, lessThan: 70 } }, orderBy: "n", limit: 20 })
const bySelected = (s: StoreService) => docs(s).query({ select: ["name"], limit: 20 })

/** The table, row by row. */
export const rows: ReadonlyArray<Row> = [
  row("insert", "1", [1, 1, 3, 2], insert),
  row("get, cold", "1", [1, 1, 2, 2], get, { reads: true }),
  row("get, warm (304)", "1", [1, 1], get, { reads: true, before: get }),
  ...coldAndWarm("update", ["2", [2, 2, 4, 3]], ["2", [2, 1]], update),
  ...coldAndWarm("replace", ["2", [2, 2, 4, 3]], ["2", [2, 1]], replace),
  ...coldAndWarm("upsert of an existing document", ["2", [2, 2, 4, 3]], ["2", [2, 1]], upsert),
  ...coldAndWarm("upsert of a missing document", ["3", [2, 2, 4, 3]], ["3", [2, 1]], upsertNew, {
    before: (s) => docs(s).get("new")
  }),
  ...coldAndWarm("delete", ["2", [2, 2, 4, 3]], ["1", [1, 1]], remove),
  ...coldAndWarm(
    "insert with an index and a manifest",
    ["11", [7, 2, 8, 2]],
    ["11", [4, 1]],
    insert,
    recorded
  ),
  ...coldAndWarm(
    "update with an index and a manifest",
    ["12", [7, 2, 9, 2]],
    ["12", [4, 1]],
    (s) => docs(s).update(first, { category: "c9" }),
    recorded
  ),
  ...coldAndWarm(
    "delete with an index and a manifest",
    ["11", [7, 2, 9, 2]],
    ["11", [4, 1]],
    remove,
    recorded
  ),
  // The store learns of the index and the manifest from the settings.
  ...[1 as const, 2 as const].flatMap((format) => [
    row(
      `insert with recorded settings, format ${format}`,
      "",
      format === 1 ? [6, 2, 9, 3] : [8, 3, 11, 4],
      insert,
      adopted(format)
    ),
    row(
      `update with recorded settings, format ${format}`,
      "",
      format === 1 ? [7, 2, 10, 3] : [9, 3, 12, 4],
      (s) => docs(s).update(first, { category: "c9" }),
      adopted(format)
    )
  ]),
  row("batch of 50 new documents", "55", [5, 2, 5, 2], putMany(50)),
  row(
    "the same with index, manifest and expect",
    "59",
    [7, 2, 9, 2],
    (s) =>
      s.batch({}, (batch) =>
        Effect.zipRight(
          batch.expect("docs", first, { rev: 1 }),
          Effect.forEach(ids(50), (id, index) => batch.put("docs", `${id}-new`, document(index)), {
            discard: true
          })
        )
      ),
    { store: derived }
  ),
  row("all() of 200, cold", "201", [201, 5, 202, 6], all, { reads: true, seed: seedMany(200) }),
  row("all() of 200, warm, unchanged", "1", [1, 1], all, { reads: true, seed: seedMany(200), before: all }),
  row("page(100) of 200", "101", [101, 3, 102, 4], (s) => docs(s).page({ limit: 100 }), {
    reads: true,
    seed: seedMany(200)
  }),
  row("findBy, indexed, one hit, cold", "2", [2, 2, 4, 3], byName, { ...byIndex, owed: { rest: 3 } }),
  row("findBy, indexed, one hit, warm", "1, stale", [2, 2], byName, { ...byIndex, before: byName }),
  // One request for each document, and at most 8 others, or 5 over GraphQL.
  row("query of 20 documents by an equality, tree index", "", [28, 5, 28, 5], byCity, byTree),
  row("query of 20 documents by a range in its order, tree index", "", [28, 5, 28, 5], inRange, byTree),
  row("query of 20 documents by rows of a tree manifest", "", [8, 5, 8, 5], bySelected, byTree),
  row("count", "1", [1, 1, 2, 2], (s) => docs(s).count, { reads: true, seed: seedMany(20) }),
  row("list", "1", [1, 1, 2, 2], (s) => docs(s).list(), { reads: true, seed: seedMany(20) }),
  row("transaction of 3 inserts", "8", [8, 6, 11, 7], (s) =>
    s.transaction({}, (tx) =>
      Effect.forEach([1, 2, 3], (n) => tx.collection("docs").insert(document(n)), { discard: true })
    )
  ),
  row("revert of 50 documents", "56", [9, 5, 9, 5], revert, { seed: seedTwice({}) }),
  row("revert of 50 documents of 300 lines", "56", [60, 5, 60, 5], revert, { seed: seedTwice(longFields) }),
  row(
    "restore",
    "3",
    [3, 2, 6, 4],
    (s) =>
      Effect.suspend(() =>
        docs(s).restore(first, (s as StoreService & { readonly firstCommit: string }).firstCommit)
      ),
    { seed: (s) => Effect.zipRight(one(s), docs(s).update(first, { n: 9 })), before: get }
  ),
  row("import of 250 new documents, chunks of 100", "265", [15, 6, 11, 4], (s) =>
    docs(s).importRecords(
      Array.from({ length: 250 }, (_, index) => ({ _id: `i${index}`, ...document(index) })),
      { chunkSize: 100 }
    )
  )
]

const storeOver = (remote: GitRemoteService, store: StoreOptions | undefined) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(
      Layer.provide(Store.layer({ root: "data", ...store }), Layer.succeed(GitRemote, remote))
    )
    return yield* Effect.provide(Store, context)
  })

/** Prepares a repository in which a row may run. */
export const seed = (row: Row, remote: GitRemoteService) =>
  Effect.gen(function* () {
    const seeding = yield* storeOver(remote, row.store)
    yield* seeding.collection("warmup").insert({ n: 1 }, { id: "first" })
    yield* (row.seed ?? (() => Effect.void))(seeding)
  }).pipe(Effect.scoped)

/** A prepared repository, and a client of it on which nobody has asked anything yet. */
export interface Place {
  readonly remote: GitRemoteService
  readonly git: (args: ReadonlyArray<string>) => string
}

/** Runs a row by a store that has done something before, or as the first call of a process; `begin` comes before the row itself. */
export const run = (row: Row, { git, remote }: Place, state: "opened" | "used", begin: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const [firstCommit = ""] = git(["rev-list", "--reverse", "main", "--", `data/docs/${first}.json`]).split(
      "\n"
    )
    const store = Object.assign(
      Object.create(yield* storeOver(remote, row.measured ?? row.store)) as StoreService,
      {
        firstCommit,
        seeded: git(["rev-parse", "main"])
      }
    )
    if (state === "used") {
      if (row.reads === true) yield* store.collection("warmup").get("first")
      else yield* store.collection("warmup").insert({ n: 2 })
      if (row.before !== undefined) yield* row.before(store)
    }
    yield* begin
    yield* row.run(store)
  }).pipe(Effect.scoped)

/** The requests of a row in a copy of a prepared repository. */
const measureOne = (row: Row, from: Server, options: Partial<GitHubOptions>, state: "opened" | "used") =>
  Effect.gen(function* () {
    const server = from.copy()
    const remote = yield* remoteOf(server, options)
    const forget = Effect.sync(() => {
      server.seen.length = 0
    })
    yield* run(row, { remote, git: (args) => server.git([...args]).trim() }, state, forget)
    return { count: server.seen.length, verbs: verbs(server), problems: server.problems }
  })

/** Counts the requests of a row, for both ways of asking. */
export const measure = (row: Row) =>
  Effect.gen(function* () {
    const viaGraphql: Partial<GitHubOptions> = { useGraphql: true, commitVia: "graphql" }
    const from = yield* makeServer()
    yield* seed(row, yield* remoteOf(from, {}))
    const rest = yield* measureOne(row, from, {}, "used")
    const graphql = yield* measureOne(row, from, viaGraphql, "used")
    const first = row.first && [
      yield* measureOne(row, from, {}, "opened"),
      yield* measureOne(row, from, viaGraphql, "opened")
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

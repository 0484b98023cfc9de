import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { Effect, Layer } from "effect"
import sqlite3 from "node-sqlite3-wasm"
import type { Layout } from "../src/domain/settings/Settings.js"
import { documentPath } from "../src/store/DocumentPath.js"
import { recommendedStorage } from "../src/store/internal/derived/StorageAdvice.js"
import * as LocalGit from "../src/store/remote/local/LocalGit.js"
import { Store } from "../src/store/Store.js"
import type { StoreOptions } from "../src/store/StoreOptions.js"
import { type Comparison, compare, type Result, report } from "./support/compare.js"
import { fastImport, freshPlace, idOf } from "./support/repositories.js"

/*
 * What an index and a manifest cost: one durable insert, the bytes that it adds to the repository, and a query by the index
 * in a store that has read nothing.
 *
 *   npm run bench scale -- [sizes] [--in DIRECTORY]
 *
 * The sizes are 1000 and 100000 unless they are given, each by itself or together. The repositories that it begins with are
 * kept in the directory of `--in` and used again: at 1000000 making them takes most of the time. `BENCH_ROUNDS` is 3.
 * `million.ts` imports and reads a collection of such a size whole.
 */

const { positionals, values: given } = parseArgs({
  allowPositionals: true,
  options: { in: { type: "string" } }
})
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3)
const sizes = positionals.length === 0 ? [1_000, 100_000] : positionals.map(Number)

/** As `estimate` recommends it: a write of one document changes the list of its directory. */
const layoutOf = (count: number): Layout => {
  const { format, ...layout } = recommendedStorage(count)
  return layout
}
const oneFileEach = "index and manifest, one file each"
const trees = "index and manifest, trees"
const derived = { indexes: { users: ["city"] }, manifests: { users: ["name"] } }
const without = "without index"
const ways: Readonly<Record<string, StoreOptions>> = {
  [without]: {},
  [oneFileEach]: { ...derived, format: 1 },
  [trees]: { ...derived, format: 2 }
}
const optionsOf = (way: string, count: number): StoreOptions => ({ ...layoutOf(count), ...ways[way] })

/** Format 1 rewrites each file with every commit: beyond this size it takes seconds and tens of megabytes. */
const mostInOneFile = 100_000
const waysAt = (count: number) =>
  Object.keys(ways).filter((way) => way !== oneFileEach || count <= mostInOneFile)

/** About twenty documents have one city. */
const cityOf = (n: number, count: number) => `City ${n % Math.ceil(count / 20)}`
const bodyOf = (n: number, count: number) => ({
  city: cityOf(n, count),
  name: `Somebody ${n}`,
  email: `${idOf(n)}@example.org`,
  tags: ["one", "two"]
})

const seed = (directory: string, count: number) =>
  fastImport(directory, (write) => {
    write(Buffer.from("commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata 4\nseed\n"))
    const time = "2026-01-01T00:00:00.000Z"
    for (let n = 0; n < count; n++) {
      const metadata = { _created_at: time, _id: idOf(n), _rev: 1, _updated_at: time }
      const text = `${JSON.stringify({ ...metadata, ...bodyOf(n, count) }, null, 2)}\n`
      const file = documentPath("data", layoutOf(count), "users", idOf(n))
      write(Buffer.from(`M 100644 inline ${file}\ndata ${Buffer.byteLength(text)}\n${text}\n`))
    }
  })

/** Opens a store and runs a program with it. */
const withStore = <A>(
  place: string,
  options: StoreOptions,
  body: (store: Store["Type"]) => Effect.Effect<A, unknown>
): Promise<A> =>
  Effect.runPromise(
    Effect.flatMap(Store, body).pipe(
      Effect.provide(
        Layer.provide(Store.layer(options), LocalGit.layer({ directory: place, maintenance: false }))
      )
    )
  )

const gitOf = (place: string) => path.join(place, "local", "store.git")

const templates = new Map<string, Promise<string>>()

/** Makes a repository with so many documents, and with the indexes that the options name; or finds the one of an earlier run. */
const makeTemplate = async (count: number, way: string) => {
  if (given.in === undefined) return make(freshPlace(), count, way)
  const place = path.join(given.in, `${count} ${way}`)
  if (fs.existsSync(place)) return place
  const made = await make(`${place}.unfinished`, count, way)
  fs.renameSync(made, place)
  return place
}

const make = async (place: string, count: number, way: string) => {
  fs.rmSync(place, { recursive: true, force: true })
  const directory = gitOf(place)
  fs.mkdirSync(directory, { recursive: true })
  execFileSync("git", ["init", "-q", "--bare", "--initial-branch=main", directory])
  await seed(directory, count)
  if (way !== without) await withStore(place, optionsOf(way, count), (store) => store.reindex())
  return place
}

/** A copy of a prepared repository. */
const seeded = async (count: number, way: string) => {
  const key = `${count} ${way}`
  const template = templates.get(key) ?? makeTemplate(count, way)
  templates.set(key, template)
  const place = freshPlace()
  fs.cpSync(await template, place, { recursive: true })
  return place
}

const sizeOf = (directory: string): number =>
  fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { name, parentPath }) => sum + fs.statSync(path.join(parentPath, name)).size, 0)

const written = new Map<string, number>()

const inserts = (count: number, way: string) => ({
  name: way,
  measure: async () => {
    const place = await seeded(count, way)
    const times = way === oneFileEach && count > 10_000 ? 5 : 100
    const millis = await withStore(place, optionsOf(way, count), (store) =>
      Effect.gen(function* () {
        const users = store.collection("users")
        const insert = (n: number) => users.insert(bodyOf(n, count), { id: idOf(n) })
        // The first one opens the repository.
        for (let n = 0; n < 3; n++) yield* insert(count + n)
        const before = sizeOf(gitOf(place))
        const started = performance.now()
        for (let n = 3; n < times + 3; n++) yield* insert(count + n)
        const millis = (performance.now() - started) / times
        written.set(`${count} ${way}`, (sizeOf(gitOf(place)) - before) / times)
        return millis
      })
    )
    return millis * 1000
  }
})

/** As durable as the store's commits: SQLite's default journal, flushed at each commit, here through Node's `fsync`. */
const sqlite = (count: number) => {
  let open: InstanceType<typeof sqlite3.Database> | undefined
  const insertInto = (database: NonNullable<typeof open>, n: number) => {
    const body = bodyOf(n, count)
    database.run("insert into users values (?, ?, ?)", [idOf(n), body.city, JSON.stringify(body)])
  }
  const prepared = () => {
    const database = new sqlite3.Database(freshPlace())
    database.exec(
      "pragma synchronous = full; create table users (id text primary key, city text, document text)"
    )
    database.exec("create index by_city on users (city); begin")
    for (let n = 0; n < count; n++) insertInto(database, n)
    database.exec("commit")
    process.once("exit", () => database.close())
    return database
  }
  let next = count
  return {
    name: "SQLite (WASM), a table with an index",
    measure: async () => {
      open ??= prepared()
      const started = performance.now()
      for (let at = 0; at < 100; at++, next++) insertInto(open, next)
      return (performance.now() - started) * 10
    }
  }
}

const queries = (count: number): Comparison => {
  const find = (way: string) => ({
    name: way,
    measure: async () => {
      const place = await seeded(count, way)
      const started = performance.now()
      const found = await withStore(place, {}, (store) =>
        store.collection("users").findBy("city", cityOf(1, count))
      )
      if (found.length !== 20 && found.length !== count) throw new Error(`found ${found.length}`)
      return performance.now() - started
    }
  })
  return {
    title: `20 documents by their city of ${count}: a store is opened, asked and closed`,
    peer: count <= mostInOneFile ? oneFileEach : trees,
    unit: "ms",
    rounds,
    variants: (count <= mostInOneFile ? [oneFileEach, trees] : [trees]).map(find)
  }
}

const results: Array<Result> = []
for (const count of sizes) {
  results.push(
    await compare({
      title: `one document, one durable commit: ${count} documents, hash-sharded`,
      peer: without,
      unit: "µs/commit",
      rounds,
      variants: [...waysAt(count).map((way) => inserts(count, way)), sqlite(count)]
    }),
    await compare(queries(count))
  )
}
report("Scale", results)
for (const [what, bytes] of written) console.log(`${what}: ${(bytes / 1000).toFixed(1)} kB a commit`)

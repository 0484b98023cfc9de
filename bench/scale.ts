import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { PGlite } from "@electric-sql/pglite"
import { Effect, Layer } from "effect"
import { plainLayout } from "../src/domain/Settings.js"
import { documentPath } from "../src/store/DocumentPath.js"
import * as LocalGit from "../src/store/remote/local/LocalGit.js"
import { Store } from "../src/store/Store.js"
import type { StoreOptions } from "../src/store/StoreOptions.js"
import { type Comparison, compare, type Result, report } from "./support/compare.js"
import { fastImport, freshPlace, idOf } from "./support/repositories.js"

/*
 * What an index and a manifest cost at a thousand documents and at a hundred thousand: one durable insert, the bytes that
 * it adds to the repository, and a query by the index in a store that has read nothing. Sizes as arguments: `1000000`.
 * `million.ts` imports and reads a collection of such a size whole.
 */

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3)
const chosen = process.argv.slice(2).map(Number).filter(Boolean)
const sizes = chosen.length === 0 ? [1_000, 100_000] : chosen

const layout = { ...plainLayout, shardBy: "hash", shardDepth: 1 } as const
const derived = { indexes: { users: ["city"] }, manifests: { users: ["name"] } }
const ways: Readonly<Record<string, StoreOptions>> = {
  "without index": layout,
  "index and manifest, one file each": { ...layout, ...derived, format: 1 },
  "index and manifest, trees": { ...layout, ...derived, format: 2 }
}

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
      const file = documentPath("data", layout, "users", idOf(n))
      write(Buffer.from(`M 100644 inline ${file}\ndata ${Buffer.byteLength(text)}\n${text}\n`))
    }
  })

/** Runs a program on a store that is opened for it. */
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

const templates = new Map<string, string>()

/** A copy of a repository with so many documents, and with the indexes that the options name. */
const seeded = async (count: number, way: string) => {
  const key = `${count} ${way}`
  let template = templates.get(key)
  if (template === undefined) {
    template = freshPlace()
    templates.set(key, template)
    const directory = gitOf(template)
    execFileSync("git", ["init", "-q", "--bare", "--initial-branch=main", directory])
    await seed(directory, count)
    if (way !== "without index") await withStore(template, ways[way]!, (store) => store.reindex())
  }
  const place = freshPlace()
  fs.cpSync(template, place, { recursive: true })
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
    const times = way === "index and manifest, one file each" && count > 10_000 ? 5 : 100
    const millis = await withStore(place, {}, (store) =>
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

const postgres = (count: number) => {
  let open: Promise<PGlite> | undefined
  const prepared = async () => {
    const database = await PGlite.create(freshPlace())
    await database.exec(
      "create table users (id text primary key, city text, document jsonb); create index on users (city)"
    )
    for (let from = 0; from < count; from += 5_000) {
      const rows = Array.from({ length: Math.min(5_000, count - from) }, (_, at) => ({
        id: idOf(from + at),
        ...bodyOf(from + at, count)
      }))
      await database.query(
        "insert into users select r->>'id', r->>'city', r from jsonb_array_elements($1::jsonb) r",
        [JSON.stringify(rows)]
      )
    }
    return database
  }
  let next = count
  return {
    name: "PGlite on disk, a table with an index",
    measure: async () => {
      open ??= prepared()
      const database = await open
      const started = performance.now()
      for (let at = 0; at < 100; at++, next++) {
        const body = bodyOf(next, count)
        await database.query("insert into users values ($1, $2, $3)", [idOf(next), body.city, body])
      }
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
    peer: "index and manifest, one file each",
    unit: "ms",
    rounds,
    variants: [find("index and manifest, one file each"), find("index and manifest, trees")]
  }
}

const results: Array<Result> = []
for (const count of sizes) {
  results.push(
    await compare({
      title: `one document, one durable commit: ${count} documents, hash-sharded`,
      peer: "without index",
      unit: "µs/commit",
      rounds,
      variants: [...Object.keys(ways).map((way) => inserts(count, way)), postgres(count)]
    }),
    await compare(queries(count))
  )
}
report("Scale", results)
for (const [what, bytes] of written) console.log(`${what}: ${(bytes / 1000).toFixed(1)} kB a commit`)

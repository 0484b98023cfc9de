import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import pg from "pg"
import Cursor from "pg-cursor"
import { fromDbapi } from "../../src/store/transfer/FromDbapi.js"
import { fromSql } from "../../src/store/transfer/FromSql.js"
import { normaliseRecord } from "../../src/store/transfer/Normalise.js"

const versions = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql").sort() : []
const binaries = versions.length === 0 ? undefined : `/usr/lib/postgresql/${versions.at(-1)}/bin`
const isRoot = process.getuid?.() === 0
const hasUser = (() => {
  try {
    execFileSync("id", ["postgres"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()
const canRun = binaries !== undefined && existsSync(`${binaries}/initdb`) && (!isRoot || hasUser)

/** PostgreSQL refuses to run as root. */
const asServer = (program: string, ...rest: ReadonlyArray<string>): [string, Array<string>] =>
  isRoot
    ? [
        "setpriv",
        ["--reuid=postgres", "--regid=postgres", "--clear-groups", `${binaries}/${program}`, ...rest]
      ]
    : [`${binaries}/${program}`, [...rest]]

/** A server of its own in a new directory, reached by its unix socket only. */
const server = Effect.acquireRelease(
  Effect.promise(async () => {
    const directory = mkdtempSync("/tmp/chainstore-pg-")
    if (isRoot) execFileSync("chown", ["postgres:postgres", directory])
    const data = join(directory, "data")
    execFileSync(...asServer("initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync"), {
      stdio: "ignore",
      cwd: "/"
    })
    const child = spawn(
      ...asServer("postgres", "-D", data, "-k", directory, "-c", "listen_addresses=", "-F"),
      { stdio: ["ignore", "ignore", "pipe"], cwd: "/" }
    )
    await new Promise<void>((resolve, reject) => {
      let log = ""
      child.stderr.on("data", (text) => {
        log += text
        if (log.includes("ready to accept connections")) resolve()
      })
      child.on("exit", () => reject(new Error(log)))
    })
    return { directory, child }
  }),
  ({ child, directory }) =>
    Effect.promise(async () => {
      const ended = new Promise((resolve) => child.once("exit", resolve))
      child.kill("SIGINT")
      await ended
      rmSync(directory, { recursive: true, force: true })
    })
)

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

describe.skipIf(!canRun)("PostgreSQL's own server", () => {
  it.scopedLive("is read by query and by cursor", () =>
    Effect.gen(function* () {
      const { directory } = yield* server
      const client = new pg.Client({ host: directory, user: "postgres", database: "postgres" })
      yield* Effect.acquireRelease(
        Effect.promise(() => client.connect()),
        () => Effect.promise(() => client.end())
      )
      yield* Effect.promise(() =>
        client.query(
          "create table t as select n::int8 as id, n / 4.0 as amount, now() as at, jsonb_build_object('n', n) as doc, gen_random_uuid() as key from generate_series(1, 1200) n"
        )
      )
      const first = yield* Stream.runCollect(
        Stream.map(
          fromSql(client, "select id, amount, doc, id from t where id <= $1 order by 1", [2]),
          normaliseRecord
        )
      )
      assert.deepStrictEqual(plain(Chunk.toReadonlyArray(first)), [
        { id: "1", amount: "0.25000000000000000000", doc: { n: 1 }, id_4: "1" },
        { id: "2", amount: "0.50000000000000000000", doc: { n: 2 }, id_4: "2" }
      ])
      const cursor = client.query(new Cursor("select * from t order by id"))
      const all = Chunk.toReadonlyArray(
        yield* Stream.runCollect(Stream.map(fromDbapi(cursor), normaliseRecord))
      )
      assert.strictEqual(all.length, 1200)
      assert.match(String(all[0]!["key"]), /^[0-9a-f]{8}-[0-9a-f]{4}-/)
      assert.match(String(all[0]!["at"]), /^\d{4}-.*Z$/)
    })
  )
})

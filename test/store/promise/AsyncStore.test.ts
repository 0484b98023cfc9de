import { execFileSync } from "node:child_process"
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readXlsx } from "hucre/xlsx"
import { openLocal } from "../../../src/store/local/index.js"
import {
  type AsyncStore,
  ConflictError,
  DestinationError,
  fromCsv,
  fromNdjson,
  fromRecords,
  NotFoundError,
  type OpenStoreOptions,
  openStore,
  StoreError,
  ValidationError,
  writeXlsx
} from "../../../src/store/promise/index.js"
import { newRepository } from "../../support/github/OnHost.js"
import { thisHost, ways } from "../core/Remotes.js"
import { rejected } from "./SharedRepository.js"

/** A store, and the bare repository under it. */
interface Opened {
  readonly store: AsyncStore
  readonly repository: string
}

const settings = { indexes: { products: ["category"] } }

const locally = async (directory: string): Promise<Opened> => ({
  store: await openLocal({ ...settings, directory, repo: "me/data", durability: "none" }),
  repository: join(directory, "me/data.git")
})

const onHost = (options: Partial<OpenStoreOptions>) => async (): Promise<Opened> => {
  const { directory, repo, server } = await Effect.runPromise(Effect.provide(newRepository, thisHost))
  const { api, raw, token } = server
  return {
    store: await openStore({ ...settings, ...options, repo, apiUrl: api, rawUrl: raw, token }),
    repository: directory
  }
}

const places: ReadonlyArray<readonly [string, (directory: string) => Promise<Opened>]> = [
  ["LocalGit", locally],
  ...ways.map(([way, options]) => [`GitHub's client on our own host, ${way}`, onHost(options)] as const)
]

describe.each(places)("AsyncStore on %s", (place, open) => {
  let directory: string
  let repository: string
  let store: AsyncStore
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "chainstore-promise-"))
    ;({ repository, store } = await open(directory))
  })
  afterEach(async () => {
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  })

  it("does what the Effect face does, with null for what is absent and the store's own errors", async () => {
    const products = store.collection("products")
    const id = await products.insert({ name: "Tea", category: "drink" })
    assert.match(id, /^[0-9A-Z]{26}$/)
    await products.insert({ name: "Cake", category: "food" }, { id: "cake" })
    assert.strictEqual((await products.update("cake", { name: "Pie" }))._rev, 2)
    assert.strictEqual((await products.get("cake"))?.["name"], "Pie")
    assert.isNull(await products.get("nothing"))
    assert.match(store.repository, /^[\w-]+\/[\w-]+$/)
    const version = await products.version("cake")
    assert.deepStrictEqual(
      [version?.document["name"], version?.rev, version?.commit],
      ["Pie", 2, await store.commitSha()]
    )
    const blob = ["rev-parse", "main:data/products/cake.json"]
    assert.strictEqual(
      version?.sha,
      execFileSync("git", ["-C", repository, ...blob], { encoding: "utf8" }).trim()
    )
    assert.isNull(await products.version("nothing"))
    const back = await store.at("main~1")
    assert.strictEqual((await back.collection("products").version("cake"))?.rev, 1)
    const taken = await store.collection("taken").importRecords(fromRecords([{ _id: "a" }]))
    assert.strictEqual(taken.inserted, 1)
    assert.isTrue(await products.exists("cake"))
    assert.deepStrictEqual(
      (await products.findBy("category", "drink")).map((document) => document._id),
      [id]
    )
    assert.strictEqual((await products.explain("category", "drink")).source, "index")
    assert.strictEqual(await products.count(), 2)
    assert.deepStrictEqual(await store.collections(), ["products", "taken"])
    assert.deepStrictEqual(
      (await store.indexes()).map(({ collection, current, name }) => [collection, name, current]),
      [["products", "category", true]]
    )

    const conflict = await rejected(products.insert({}, { id: "cake" }))
    assert.instanceOf(conflict, ConflictError)
    assert.isTrue(conflict instanceof StoreError)
    assert.instanceOf(await rejected(products.delete("nothing")), NotFoundError)
    assert.instanceOf(await rejected(products.replace("cake", {}, { expectedRev: 9 })), ConflictError)
    assert.instanceOf(await rejected(products.insert({ n: Number.NaN })), ValidationError)

    const [newest] = await products.history("cake", { limit: 1 })
    const before = await store.at(newest!.sha)
    await products.delete("cake")
    assert.isNull(await products.get("cake"))
    assert.strictEqual((await before.collection("products").get("cake"))?.["name"], "Pie")
    assert.strictEqual((await products.restore("cake", newest!.sha))["name"], "Pie")
    assert.include(await store.resolveRef("main"), "")
    assert.isNull(await store.resolveRef("nowhere"))
    const budgets = await store.rateLimit()
    assert.deepStrictEqual(
      budgets.map(({ resource }) => resource),
      place === "LocalGit" ? [] : ["core", "graphql"]
    )
    assert.isTrue((await store.doctor()).every((finding) => finding.severity === "ok"))
  })

  it("iterates with for await, and a loop that is left ends the reading", async () => {
    const things = store.collection("things")
    await things.importRecords(
      Array.from({ length: 300 }, (_, n) => ({ _id: `t${String(n).padStart(3, "0")}`, n }))
    )
    const seen: Array<unknown> = []
    for await (const document of things.all()) {
      seen.push(document["n"])
      if (seen.length === 5) break
    }
    assert.deepStrictEqual(seen, [0, 1, 2, 3, 4])
    let odd = 0
    for await (const _ of things.find((document) => Number(document["n"]) % 2 === 1)) odd++
    assert.strictEqual(odd, 150)
    const sizes: Array<number> = []
    for await (const page of things.pages({ size: 120 })) sizes.push(page.documents.length)
    assert.deepStrictEqual(sizes, [120, 120, 60])
    assert.instanceOf(await rejected(things.page({ limit: 0 })), ValidationError)
  })

  it("batches, writes and transacts as brackets; what a body throws reaches the caller and nothing is written", async () => {
    const { commitSha, result } = await store.batch(async (batch) => {
      await batch.put("a", "x", { n: 1 })
      await batch.put("a", "y", { n: 2 })
      assert.strictEqual(await batch.operations(), 2)
      return "done"
    })
    assert.strictEqual(result, "done")
    assert.match(commitSha ?? "", /^[0-9a-f]{40}$/)
    const mine = new Error("mine")
    assert.strictEqual(
      await rejected(
        store.batch(async (batch) => {
          await batch.put("a", "z", {})
          throw mine
        })
      ),
      mine
    )
    assert.isNull(await store.collection("a").get("z"))
    const written = await store.writer(
      async (writer) => {
        for (let n = 0; n < 7; n++) await writer.put("w", `d${n}`, { n })
      },
      { maxOperations: 3 }
    )
    assert.strictEqual(written.commits.length, 3)
    const moved = await store.transaction(async (transaction) => {
      await transaction.collection("a").update("x", { n: 5 })
      await transaction.batch((batch) => batch.put("a", "t", {}))
      assert.strictEqual((await store.collection("a").get("x"))?.["n"], 1)
      return (await transaction.collection("a").get("x"))?.["n"]
    })
    assert.strictEqual(moved.result, 5)
    assert.strictEqual((await store.collection("a").get("x"))?.["n"], 5)
    assert.strictEqual(await rejected(store.transaction(() => Promise.reject(mine))), mine)
    assert.deepStrictEqual(await store.staleTransactions(), [])
  })

  it("batches, writes and transacts by hand", async () => {
    {
      await using batch = await store.openBatch({ message: "by hand" })
      await batch.insert("a", { n: 1 }, { id: "kept" })
      assert.isNotNull(await batch.commit())
      await batch.put("a", "discarded", {})
    }
    assert.deepStrictEqual(await store.collection("a").list(), ["kept"])
    {
      await using writer = await store.openWriter()
      await writer.put("a", "written", {})
      assert.strictEqual(await writer.pending(), 1)
    }
    assert.isNotNull(await store.collection("a").get("written"))
    {
      await using transaction = await store.openTransaction()
      await transaction.collection("a").delete("kept")
    }
    assert.isNotNull(await store.collection("a").get("kept"))
    const transaction = await store.openTransaction()
    await transaction.collection("a").delete("kept")
    assert.isNotNull(await transaction.commit())
    assert.isNull(await store.collection("a").get("kept"))
    assert.strictEqual(
      execFileSync("git", ["-C", repository, "branch", "--list"], {
        encoding: "utf8"
      }).trim(),
      "* main"
    )
  })

  it("is closed with what is open: writers are flushed, transactions leave no branch", async () => {
    const writer = await store.openWriter({ maxSeconds: 3600 })
    await writer.put("a", "written", { n: 1 })
    const transaction = await store.openTransaction()
    await transaction.collection("a").insert({ n: 2 }, { id: "rolled-back" })
    const batch = await store.openBatch()
    await batch.put("a", "discarded", { n: 3 })
    await store.close()
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-C", repository, ...args], { encoding: "utf8" }).trim()
    assert.strictEqual(git("branch", "--list"), "* main")
    assert.strictEqual(git("ls-tree", "-r", "--name-only", "main", "data/a"), "data/a/written.json")
    assert.include(((await rejected(store.collection("a").get("written"))) as Error).message, "closed")
  })

  it("is stopped by a signal: nothing is written, or the whole write is", async () => {
    const things = store.collection("things")
    const reason = new Error("enough")
    assert.strictEqual(await rejected(things.insert({}, { signal: AbortSignal.abort(reason) })), reason)
    const controller = new AbortController()
    const writing = rejected(
      store.batch(
        async (batch) => {
          await batch.put("things", "x", {})
          controller.abort(reason)
          await new Promise(() => {})
        },
        { signal: controller.signal }
      )
    )
    assert.strictEqual(await writing, reason)
    assert.deepStrictEqual(await things.list(), [])
    await things.importRecords([{ _id: "a" }, { _id: "b" }])
    const reading = new AbortController()
    const seen: Array<string> = []
    const loop = async () => {
      for await (const document of things.all({ signal: reading.signal })) {
        seen.push(document._id)
        reading.abort(reason)
      }
    }
    assert.strictEqual(await rejected(loop()), reason)
    assert.deepStrictEqual(seen, ["a"])
  })

  it("is stopped in the middle of a write: when the promise rejects, what became of it is settled", async () => {
    const things = store.collection("products")
    await things.insert({ category: "a" }, { id: "seed" })
    const reason = new Error("enough")
    const written: Array<string> = []
    for (let millis = 0; millis < 12; millis += 1.5) {
      const id = `at-${millis}`
      const controller = new AbortController()
      setTimeout(() => controller.abort(reason), millis)
      const outcome = await things.insert({ category: "a" }, { id, signal: controller.signal }).then(
        () => true,
        (error) => {
          assert.strictEqual(error, reason)
          return false
        }
      )
      const there = await things.exists(id)
      if (outcome) assert.isTrue(there)
      if (there) written.push(id)
    }
    await store.invalidate()
    assert.deepStrictEqual(await things.list(), [...written, "seed"].sort())
    const found = await things.findBy("category", "a")
    assert.deepStrictEqual(
      found.map(({ _id, _rev }) => [_id, _rev]),
      [...written, "seed"].sort().map((id) => [id, 1])
    )
    assert.strictEqual((await things.explain("category", "a")).source, "index")
  })

  it("reports the progress of imports and exports to plain functions; their exceptions end the call", async () => {
    const things = store.collection("things")
    const told: Array<number> = []
    const rows: Array<string> = []
    await things.importRecords([{ _id: "a" }, { _id: "b" }, { _id: "c" }], {
      chunkSize: 2,
      onProgress: async ({ records }) => void told.push(records),
      onRow: ({ id }) => void rows.push(id ?? "")
    })
    assert.deepStrictEqual(told, [0, 2, 3])
    assert.deepStrictEqual(rows, ["a", "b", "c"])
    let exported = 0
    await things.exportText(join(directory, "things.json"), "json", {
      onProgress: ({ documents }) => {
        exported = documents
      }
    })
    assert.strictEqual(exported, 3)
    const mine = new Error("mine")
    assert.strictEqual(
      await rejected(things.importRecords([{ _id: "d" }], { onProgress: () => Promise.reject(mine) })),
      mine
    )
    assert.isFalse(await things.exists("d"))
  })

  it("imports files without an Effect import", async () => {
    const file = join(directory, "in.csv")
    writeFileSync(file, "sku,price\nt1,3.5\nb2,4\n")
    const things = store.collection("things")
    const records = fromCsv(createReadStream(file), { cells: "json" })
    const report = await things.importRecords(records, { idField: "sku" })
    assert.strictEqual(report.inserted, 2)
    assert.strictEqual((await things.get("t1"))?.["price"], 3.5)
    const missing = fromNdjson(createReadStream(join(directory, "none")))
    assert.strictEqual(((await rejected(things.importRecords(missing))) as StoreError)._tag, "SourceError")
  })

  it("exports to files and streams", async () => {
    await store.collection("things").importRecords([{ _id: "a", n: 1 }])
    const file = join(directory, "things.xlsx")
    assert.deepStrictEqual(await store.collection("things").exportExcel(file), [
      "_id",
      "_rev",
      "_created_at",
      "_updated_at",
      "n"
    ])
    assert.strictEqual(readFileSync(file).subarray(0, 2).toString(), "PK")
    assert.deepStrictEqual(Object.keys(await store.exportExcel(file)), ["things"])
    assert.strictEqual(
      await store.collection("things").exportText(join(directory, "things.csv"), "csv", { columns: ["n"] }),
      1
    )
    assert.strictEqual(readFileSync(join(directory, "things.csv"), "utf8"), "n\r\n1\r\n")
  })
})

describe("what needs no place", () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "chainstore-promise-"))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it("writes any documents as a workbook", async () => {
    const file = join(directory, "any.xlsx")
    assert.deepStrictEqual(await writeXlsx(file, [{ b: 1, _id: "x" }], { sheetName: "Any" }), ["_id", "b"])
    async function* rows() {
      for (let n = 0; n < 2_500; n++) yield { n }
    }
    assert.deepStrictEqual(await writeXlsx(file, rows(), { columns: ["n"] }), ["n"])
    const book = await readXlsx(readFileSync(file))
    assert.deepStrictEqual(book.sheets[0]!.rows.at(-1), [2499])
    const before = readFileSync(file)
    const spent = await rejected(writeXlsx(file, rows()))
    assert.instanceOf(spent, ValidationError)
    assert.include((spent as StoreError).hint, "pass the columns")
    assert.deepStrictEqual(readFileSync(file), before)
    const reason = new Error("enough")
    assert.strictEqual(await rejected(writeXlsx(file, rows(), { signal: AbortSignal.abort(reason) })), reason)
    assert.instanceOf(await rejected(writeXlsx("/nowhere/x.xlsx", [])), DestinationError)
  })

  it("opens many kinds of places, and closes twice", async () => {
    assert.instanceOf(await rejected(openLocal({ directory, repo: "no slash" })), ValidationError)
    assert.instanceOf(
      await rejected(openStore({ repo: "a/b", apiUrl: "http://example.org" })),
      ValidationError
    )
    const calls: Array<string> = []
    const github = await openStore({
      repo: "a/b",
      token: "secret",
      maxRetries: 0,
      fetch: async (url) => {
        calls.push(String(url))
        return new Response(JSON.stringify({ message: "Bad credentials", status: "401" }), { status: 401 })
      }
    })
    const denied = await rejected(github.collection("c").get("x"))
    assert.strictEqual((denied as StoreError)._tag, "AuthError")
    assert.notInclude(JSON.stringify(denied) + String(denied), "secret")
    assert.isAbove(calls.length, 0)
    await github.close()
    await github.close()
  })
})

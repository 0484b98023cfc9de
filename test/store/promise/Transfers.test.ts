import { execFileSync } from "node:child_process"
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import {
  type AsyncStore,
  DestinationError,
  SourceError,
  type StoreError,
  ValidationError,
  writeXlsx
} from "../../../src/store/promise/index.js"
import { bundled } from "../../support/bundled.js"
import { rejected, repository } from "./SharedRepository.js"

/** Streams that break, each in its way. */
const broken = () => {
  const full = () => {
    throw new Error("full")
  }
  const locked = new WritableStream<Uint8Array>()
  locked.getWriter()
  return [
    new WritableStream<Uint8Array>({ write: full }),
    new WritableStream<Uint8Array>({ close: full }),
    locked
  ]
}

describe("what goes in and out as promises", () => {
  let store: AsyncStore
  let directory: string
  const unhandled: Array<unknown> = []
  const listen = (reason: unknown) => void unhandled.push(reason)
  beforeEach(async () => {
    unhandled.length = 0
    process.on("unhandledRejection", listen)
    directory = mkdtempSync(join(tmpdir(), "chainstore-transfers-"))
    store = await repository().open()
    await store.collection("a").insert({ n: 1 })
  })
  afterEach(async () => {
    await store.close()
    rmSync(directory, { recursive: true, force: true })
    await new Promise((resolve) => setImmediate(resolve))
    process.off("unhandledRejection", listen)
    assert.deepStrictEqual(unhandled, [])
  })

  it("replaces the file behind a symbolic link, keeps its mode, and appends to a pipe", async () => {
    const [file, link, pipe] = ["a.ndjson", "link.ndjson", "pipe"].map((name) => join(directory, name))
    writeFileSync(file!, "old")
    chmodSync(file!, 0o640)
    symlinkSync(file!, link!)
    const a = store.collection("a")
    const modes: Array<number> = []
    const onProgress = () => {
      const names = readdirSync(directory).filter((name) => name.endsWith(".partial"))
      modes.push(...names.map((name) => statSync(join(directory, name)).mode & 0o777))
    }
    assert.strictEqual(await a.exportText(link!, "ndjson", { onProgress }), 1)
    assert.deepStrictEqual(modes, [0o640])
    assert.strictEqual(JSON.parse(readFileSync(file!, "utf8")).n, 1)
    assert.isTrue(lstatSync(link!).isSymbolicLink())
    assert.strictEqual(statSync(file!).mode & 0o777, 0o640)
    execFileSync("mkfifo", [pipe!])
    const [, read] = await Promise.all([a.exportText(pipe!, "ndjson"), readFile(pipe!, "utf8")])
    assert.strictEqual(JSON.parse(read).n, 1)
    assert.deepStrictEqual(readdirSync(directory).sort(), ["a.ndjson", "link.ndjson", "pipe"])
  })

  it("finds the file system also where a program is one file, without any package", () => {
    const file = join(directory, "one.xlsx")
    execFileSync(process.execPath, [bundled(new URL("./exporting.ts", import.meta.url)), file])
    assert.strictEqual(readFileSync(file).subarray(0, 2).toString(), "PK")
  })

  it("reports a failing destination as a DestinationError", async () => {
    const a = store.collection("a")
    for (const stream of broken())
      assert.instanceOf(await rejected(a.exportText(stream, "csv")), DestinationError)
    for (const stream of broken()) assert.instanceOf(await rejected(a.exportExcel(stream)), DestinationError)
    for (const stream of broken())
      assert.instanceOf(await rejected(store.exportExcel(stream)), DestinationError)
    for (const stream of broken())
      assert.instanceOf(await rejected(writeXlsx(stream, [{}])), DestinationError)
    const nowhere = join(directory, "no/such.xlsx")
    assert.instanceOf(await rejected(a.exportExcel(nowhere)), DestinationError)
    assert.instanceOf(await rejected(writeXlsx(nowhere, [{}])), DestinationError)
  })

  it("reports a failing source as a SourceError, and keeps the chunks before", async () => {
    const cut = new Error("cut")
    async function* failing() {
      for (let n = 0; n < 25; n++) yield { _id: `b${n}` }
      throw cut
    }
    const error = await rejected(store.collection("b").importRecords(failing(), { chunkSize: 10 }))
    assert.instanceOf(error, SourceError)
    assert.strictEqual((error as SourceError).cause, cut)
    assert.isAtLeast(await store.collection("b").count(), 20)
    const written = await rejected(writeXlsx(join(directory, "x.xlsx"), failing()))
    assert.instanceOf(written, SourceError)
  })

  it("refuses a record with an unreadable field, by its row", async () => {
    const lazy = {
      get x() {
        throw new Error("lazy loading failed")
      }
    }
    const error = (await rejected(store.collection("b").importRecords([{ n: 1 }, lazy]))) as StoreError
    assert.instanceOf(error, ValidationError)
    assert.include(error.message, "row 2")
    assert.isFalse(await store.collection("b").exists("x"))
  })

  it("ends with what a callback throws", async () => {
    const mine = new Error("mine")
    const stop = () => {
      throw mine
    }
    const a = store.collection("a")
    assert.strictEqual(await rejected(a.importRecords([{ _id: "x" }], { onRow: stop })), mine)
    assert.strictEqual(
      await rejected(a.exportText(join(directory, "a.csv"), "csv", { onProgress: stop })),
      mine
    )
    assert.strictEqual(
      await rejected(store.exportExcel(join(directory, "a.xlsx"), { onProgress: stop })),
      mine
    )
  })
})

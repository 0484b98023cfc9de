import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { strFromU8, unzipSync } from "fflate"
import { openLocal } from "../../../src/store/local/index.js"
import {
  type AsyncStore,
  fromCsv,
  fromJson,
  fromNdjson,
  StoreError,
  ValidationError,
  writeXlsx
} from "../../../src/store/promise/index.js"
import type { ImportReport } from "../../../src/store/transfer/Import.js"

const outcome = async <A>(promise: Promise<A>): Promise<A | unknown> =>
  promise.catch((error: unknown) => error)
const bytes = (text: string) => new TextEncoder().encode(text)

describe("import and export by plain JavaScript", () => {
  let directory: string
  let store: AsyncStore
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "chainstore-review-"))
    store = await openLocal({ directory, repo: "me/data", durability: "none" })
  })
  afterEach(async () => {
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const sheet = (file: string) => strFromU8(unzipSync(readFileSync(file))["xl/worksheets/sheet1.xml"]!)

  it.each([
    [
      "a Date",
      { at: new Date("2026-01-02T03:04:05Z") },
      /<c r="A2"[^>]*(s="\d+"[^>]*><v>46024\.\d+|.*2026-01-02)/
    ],
    ["a bigint", { n: 12n }, /12/],
    ["a field that is undefined", { a: 1, b: undefined }, /<c r="A2"><v>1</],
    ["a Map", { m: new Map([["k", 1]]) }, /k": 1/]
  ])("writeXlsx normalises %s", async (_, document, expected) => {
    const file = join(directory, "a.xlsx")
    const result = await outcome(writeXlsx(file, [document]))
    assert.isFalse(result instanceof Error, String(result))
    assert.match(sheet(file), expected)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])("writeXlsx of %s makes no broken workbook", async (n) => {
    const file = join(directory, "a.xlsx")
    await writeXlsx(file, [{ n }])
    assert.notMatch(sheet(file), /<v>(NaN|-?Infinity)<\/v>/)
  })

  it.each([
    ["a Buffer", (file: string) => readFileSync(file)],
    ["text", (file: string) => readFileSync(file, "utf8")],
    ["a stream of text", (file: string) => createReadStream(file, "utf8")]
  ])("fromNdjson over %s works, or is refused in words", async (_, read) => {
    const file = join(directory, "a.ndjson")
    writeFileSync(file, '{"_id":"a"}\n')
    const result = await outcome(
      (async () => store.collection("a").importRecords(fromNdjson(read(file) as never)))()
    )
    assert.isTrue(result instanceof StoreError || (result as ImportReport).records === 1, String(result))
  })

  it("a fetch body works where ReadableStream cannot be iterated, as in Safari", async () => {
    const body = new Response('{"_id":"a"}\n').body!
    const prototype = ReadableStream.prototype as Partial<ReadableStream>
    const saved = Object.getOwnPropertyDescriptor(prototype, Symbol.asyncIterator)!
    delete prototype[Symbol.asyncIterator]
    try {
      const result = await outcome((async () => store.collection("a").importRecords(fromNdjson(body)))())
      assert.isFalse(result instanceof Error, String(result))
    } finally {
      Object.defineProperty(prototype, Symbol.asyncIterator, saved)
    }
  })

  it.each([
    ["nothing", undefined],
    ["a promise that was not awaited", Promise.resolve([])],
    ["one object", { _id: "a" }]
  ])("importRecords of %s is a typed error", async (_, records) => {
    const result = await outcome(store.collection("a").importRecords(records as never))
    assert.isTrue(result instanceof StoreError, String(result))
  })

  it("exportText in a format that there is not is refused", async () => {
    const result = await outcome(store.collection("a").exportText(join(directory, "a.tsv"), "tsv" as never))
    assert.isTrue(result instanceof StoreError, JSON.stringify(result))
  })

  it("a document that came with 1e400 is exported neither as null nor as a broken cell", async () => {
    const records = fromJson([bytes('[{"_id":"a","n":1e400}]')])
    const result = await outcome(store.collection("a").importRecords(records))
    assert.isTrue(result instanceof StoreError)
  })

  it("CSV whose rows are of blanks and delimiters keeps its row numbers", async () => {
    const result = (await outcome(
      store.collection("a").importRecords(fromCsv([bytes("_id,n\na,1\n,\nb/c,2\n")]))
    )) as StoreError
    // The second row is empty and gets a generated id, or is counted: the bad one is the third.
    assert.include(result.message, "row 3", result.message)
  })

  it("lone surrogates and __proto__ survive a round trip through NDJSON and CSV", async () => {
    const document = JSON.parse('{"__proto__":{"x":1},"constructor":"c","a":"\\ud800"}')
    const result = await outcome(store.collection("a").insert(document, { id: "a" }))
    if (result instanceof Error) return
    await store.collection("a").exportText(join(directory, "a.ndjson"), "ndjson")
    await store.collection("b").importRecords(fromNdjson(createReadStream(join(directory, "a.ndjson"))))
    const [left, right] = [await store.collection("a").get("a"), await store.collection("b").get("a")]
    for (const key of ["__proto__", "constructor", "a"]) {
      assert.deepStrictEqual(
        JSON.stringify(Object.getOwnPropertyDescriptor(right, key)?.value),
        JSON.stringify(Object.getOwnPropertyDescriptor(left, key)?.value)
      )
    }
  })

  it.each(["", '"', "\n"])("%j as a delimiter is refused", async (delimiter) => {
    const result = await outcome(store.collection("a").importRecords(fromCsv("_id,n\na,1\n", { delimiter })))
    assert.instanceOf(result, ValidationError)
  })

  it("an export whose source fails half-way leaves no file, and what was there stays", async () => {
    await store.collection("a").importRecords(Array.from({ length: 300 }, (_, n) => ({ _id: `r${n}`, n })))
    const file = join(directory, "a.csv")
    writeFileSync(file, "before")
    const result = await outcome(
      store.collection("a").exportText(file, "csv", {
        onProgress: ({ documents }) => {
          if (documents > 100) throw new Error("stop")
        }
      })
    )
    assert.strictEqual((result as Error).message, "stop")
    assert.strictEqual(readFileSync(file, "utf8"), "before")
  })
})

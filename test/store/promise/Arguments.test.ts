import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough, Writable } from "node:stream"
import { inspect } from "node:util"
import { FileSystem } from "@effect/platform"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Schema, Sink, Stream } from "effect"
import type { Batch } from "../../../src/store/Batch.js"
import {
  type AsyncStore,
  fromCsv,
  fromDbapi,
  openStore,
  StoreError,
  ValidationError,
  writeXlsx
} from "../../../src/store/promise/index.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import { Store } from "../../../src/store/Store.js"
import { outcome, rejected, repository } from "./SharedRepository.js"

/** What plain JavaScript may pass for anything. */
const anything: ReadonlyArray<unknown> = [
  undefined,
  null,
  5,
  Number.NaN,
  -1,
  10n,
  true,
  "",
  "x",
  "a\u0000b",
  {},
  [5],
  { a: 5 },
  Object.create(null),
  () => {},
  Symbol("s"),
  Promise.resolve(5)
]

const drain = async (elements: AsyncIterable<unknown>) => {
  for await (const _ of elements);
}

type Calls = { readonly [name: string]: (wrong: never) => unknown }

describe("arguments of plain JavaScript", () => {
  let store: AsyncStore
  let directory: string
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "chainstore-arguments-"))
    store = await repository().open()
    await store.collection("a").insert({ n: 1 }, { id: "x" })
  })
  afterEach(async () => {
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const readerCalls = (): Calls => {
    const a = store.collection("a")
    const file = join(directory, "out")
    return {
      "collection(_).list": (wrong) => store.collection(wrong as string).list(),
      "collection(a, _).get": (wrong) => store.collection("a", wrong as undefined).get("x"),
      "collection(a, _).all": (wrong) => drain(store.collection("a", wrong as undefined).all()),
      "get(_)": (wrong) => a.get(wrong),
      "get(x, _)": (wrong) => a.get("x", wrong),
      "get(x, { signal: _ })": (wrong) => a.get("x", { signal: wrong }),
      "get(x, { fresh: _ })": (wrong) => a.get("x", { fresh: wrong }),
      "exists(_)": (wrong) => a.exists(wrong),
      "list(_)": (wrong) => a.list(wrong),
      "list({ limit: _ })": (wrong) => a.list({ limit: wrong }),
      "list({ after: _ })": (wrong) => a.list({ after: wrong }),
      "count(_)": (wrong) => a.count(wrong),
      "all(_)": (wrong) => drain(a.all(wrong)),
      "all({ signal: _ })": (wrong) => drain(a.all({ signal: wrong })),
      "all({ limit: _ })": (wrong) => drain(a.all({ limit: wrong })),
      "all({ onInvalid: _ })": (wrong) => drain(a.all({ onInvalid: wrong })),
      "find(_)": (wrong) => drain(a.find(wrong)),
      "find(f, _)": (wrong) => drain(a.find(() => true, wrong)),
      "find(f, { limit: _ })": (wrong) => drain(a.find(() => true, { limit: wrong })),
      "findBy(_)": (wrong) => a.findBy(wrong, 1),
      "findBy(n, _)": (wrong) => a.findBy("n", wrong),
      "findBy(n, 1, _)": (wrong) => a.findBy("n", 1, wrong),
      "findBy(n, 1, { limit: _ })": (wrong) => a.findBy("n", 1, { limit: wrong }),
      "page(_)": (wrong) => a.page(wrong),
      "page({ limit: _ })": (wrong) => a.page({ limit: wrong }),
      "pages(_)": (wrong) => drain(a.pages(wrong)),
      "pages({ size: _ })": (wrong) => drain(a.pages({ size: wrong })),
      "history(_)": (wrong) => a.history(wrong),
      "history(x, _)": (wrong) => a.history("x", wrong),
      "history(x, { limit: _ })": (wrong) => a.history("x", { limit: wrong }),
      "explain(_)": (wrong) => a.explain(wrong, 1),
      "query(_)": (wrong) => a.query(wrong),
      "query({ where: _ })": (wrong) => a.query({ where: wrong }),
      "query({ where: { n: _ } })": (wrong) => a.query({ where: { n: wrong } }),
      "query({ where: { n: { in: _ } } })": (wrong) => a.query({ where: { n: { in: wrong } } }),
      "query({ where: { n: { atLeast: _ } } })": (wrong) => a.query({ where: { n: { atLeast: wrong } } }),
      "query({ where: { or: _ } })": (wrong) => a.query({ where: { or: wrong } }),
      "query({ orderBy: _ })": (wrong) => a.query({ orderBy: wrong }),
      "query({ orderBy: [{ field: n, order: _ }] })": (wrong) =>
        a.query({ orderBy: [{ field: "n", order: wrong }] }),
      "query({ limit: _ })": (wrong) => a.query({ limit: wrong }),
      "query({ cursor: _ })": (wrong) => a.query({ cursor: wrong }),
      "query({ select: _ })": (wrong) => a.query({ select: wrong }),
      "query({ onInvalid: _ })": (wrong) => a.query({ onInvalid: wrong }),
      "queryAll(_)": (wrong) => drain(a.queryAll(wrong)),
      "queryAll({ where: _ })": (wrong) => drain(a.queryAll({ where: wrong })),
      "explainQuery(_)": (wrong) => a.explainQuery(wrong),
      "explainQuery({}, { run: _ })": (wrong) => a.explainQuery({}, { run: wrong }),
      "countWhere(_)": (wrong) => a.countWhere(wrong),
      "distinct(_)": (wrong) => a.distinct(wrong),
      "explain(n, _)": (wrong) => a.explain("n", wrong),
      "exportExcel(file, _)": (wrong) => a.exportExcel(file, wrong),
      "exportExcel(file, { columns: _ })": (wrong) => a.exportExcel(file, { columns: wrong }),
      "exportExcel(file, { sheetName: _ })": (wrong) => a.exportExcel(file, { sheetName: wrong }),
      "exportExcel(file, { limit: _ })": (wrong) => a.exportExcel(file, { limit: wrong }),
      "exportExcel(file, { onProgress: _ })": (wrong) => a.exportExcel(file, { onProgress: wrong }),
      "exportText(file, _)": (wrong) => a.exportText(file, wrong),
      "exportText(file, csv, _)": (wrong) => a.exportText(file, "csv", wrong),
      "exportText(file, csv, { columns: _ })": (wrong) => a.exportText(file, "csv", { columns: wrong }),
      "exportText(file, json, { columns: _ })": (wrong) => a.exportText(file, "json", { columns: wrong }),
      "exportText(file, csv, { delimiter: _ })": (wrong) => a.exportText(file, "csv", { delimiter: wrong }),
      "exportText(file, csv, { guardFormulas: _ })": (wrong) =>
        a.exportText(file, "csv", { guardFormulas: wrong }),
      "store.exportExcel(file, _)": (wrong) => store.exportExcel(file, wrong),
      "store.exportExcel(file, { columns: _ })": (wrong) => store.exportExcel(file, { columns: wrong }),
      "store.exportExcel(file, { columns: { a: _ } })": (wrong) =>
        store.exportExcel(file, { columns: { a: wrong } }),
      "store.exportExcel(file, { collections: _ })": (wrong) =>
        store.exportExcel(file, { collections: wrong }),
      "writeXlsx(file, _)": (wrong) => writeXlsx(file, wrong),
      "writeXlsx(file, [], _)": (wrong) => writeXlsx(file, [], wrong),
      "writeXlsx(file, [], { columns: _ })": (wrong) => writeXlsx(file, [], { columns: wrong }),
      "writeXlsx(file, [], { sheetName: _ })": (wrong) => writeXlsx(file, [], { sheetName: wrong }),
      "commitSha(_)": (wrong) => store.commitSha(wrong),
      "collections(_)": (wrong) => store.collections(wrong),
      "snapshot(_)": (wrong) => store.snapshot(wrong),
      "at(_)": (wrong) => store.at(wrong),
      "onBranch(_)": async (wrong) => (await store.onBranch(wrong)).collections(),
      "resolveRef(_)": (wrong) => store.resolveRef(wrong),
      "branches(_)": (wrong) => store.branches(wrong),
      "createBranch(_)": (wrong) => store.createBranch(wrong),
      "createBranch(new, _)": (wrong) => store.createBranch("new", wrong),
      "createBranch(new, { from: _ })": (wrong) => store.createBranch("new", { from: wrong }),
      "deleteBranch(_)": (wrong) => store.deleteBranch(wrong),
      "compare(_)": (wrong) => drain(store.compare(wrong, "main")),
      "compare(main, _)": (wrong) => drain(store.compare("main", wrong)),
      "compare(main, main, _)": (wrong) => drain(store.compare("main", "main", wrong)),
      "compare(main, main, { against: _ })": (wrong) =>
        drain(store.compare("main", "main", { against: wrong })),
      "merge(_)": (wrong) => store.merge(wrong),
      "merge(main, _)": (wrong) => store.merge("main", wrong),
      "merge(main, { into: _ })": (wrong) => store.merge("main", { into: wrong }),
      "merge(main, { onConflict: _ })": (wrong) => store.merge("main", { onConflict: wrong }),
      "merge(main, { rules: _ })": (wrong) => store.merge("main", { rules: wrong }),
      "merge(main, { collections: _ })": (wrong) => store.merge("main", { collections: wrong }),
      "merge(main, { author: _ })": (wrong) => store.merge("main", { author: wrong }),
      "merge(main, { fastForward: _ })": (wrong) => store.merge("main", { fastForward: wrong }),
      "merge(main, { dryRun: _ })": (wrong) => store.merge("main", { dryRun: wrong }),
      "propose(_)": (wrong) => store.propose(wrong, { title: "x" }),
      "propose(fn, _)": (wrong) => store.propose(() => {}, wrong),
      "propose(fn, { title: _ })": (wrong) => store.propose(() => {}, { title: wrong }),
      "propose(fn, { body: _ })": (wrong) => store.propose(() => {}, { title: "x", body: wrong }),
      "propose(fn, { into: _ })": (wrong) => store.propose(() => {}, { title: "x", into: wrong }),
      "propose(fn, { labels: _ })": (wrong) => store.propose(() => {}, { title: "x", labels: wrong }),
      "proposals(_)": (wrong) => store.proposals(wrong),
      "proposals({ state: _ })": (wrong) => store.proposals({ state: wrong }),
      "proposal(_)": (wrong) => store.proposal(wrong).get(),
      "proposal(x).accept(_)": (wrong) => store.proposal("x").accept(wrong),
      "proposal(x).accept({ commitSha: _ })": (wrong) => store.proposal("x").accept({ commitSha: wrong }),
      "proposal(x).update(_)": (wrong) => store.proposal("x").update(wrong),
      "merge(main, { message: _ })": (wrong) => store.merge("main", { message: wrong }),
      "invalidate(_)": (wrong) => store.invalidate(wrong),
      "estimate(_)": (wrong) => store.estimate(wrong),
      "rateLimit(_)": (wrong) => store.rateLimit(wrong),
      "doctor(_)": (wrong) => store.doctor(wrong),
      "doctorWith(_)": (wrong) => store.doctorWith(wrong),
      "openStore(_)": (wrong) => openStore(wrong),
      "openStore({ repo: _ })": (wrong) => openStore({ repo: wrong }),
      "openStore({ token: _ })": (wrong) => openStore({ repo: "a/b", token: wrong }),
      "openStore({ auth: _ })": (wrong) => openStore({ repo: "a/b", auth: wrong }),
      "openStore({ fetch: _ })": (wrong) => openStore({ repo: "a/b", fetch: wrong }),
      "openStore({ indexes: _ })": (wrong) => openStore({ repo: "a/b", indexes: wrong }),
      "openStore({ root: _ })": (wrong) => openStore({ repo: "a/b", root: wrong }),
      "openStore({ branch: _ })": (wrong) => openStore({ repo: "a/b", branch: wrong }),
      "openStore({ apiUrl: _ })": (wrong) => openStore({ repo: "a/b", apiUrl: wrong })
    }
  }

  const writerCalls = (): Calls => {
    const a = store.collection("a")
    return {
      "insert(_)": (wrong) => a.insert(wrong),
      "insert({}, _)": (wrong) => a.insert({}, wrong),
      "insert({}, { id: _ })": (wrong) => a.insert({}, { id: wrong }),
      "insert({}, { message: _ })": (wrong) => a.insert({}, { message: wrong }),
      "update(_)": (wrong) => a.update(wrong, {}),
      "update(x, _)": (wrong) => a.update("x", wrong),
      "update(x, {}, _)": (wrong) => a.update("x", {}, wrong),
      "update(x, {}, { base: _ })": (wrong) => a.update("x", {}, { base: wrong }),
      "replace(x, {}, { base: 1, onConflict: _ })": (wrong) =>
        a.replace("x", {}, { base: 1, onConflict: wrong }),
      "update(x, {}, { base: 1, rules: _ })": (wrong) => a.update("x", {}, { base: 1, rules: wrong }),
      "edit(_)": (wrong) => a.edit(wrong, (document) => document),
      "edit(x, _)": (wrong) => a.edit("x", wrong),
      "edit(x, f, _)": (wrong) => a.edit("x", (document) => document, wrong),
      "edit(x, f, { rules: _ })": (wrong) => a.edit("x", (document) => document, { rules: wrong }),
      "update(x, {}, { expectedRev: _ })": (wrong) => a.update("x", {}, { expectedRev: wrong }),
      "replace(x, _)": (wrong) => a.replace("x", wrong),
      "upsert(x, _)": (wrong) => a.upsert("x", wrong),
      "upsert(x, {}, { message: _ })": (wrong) => a.upsert("x", {}, { message: wrong }),
      "delete(_)": (wrong) => a.delete(wrong),
      "delete(none, _)": (wrong) => a.delete("none", wrong),
      "restore(_)": (wrong) => a.restore(wrong, "main"),
      "restore(x, _)": (wrong) => a.restore("x", wrong),
      "restore(x, main, _)": (wrong) => a.restore("x", "main", wrong),
      "restore(x, main, { expectedRev: _ })": (wrong) => a.restore("x", "main", { expectedRev: wrong }),
      "reindex(_)": (wrong) => a.reindex(wrong),
      "reindex({ onProgress: _ })": (wrong) => a.reindex({ onProgress: wrong }),
      "estimate(_)": (wrong) => a.estimate(wrong),
      "createIndex(n, _)": (wrong) => a.createIndex("n", wrong),
      "createIndex(n, { onProgress: _ })": (wrong) => a.createIndex("n", { onProgress: wrong }),
      "dropIndex(_)": (wrong) => a.dropIndex(wrong),
      "dropIndex(n, { message: _ })": (wrong) => a.dropIndex("n", { message: wrong }),
      "writeJsonSchema(_)": (wrong) => a.writeJsonSchema(wrong),
      "writeJsonSchema({ schema: _ })": (wrong) => a.writeJsonSchema({ schema: wrong }),
      "writeJsonSchema({ message: _ })": (wrong) =>
        a.writeJsonSchema({ schema: { type: "object" }, message: wrong }),
      "estimate({ documents: _ })": (wrong) => a.estimate({ documents: wrong }),
      "estimate({ indexes: _ })": (wrong) => a.estimate({ indexes: wrong }),
      "estimate({ manifest: _ })": (wrong) => a.estimate({ manifest: wrong }),
      "importRecords(_)": (wrong) => a.importRecords(wrong),
      "importRecords([], _)": (wrong) => a.importRecords([{}], wrong),
      "importRecords([], { idField: _ })": (wrong) => a.importRecords([{ n: 1 }], { idField: wrong }),
      "importRecords([], { chunkSize: _ })": (wrong) => a.importRecords([{ n: 1 }], { chunkSize: wrong }),
      "importRecords([], { onProgress: _ })": (wrong) => a.importRecords([{ n: 1 }], { onProgress: wrong }),
      "importRecords([], { onRow: _ })": (wrong) => a.importRecords([{ n: 1 }], { onRow: wrong }),
      "importRecords([], { message: _ })": (wrong) => a.importRecords([{ n: 1 }], { message: wrong }),
      "batch(_)": (wrong) => store.batch(wrong),
      "batch(f, _)": (wrong) => store.batch((batch) => batch.put("a", "b", {}), wrong),
      "batch(f, { message: _ })": (wrong) =>
        store.batch((batch) => batch.put("a", "b", { n: 1 }), { message: wrong }),
      "openBatch(_)": (wrong) => store.openBatch(wrong),
      "writer(_)": (wrong) => store.writer(wrong),
      "writer(f, _)": (wrong) => store.writer((writer) => writer.put("a", "b", {}), wrong),
      "writer(f, { maxOperations: _ })": (wrong) => store.writer(() => {}, { maxOperations: wrong }),
      "writer(f, { maxSeconds: _ })": (wrong) => store.writer(() => {}, { maxSeconds: wrong }),
      "writer(f, { message: _ })": (wrong) =>
        store.writer((writer) => writer.put("a", "b", { n: 2 }), { message: wrong }),
      "openWriter(_)": (wrong) => store.openWriter(wrong),
      "transaction(_)": (wrong) => store.transaction(wrong),
      "transaction(f, _)": (wrong) => store.transaction(() => {}, wrong),
      "transaction(f, { branch: _ })": (wrong) => store.transaction(() => {}, { branch: wrong }),
      "transaction(f, { message: _ })": (wrong) =>
        store.transaction((transaction) => transaction.collection("a").insert({}), { message: wrong }),
      "transaction.batch(_)": (wrong) => store.transaction((transaction) => transaction.batch(wrong)),
      "withTransaction(_)": (wrong) => store.withTransaction(wrong),
      "withTransaction(f, _)": (wrong) => store.withTransaction(() => {}, wrong),
      "withTransaction(f, { message: _ })": (wrong) =>
        store.withTransaction((inside) => inside.collection("a").insert({}), { message: wrong }),
      "openTransaction(_)": (wrong) => store.openTransaction(wrong),
      "preview(_)": (wrong) => store.preview(wrong),
      "store.reindex(_)": (wrong) => store.reindex(wrong),
      "store.reindex({ format: _ })": (wrong) => store.reindex({ format: wrong }),
      "revert(_)": (wrong) => store.revert(wrong),
      "revert(main, _)": (wrong) => store.revert("main", wrong),
      "removeTransaction(_)": (wrong) => store.removeTransaction(wrong),
      "put(_)": (wrong) => store.batch((batch) => batch.put<string>(wrong, "x", {})),
      "put(a, _)": (wrong) => store.batch((batch) => batch.put("a", wrong, {})),
      "put(a, x, _)": (wrong) => store.batch((batch) => batch.put("a", "y", wrong)),
      "batch.insert(a, {}, _)": (wrong) => store.batch((batch) => batch.insert("a", {}, wrong)),
      "expect(a, x, _)": (wrong) => store.batch((batch) => batch.expect("a", "x", wrong)),
      "expect(a, x, { rev: _ })": (wrong) => store.batch((batch) => batch.expect("a", "x", { rev: wrong })),
      "expect(a, x, { sha: _ })": (wrong) => store.batch((batch) => batch.expect("a", "x", { sha: wrong })),
      "writer.put(a, _)": (wrong) => store.writer((writer) => writer.put("a", wrong, {})),
      "writer.put(a, x, _)": (wrong) => store.writer((writer) => writer.put("a", "z", wrong)),
      "writer.insert(a, _)": (wrong) => store.writer((writer) => writer.insert("a", wrong)),
      "exportExcel(_)": (wrong) => a.exportExcel(inDirectory(directory, wrong)),
      "exportText(_)": (wrong) => a.exportText(inDirectory(directory, wrong), "csv"),
      "store.exportExcel(_)": (wrong) => store.exportExcel(inDirectory(directory, wrong)),
      "writeXlsx(_)": (wrong) => writeXlsx(inDirectory(directory, wrong), [])
    }
  }

  /** What rejects with another error than one of the store. */
  const foreign = async (calls: Calls) => {
    const found: Array<string> = []
    for (const [name, call] of Object.entries(calls)) {
      for (const wrong of anything) {
        const error = await outcome((async () => call(wrong as never))())
        if (error instanceof Error && !(error instanceof StoreError)) {
          found.push(`${name} with ${inspect(wrong)}: ${error.name} ${error.message}`)
        }
      }
    }
    return found
  }

  it("of reads are refused as the store's own errors", async () => {
    assert.deepStrictEqual(await foreign(readerCalls()), [])
  })

  it("of writes are refused as the store's own errors", async () => {
    assert.deepStrictEqual(await foreign(writerCalls()), [])
  })

  it("are refused in words that say what is wanted", async () => {
    const a = store.collection("a")
    const file = join(directory, "a.csv")
    const wrong = (value: unknown) => value as never
    const told = async (call: Promise<unknown>) => {
      const error = await rejected(call)
      assert.instanceOf(error, ValidationError)
      return (error as ValidationError).message
    }
    assert.strictEqual(await told(store.batch(wrong(undefined))), "body must be a function, it is undefined")
    assert.strictEqual(await told(store.preview(wrong({}))), "body must be a function, it is an object")
    assert.strictEqual(
      await told(a.insert({}, { message: wrong(5) })),
      "message must be a string, it is a number"
    )
    assert.strictEqual(await told(a.get(wrong(10n))), "id must be a string, it is a bigint")
    assert.strictEqual(await told(a.get("x", wrong("fresh"))), "options must be an object, it is a string")
    assert.strictEqual(
      await told(a.get("x", { signal: wrong(new AbortController()) })),
      "signal must be an AbortSignal, it is an object"
    )
    assert.strictEqual(
      await told(a.exportText(file, "csv", { columns: wrong("n") })),
      "columns must be a list of strings, it is a string"
    )
    assert.strictEqual(
      await told(store.exportExcel(file, { columns: { a: wrong([1]) } })),
      "columns.a must be a list of strings, it is a list"
    )
    assert.strictEqual(
      await told(a.exportExcel(wrong(undefined))),
      "the destination must be a file's path or a WritableStream, it is undefined"
    )
    for (const expectation of [undefined, {}, { rev: "1" }, { rev: 1, absent: true }, { absent: false }]) {
      assert.strictEqual(
        await told(store.batch((batch) => batch.expect("a", "x", wrong(expectation)))),
        `the expectation must be one of { rev: 3 }, { sha: "..." } and { absent: true }, it is ${expectation === undefined ? "undefined" : "an object"}`
      )
    }
    const iterated = rejected(drain(a.find(wrong({ n: 1 }))))
    assert.strictEqual(((await iterated) as Error).message, "predicate must be a function, it is an object")
    assert.strictEqual(await told(openStore(wrong(undefined))), "options must be an object, it is undefined")
  })

  it("are refused on the Effect face in the same way, and nothing dies of them", async () => {
    const found: Array<string> = []
    const service = await Effect.runPromise(
      Effect.provide(Store, Layer.provide(Store.layer(), Memory.layer()))
    )
    const schema = Schema.Struct({ n: Schema.Number })
    const right = {
      collection: ["a", schema],
      exportExcel: [Sink.drain, {}],
      batch: [{}, () => Effect.void],
      writer: [{}, () => Effect.void],
      transaction: [{}, () => Effect.void],
      withTransaction: [Effect.void, {}],
      removeTransaction: ["chainstore-tx-x"],
      at: ["main"],
      onBranch: ["main"],
      resolveRef: ["main"],
      createBranch: ["new", {}],
      deleteBranch: ["new"],
      compare: ["main", "main", {}],
      merge: ["main", {}],
      propose: [{ title: "x" }, () => Effect.void],
      proposals: [{}],
      proposal: ["x"],
      revert: ["main", {}],
      reindex: [{}],
      preview: [() => Effect.void],
      invalidate: ["data/a/x.json"],
      estimate: [{ _tag: "Read", documents: 1 }],
      doctorWith: [{}]
    }
    const reads = {
      get: ["x", {}],
      version: ["x"],
      exists: ["x"],
      list: [{}],
      all: [{}],
      find: [() => true, {}],
      findBy: ["n", 1, {}],
      page: [{}],
      pages: [{}],
      history: ["x", {}],
      explain: ["n", 1],
      query: [{}],
      queryAll: [{}],
      explainQuery: [{}, {}],
      countWhere: [{}],
      distinct: ["n"],
      exportExcel: [Sink.drain, {}],
      exportText: [Sink.drain, "csv", {}]
    }
    const writes = {
      ...reads,
      insert: [{ n: 1 }, {}],
      update: ["x", { n: 2 }, {}],
      replace: ["x", { n: 3 }, {}],
      edit: ["x", () => ({ n: 5 }), {}],
      upsert: ["x", { n: 4 }, {}],
      delete: ["y", {}],
      restore: ["x", "main", {}],
      importRecords: [[{ n: 1 }], {}],
      reindex: [{}],
      estimate: [{}],
      createIndex: ["n", {}],
      dropIndex: ["n", {}],
      writeJsonSchema: [{}]
    }
    const queue = { put: ["a", "x", {}], insert: ["a", {}, {}], delete: ["a", "x"] }
    const methods = (target: object) =>
      Object.entries(target)
        .filter(([, member]) => typeof member === "function")
        .map(([name]) => name)
    const tried = async (group: string, target: object, table: Record<string, ReadonlyArray<unknown>>) => {
      assert.sameMembers(Object.keys(table), methods(target), group)
      for (const [name, args] of Object.entries(table)) {
        for (const [at, wrong] of args.flatMap((_, at) => anything.map((one) => [at, one] as const))) {
          const given = args.map((arg, index) => (index === at ? wrong : arg))
          const exit = await Effect.runPromiseExit(
            Effect.suspend((): Effect.Effect<unknown, unknown> => {
              const result: unknown = (
                target as Record<string, (...given: ReadonlyArray<unknown>) => unknown>
              )[name]!(...given)
              if (Effect.isEffect(result)) {
                return Effect.provide(result, FileSystem.layerNoop({})) as Effect.Effect<unknown, unknown>
              }
              const isStream = typeof result === "object" && result !== null && Stream.StreamTypeId in result
              return isStream ? Stream.runDrain(result as Stream.Stream<unknown>) : Effect.succeed(result)
            })
          )
          if (Exit.isSuccess(exit)) continue
          const error = Cause.squash(exit.cause)
          if (!(error instanceof StoreError)) found.push(`${group}.${name} ${at} ${inspect(wrong)}: ${error}`)
        }
      }
    }
    await Effect.runPromise(service.collection("a").insert({ n: 1 }, { id: "x" }))
    await tried("Store", service, right)
    await tried("Collection", service.collection("a"), writes)
    await tried("View", (await Effect.runPromise(service.snapshot)).collection("a"), reads)
    const inside = (group: string, table: Record<string, ReadonlyArray<unknown>>) => (target: object) =>
      Effect.promise(() => tried(group, target, table))
    const expecting = { ...queue, expect: ["a", "x", { rev: 1 }] }
    const discarding = (group: string, table: Record<string, ReadonlyArray<unknown>>) => (batch: Batch) =>
      Effect.zipRight(inside(group, table)(batch), batch.discard)
    await Effect.runPromise(service.batch({}, discarding("Batch", expecting)))
    await Effect.runPromise(
      Effect.ignore(service.writer({}, (w) => Effect.zipRight(inside("Writer", queue)(w), w.discard)))
    )
    await Effect.runPromise(
      Effect.ignore(
        service.transaction({}, (transaction) =>
          Effect.zipRight(
            inside("Transaction.collection", writes)(transaction.collection("a")),
            transaction.batch({}, discarding("Transaction.batch", expecting))
          )
        )
      )
    )
    assert.deepStrictEqual(found, [])
  })

  it("are refused where an option is not known, which names the nearest, on both faces", async () => {
    const a = store.collection("a")
    const wrong = (value: object) => value as never
    const calls: ReadonlyArray<readonly [() => Promise<unknown>, string]> = [
      [() => a.list(wrong({ limt: 1 })), "limt is not an option: did you mean limit?"],
      [
        () => drain(a.all(wrong({ on_invalid: "skip" }))),
        "on_invalid is not an option: did you mean onInvalid?"
      ],
      [() => a.page(wrong({ size: 1 })), "size is not an option; the options are limit, after, onInvalid"],
      [
        () => a.update("x", {}, wrong({ expected_rev: 1 })),
        "expected_rev is not an option: did you mean expectedRev?"
      ],
      [() => a.importRecords([], wrong({ dry_run: true })), "dry_run is not an option: did you mean dryRun?"],
      [
        () => a.importRecords(fromCsv("_id\na\n", wrong({ delimeter: ";" }))),
        "delimeter is not an option: did you mean delimiter?"
      ],
      [
        () => a.importRecords(fromDbapi([], wrong({ fetch_size: 5 }))),
        "fetch_size is not an option: did you mean fetchSize?"
      ],
      [() => a.exists("x", wrong({ fresh: true })), "fresh is not an option; the options are signal"],
      [
        () => store.writer(() => {}, wrong({ max_seconds: 1 })),
        "max_seconds is not an option: did you mean maxSeconds?"
      ],
      [() => store.batch(() => {}, wrong({ msg: "x" })), "msg is not an option; the options are message"],
      [
        () => store.transaction(() => {}, wrong({ Branch: "x" })),
        "Branch is not an option: did you mean branch?"
      ],
      [
        () => store.exportExcel("x.xlsx", wrong({ column: {} })),
        "column is not an option: did you mean columns?"
      ],
      [
        () => writeXlsx("x.xlsx", [], wrong({ sheet_name: "x" })),
        "sheet_name is not an option: did you mean sheetName?"
      ]
    ]
    for (const [call, message] of calls) {
      const error = await rejected((async () => call())())
      assert.instanceOf(error, ValidationError)
      assert.strictEqual((error as ValidationError).message, message)
    }
  })

  it("refuse a stream of Node's, which is a destination by Writable.toWeb", async () => {
    const a = store.collection("a")
    const file = join(directory, "a.csv")
    const stream = new PassThrough()
    for (const call of [
      a.exportText(stream as never, "csv"),
      a.exportExcel(stream as never),
      store.exportExcel(stream as never),
      writeXlsx(stream as never, [])
    ]) {
      const error = await rejected(call)
      assert.instanceOf(error, ValidationError)
      assert.include((error as ValidationError).hint, "Writable.toWeb(stream)")
    }
    await a.exportText(Writable.toWeb(createWriteStream(file)), "csv", { columns: ["n"] })
    assert.strictEqual(readFileSync(file, "utf8"), "n\r\n1\r\n")
  })

  it("refuse limits that are not whole numbers above zero", async () => {
    const a = store.collection("a")
    for (const limit of [1.5, Number.NaN, -1, 0, Number.POSITIVE_INFINITY]) {
      for (const call of [
        a.list({ limit }),
        drain(a.all({ limit })),
        drain(a.find(() => true, { limit })),
        a.findBy("n", 1, { limit }),
        a.page({ limit }),
        drain(a.pages({ size: limit })),
        a.history("x", { limit })
      ]) {
        assert.instanceOf(await rejected(call), ValidationError)
      }
    }
  })

  it("may leave the signal out as null, as fetch does", async () => {
    assert.isTrue(await store.collection("a").exists("x", { signal: null as never }))
  })
})

const inDirectory = (directory: string, destination: string): string =>
  typeof destination === "string" ? join(directory, "none", destination) : destination

import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { AsyncStore, type StoreError, ValidationError } from "../../../src/store/promise/index.js"
import * as Store from "../../../src/store/Store.js"
import { down, rejected, repository } from "./SharedRepository.js"

describe("closing a store", () => {
  let place: ReturnType<typeof repository>
  let store: AsyncStore
  beforeEach(async () => {
    place = repository()
    store = await place.open()
  })
  const isClosed = (error: unknown) => {
    assert.instanceOf(error, ValidationError)
    assert.strictEqual((error as StoreError).message, "this store is closed")
  }

  it("refuses every later call in words", async () => {
    const notes = store.collection("notes")
    const view = await store.snapshot()
    const batch = await store.openBatch()
    const iterator = notes.all()[Symbol.asyncIterator]()
    await store.close()
    isClosed(await rejected(notes.get("x")))
    isClosed(await rejected(notes.insert({})))
    isClosed(await rejected(view.collections()))
    isClosed(await rejected(batch.put("notes", "x", {})))
    isClosed(await rejected(iterator.next()))
    isClosed(await rejected(store.writer(() => {})))
    isClosed(await rejected(store.openWriter()))
    isClosed(await rejected(store.openTransaction()))
    isClosed(await rejected(store.preview(() => {})))
    await store.close()
  })

  it("writes what an open writer holds", async () => {
    const writer = await store.openWriter({ maxSeconds: 3600 })
    await writer.put("notes", "a", { n: 1 })
    await store.close()
    await writer.close()
    await using again = await place.open()
    assert.strictEqual((await again.collection("notes").get("a"))?.["n"], 1)
  })

  it("reports the unwritten operations of an open writer, once", async () => {
    const one = await store.openWriter()
    await one.put("notes", "a", {})
    place.remote.isDown = true
    const told = (await rejected(store.close())) as StoreError
    assert.strictEqual(told.message, down.message)
    assert.deepStrictEqual(told.unwritten, [{ collection: "notes", id: "a" }])
    await store.close()
    await one[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  })

  it("reports the unwritten operations of several writers, and releases everything", async () => {
    let released = false
    const kept = await AsyncStore.fromLayer(
      Layer.merge(
        place.layer,
        Layer.scopedDiscard(
          Effect.addFinalizer(() =>
            Effect.sync(() => {
              released = true
            })
          )
        )
      )
    )
    for (const id of ["a", "b"]) await (await kept.openWriter()).put("notes", id, {})
    const empty = await kept.openWriter()
    await kept.openTransaction()
    place.remote.isDown = true
    const told = (await rejected(kept.close())) as AggregateError
    assert.instanceOf(told, AggregateError)
    assert.sameDeepMembers(
      told.errors.flatMap(({ unwritten }) => unwritten),
      [
        { collection: "notes", id: "a" },
        { collection: "notes", id: "b" }
      ]
    )
    await empty.close()
    assert.isTrue(released)
    await store.close()
  })

  it("rolls back an open transaction and takes its work branch away", async () => {
    await store.collection("notes").insert({ n: 0 }, { id: "a" })
    const transaction = await store.openTransaction()
    await transaction.collection("notes").update("a", { n: 1 })
    assert.lengthOf(place.branches(), 2)
    await store.close()
    assert.lengthOf(place.branches(), 1)
    assert.include(((await rejected(transaction.commit())) as Error).message, "rolled back")
    await transaction.rollback()
    await transaction[Symbol.asyncDispose]()
    await using again = await place.open()
    assert.strictEqual((await again.collection("notes").get("a"))?.["n"], 0)
  })

  it("lets a commit that is under way come to its end", async () => {
    const transaction = await store.openTransaction()
    await transaction.collection("notes").insert({}, { id: "a" })
    const [committed] = await Promise.all([transaction.commit(), store.close()])
    assert.match(committed ?? "", /^[0-9a-f]{40}$/)
    await using again = await place.open()
    assert.isTrue(await again.collection("notes").exists("a"))
  })

  it("discards an open batch", async () => {
    const batch = await store.openBatch()
    await batch.put("notes", "a", {})
    await store.close()
    await batch[Symbol.asyncDispose]()
    await using again = await place.open()
    assert.deepStrictEqual(await again.collections(), [])
  })

  it("waits for a commit of a batch that is under way", async () => {
    const batch = await store.openBatch()
    await batch.put("notes", "a", {})
    const begun = await Effect.runPromise(Deferred.make<void>())
    const gate = await Effect.runPromise(Deferred.make<void>())
    place.remote.held = Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(gate))
    const committing = batch.commit()
    await Effect.runPromise(Deferred.await(begun))
    const closing = store.close()
    await Effect.runPromise(Deferred.succeed(gate, undefined))
    assert.match((await committing) ?? "", /^[0-9a-f]{40}$/)
    await closing
    await using again = await place.open()
    assert.deepStrictEqual(await again.collection("notes").list(), ["a"])
  })

  it("ends what is being opened", async () => {
    await store.collection("notes").insert({})
    const begun = await Effect.runPromise(Deferred.make<void>())
    const gate = await Effect.runPromise(Deferred.make<void>())
    place.remote.held = Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(gate))
    const opening = rejected(store.openTransaction())
    await Effect.runPromise(Deferred.await(begun))
    const closing = store.close()
    await Effect.runPromise(Deferred.succeed(gate, undefined))
    isClosed(await opening)
    await closing
    assert.lengthOf(place.branches(), 1)
  })

  it("ends calls that are under way: nothing is written after it", async () => {
    let told = 0
    const records = (async function* () {
      for (let n = 0; ; n++) yield { _id: `r${n}` }
    })()
    const importing = rejected(
      store.collection("notes").importRecords(records, {
        chunkSize: 1,
        onProgress: ({ records }) => {
          told = records
          if (records === 3) void store.close()
        }
      })
    )
    isClosed(await importing)
    await store.close()
    await using again = await place.open()
    assert.strictEqual(await again.collection("notes").count(), told)
  })

  it("ends bodies that are under way, each as its failure would", async () => {
    const stuck = () => new Promise<never>(() => {})
    const writing = rejected(
      store.writer(async (writer) => {
        await writer.put("notes", "written", {})
        return stuck()
      })
    )
    const transacting = rejected(
      store.transaction(async (transaction) => {
        await transaction.collection("notes").insert({}, { id: "rolled-back" })
        return stuck()
      })
    )
    await vi.waitUntil(() => place.branches().length === 2)
    await store.close()
    isClosed(await writing)
    isClosed(await transacting)
    await using again = await place.open()
    assert.deepStrictEqual(await again.collection("notes").list(), ["written"])
    assert.lengthOf(place.branches(), 1)
  })

  it("ends loops that are under way, also those that wait for their caller", async () => {
    await store.collection("notes").importRecords(Array.from({ length: 500 }, (_, n) => ({ _id: `r${n}` })))
    const waiting = store.collection("notes").all()[Symbol.asyncIterator]()
    await waiting.next()
    const loop = async () => {
      for await (const _ of store.collection("notes").all()) await store.close()
    }
    isClosed(await rejected(loop()))
    isClosed(await rejected(waiting.next()))
  })

  it("does not wait for ever for a call that does not end", async () => {
    const service = await Effect.runPromise(Effect.provide(Store.Store, place.layer))
    const doctor = Effect.uninterruptible(Effect.never)
    const other = await AsyncStore.fromLayer(Layer.succeed(Store.Store, { ...service, doctor }))
    void other.doctor()
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      let isDone = false
      const closing = other.close().then(() => {
        isDone = true
      })
      await vi.advanceTimersByTimeAsync(9_900)
      assert.isFalse(isDone)
      await vi.advanceTimersByTimeAsync(200)
      await closing
    } finally {
      vi.useRealTimers()
    }
    await store.close()
  })

  it("closes the stores of other branches, which close alone", async () => {
    await store.collection("notes").insert({}, { id: "a" })
    const one = await store.onBranch("main")
    await using two = await store.onBranch("main")
    const writer = await one.openWriter()
    await writer.put("notes", "b", {})
    await one.close()
    isClosed(await rejected(one.collections()))
    assert.deepStrictEqual(await two.collection("notes").list(), ["a", "b"])
    const other = await two.openWriter()
    await other.put("notes", "c", {})
    await store.close()
    isClosed(await rejected(two.collections()))
    await two.close()
    await using again = await place.open()
    assert.deepStrictEqual(await again.collection("notes").list(), ["a", "b", "c"])
  })

  it("shows in a preview what a writer that is still open would write", async () => {
    const shown = await store.preview(async (dry) => {
      const writer = await dry.openWriter({ maxSeconds: 3600 })
      await writer.put("notes", "a", { n: 1 })
    })
    assert.deepStrictEqual(
      shown?.changes.map(({ path }) => path),
      ["data/notes/a.json"]
    )
    let late: AsyncStore | undefined
    assert.isNull(
      await store.preview((dry) => {
        late = dry
      })
    )
    isClosed(await rejected(late!.collections()))
    await store.close()
    await using again = await place.open()
    assert.deepStrictEqual(await again.collections(), [])
  })

  it("lets the process end, whatever is open", async () => {
    const directory = mkdtempSync(join(tmpdir(), "chainstore-closing-"))
    const script = join(directory, "script.mts")
    const source = join(import.meta.dirname, "../../../src/store/local/index.ts")
    writeFileSync(
      script,
      `import { openLocal } from ${JSON.stringify(source)}
       const store = await openLocal({ directory: ${JSON.stringify(directory)}, durability: "none" })
       await store.collection("a").importRecords([{ _id: "a" }, { _id: "b" }])
       const writer = await store.openWriter({ maxSeconds: 3600 })
       await writer.put("a", "x", { n: 1 })
       const transaction = await store.openTransaction()
       await transaction.collection("a").insert({})
       await store.collection("a").all()[Symbol.asyncIterator]().next()
       await store.close()
       console.log("closed")`
    )
    try {
      const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", script], {
        timeout: 20_000
      })
      assert.strictEqual(stdout, "closed\n")
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})

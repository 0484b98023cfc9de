import { getEventListeners } from "node:events"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { AsyncStore } from "../../../src/store/promise/index.js"
import { rejected, repository } from "./SharedRepository.js"

describe("a signal", () => {
  let store: AsyncStore
  beforeEach(async () => {
    store = await repository().open()
    await store.collection("a").importRecords(Array.from({ length: 300 }, (_, n) => ({ _id: `r${n}` })))
  })
  afterEach(() => store.close())

  it("that is used for many calls gathers no listeners", async () => {
    const { signal } = new AbortController()
    const listeners = () => getEventListeners(signal, "abort").length
    for (let n = 0; n < 20; n++) await store.collection("a").get("r1", { signal })
    assert.strictEqual(listeners(), 0)
    for await (const _ of store.collection("a").all({ signal })) assert.strictEqual(listeners(), 1)
    for await (const _ of store.collection("a").pages({ signal, size: 100 })) break
    assert.strictEqual(listeners(), 0)
  })

  it("that is aborted refuses every method of a batch and of a writer", async () => {
    const reason = new Error("enough")
    const aborted = { signal: AbortSignal.abort(reason) }
    await store.batch(async (batch) => {
      await batch.put("a", "x", {})
      const calls = [
        batch.put("a", "y", {}, aborted),
        batch.insert("a", {}, aborted),
        batch.delete("a", "r1", aborted),
        batch.expect("a", "r1", { rev: 1 }, aborted),
        batch.operations(aborted),
        batch.expectations(aborted),
        batch.discard(aborted)
      ]
      for (const call of calls) assert.strictEqual(await rejected(call), reason)
      assert.deepStrictEqual([await batch.operations(), await batch.expectations()], [1, 0])
    })
    await store.writer(async (writer) => {
      await writer.put("a", "y", {})
      const calls = [
        writer.put("a", "z", {}, aborted),
        writer.flush(aborted),
        writer.discard(aborted),
        writer.pending(aborted),
        writer.commits(aborted)
      ]
      for (const call of calls) assert.strictEqual(await rejected(call), reason)
      assert.deepStrictEqual([await writer.pending(), await writer.commits()], [1, []])
    })
    assert.strictEqual(await store.collection("a").count(), 302)
  })

  it("ends a loop that waits for its caller", async () => {
    const reason = new Error("enough")
    const controller = new AbortController()
    const iterator = store.collection("a").all({ signal: controller.signal })[Symbol.asyncIterator]()
    await iterator.next()
    controller.abort(reason)
    assert.strictEqual(await rejected(iterator.next()), reason)
    assert.deepStrictEqual(await iterator.next(), { done: true, value: undefined })
  })

  it("ends a loop that is about to begin", async () => {
    const reason = new Error("enough")
    const controller = new AbortController()
    const iterator = store.collection("a").all({ signal: controller.signal })[Symbol.asyncIterator]()
    const first = iterator.next()
    controller.abort(reason)
    assert.strictEqual(await rejected(first), reason)
    assert.deepStrictEqual(await iterator.next(), { done: true, value: undefined })
    assert.strictEqual(getEventListeners(controller.signal, "abort").length, 0)
  })

  it("that ends an export aborts its WritableStream", async () => {
    const reason = new Error("enough")
    const controller = new AbortController()
    let aborted = false
    const slow = new WritableStream<Uint8Array>({
      write: (_, stream) => {
        const { signal } = stream as WritableStreamDefaultController & { readonly signal: AbortSignal }
        controller.abort(reason)
        return new Promise((_resolve, reject) => signal.addEventListener("abort", reject))
      },
      abort: () => {
        aborted = true
      }
    })
    const exporting = store.collection("a").exportText(slow, "csv", { signal: controller.signal })
    assert.strictEqual(await rejected(exporting), reason)
    assert.isTrue(aborted)
  })

  describe("of a bracket that is opened by hand", () => {
    const reason = new Error("enough")
    /** A call that is told to end while it writes; unless that `goesOn`, only interruption ends it. */
    const stopped = async (
      shared: ReturnType<typeof repository>,
      call: (signal: AbortSignal) => Promise<unknown>,
      goesOn = false
    ) => {
      const controller = new AbortController()
      shared.remote.held = Effect.suspend(() => {
        shared.remote.held = Effect.void
        controller.abort(reason)
        return goesOn ? Effect.void : Effect.never
      })
      assert.strictEqual(await rejected(call(controller.signal)), reason)
      assert.strictEqual(getEventListeners(controller.signal, "abort").length, 0)
    }

    it("ends its opening, and no later call", async () => {
      const shared = repository()
      const one = await shared.open()
      await one.collection("a").insert({}, { id: "first" })
      await stopped(shared, (signal) => one.openTransaction({ signal }), true)
      assert.deepStrictEqual(shared.branches(), ["refs/heads/main"])
      for (const open of ["openBatch", "openWriter", "openTransaction"] as const) {
        assert.strictEqual(await rejected(one[open]({ signal: AbortSignal.abort(reason) })), reason)
      }
      const controller = new AbortController()
      const transaction = await one.openTransaction({ signal: controller.signal })
      controller.abort(reason)
      await transaction.collection("a").insert({}, { id: "second" })
      assert.isString(await transaction.commit())
      assert.strictEqual(await one.collection("a").count(), 2)
      await one.close()
    })

    it("ends a commit, of which nothing is left", async () => {
      const shared = repository()
      const one = await shared.open()
      await one.collection("a").insert({}, { id: "first" })
      const transaction = await one.openTransaction()
      await transaction.collection("a").insert({}, { id: "second" })
      assert.strictEqual(await rejected(transaction.commit({ signal: AbortSignal.abort(reason) })), reason)
      await stopped(shared, (signal) => transaction.commit({ signal }))
      assert.deepStrictEqual(shared.branches(), ["refs/heads/main"])
      assert.deepStrictEqual(await one.collection("a").list(), ["first"])
      const inside = one.transaction(async (tx) => {
        await tx.collection("a").insert({}, { id: "third" })
        await stopped(shared, (signal) => tx.commit({ signal }))
      })
      assert.strictEqual(await rejected(inside), reason)
      assert.deepStrictEqual(shared.branches(), ["refs/heads/main"])
      await one.close()
    })

    it("ends the closing of a writer, which writes what it can before", async () => {
      const shared = repository()
      const one = await shared.open()
      const writer = await one.openWriter()
      await writer.put("a", "x", {})
      await stopped(shared, (signal) => writer.close({ signal }), true)
      assert.deepStrictEqual(await one.collection("a").list(), ["x"])
      await one.close()
    })
  })
})

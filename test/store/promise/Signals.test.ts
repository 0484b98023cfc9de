import { getEventListeners } from "node:events"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import type { AsyncStore } from "../../../src/store/promise/index.js"
import { rejected, repository } from "./Opened.js"

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

  it("ends a loop that waits for its caller", async () => {
    const reason = new Error("enough")
    const controller = new AbortController()
    const iterator = store.collection("a").all({ signal: controller.signal })[Symbol.asyncIterator]()
    await iterator.next()
    controller.abort(reason)
    assert.strictEqual(await rejected(iterator.next()), reason)
    assert.deepStrictEqual(await iterator.next(), { done: true, value: undefined })
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
})

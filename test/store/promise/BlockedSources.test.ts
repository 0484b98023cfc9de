import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { type AsyncStore, fromCsv, fromDbapi, writeXlsx } from "../../../src/store/promise/index.js"
import { rejected, repository } from "./SharedRepository.js"

describe("a source that is stuck", () => {
  let store: AsyncStore
  beforeEach(async () => {
    store = await repository().open()
  })
  afterEach(() => store.close())

  /** One element, and then nothing: aborts when it is there. */
  const stuck = <A>(element: A) => {
    const controller = new AbortController()
    async function* elements() {
      yield element
      controller.abort(reason)
      await new Promise(() => {})
    }
    return { elements: elements(), signal: controller.signal }
  }
  const reason = new Error("enough")

  it("does not keep an import from being ended", async () => {
    const { elements, signal } = stuck({ _id: "a" })
    assert.strictEqual(await rejected(store.collection("a").importRecords(elements, { signal })), reason)
  })

  it("does not keep a workbook from being ended", async () => {
    const { elements, signal } = stuck({ _id: "a" })
    assert.strictEqual(await rejected(writeXlsx(new WritableStream(), elements, { signal })), reason)
  })

  it("does not keep an import of a text or a cursor from being ended", async () => {
    const text = stuck(new TextEncoder().encode("n\r\n1\r\n"))
    const a = store.collection("a")
    assert.strictEqual(
      await rejected(a.importRecords(fromCsv(text.elements), { signal: text.signal })),
      reason
    )
    const rows = stuck({ n: 1 })
    assert.strictEqual(
      await rejected(a.importRecords(fromDbapi(rows.elements), { signal: rows.signal })),
      reason
    )
  })

  it("does not keep the store from being closed", async () => {
    const { elements } = stuck({ _id: "a" })
    const importing = rejected(store.collection("a").importRecords(elements))
    await store.close()
    assert.strictEqual(((await importing) as Error).message, "this store is closed")
  })
})

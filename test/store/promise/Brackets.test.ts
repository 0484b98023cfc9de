import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Deferred, Effect, FiberId } from "effect"
import {
  type AsyncBatch,
  type AsyncStore,
  type AsyncTransaction,
  type AsyncWriter,
  ConflictError,
  type StoreError,
  ValidationError
} from "../../../src/store/promise/index.js"
import { down, outcome, rejected, repository } from "./SharedRepository.js"

describe("a transaction", () => {
  let place: ReturnType<typeof repository>
  let store: AsyncStore
  beforeEach(async () => {
    place = repository()
    store = await place.open()
    await store.collection("notes").insert({ n: 0 }, { id: "a" })
  })
  afterEach(async () => {
    await store.close()
    assert.lengthOf(place.branches(), 1)
  })
  const n = async (id: string) => (await store.collection("notes").get(id))?.["n"]
  const refused = async (call: Promise<unknown>) => {
    const error = (await rejected(call)) as StoreError
    assert.instanceOf(error, ValidationError)
    assert.include(error.message, "this transaction has ended")
  }

  it("is rolled back inside its function, which continues and returns", async () => {
    const outcome = await store.transaction(async (transaction) => {
      const notes = transaction.collection("notes")
      await notes.update("a", { n: 1 })
      await transaction.rollback()
      assert.lengthOf(place.branches(), 1)
      await refused(notes.get("a"))
      await refused(notes.insert({}))
      await refused(transaction.batch(() => {}))
      await refused(notes.all()[Symbol.asyncIterator]().next())
      assert.include(((await rejected(transaction.commit())) as Error).message, "rolled back")
      return "mine"
    })
    assert.deepStrictEqual(outcome, { result: "mine", commitSha: null })
    assert.strictEqual(await n("a"), 0)
  })

  it("gives its function a store that is inside, and leaves the one outside where it was", async () => {
    const sum = async (inside: AsyncStore) => {
      let all = 0
      for await (const note of inside.collection("notes").all()) all += Number(note["n"])
      return all
    }
    const inner = await store.withTransaction(async (inside) => {
      await inside.collection("notes").update("a", { n: 1 })
      await inside.withTransaction((deeper) => deeper.collection("notes").insert({ n: 2 }, { id: "b" }))
      assert.deepStrictEqual([await sum(inside), await sum(store)], [3, 0])
      const mine = new Error("mine")
      const failing = inside.withTransaction(async (deeper) => {
        await deeper.batch((batch) => batch.put("notes", "c", { n: 4 }))
        assert.strictEqual(await sum(deeper), 7)
        throw mine
      })
      assert.strictEqual(await rejected(failing), mine)
      return inside
    })
    assert.strictEqual(await sum(store), 3)
    assert.include(((await rejected(inner.collection("notes").get("a"))) as Error).message, "closed")
  })

  it("is rolled back after a running write, which completes or fails", async () => {
    const transaction = await store.openTransaction()
    const [started, gate] = [Deferred.unsafeMake<void>(FiberId.none), Deferred.unsafeMake<void>(FiberId.none)]
    place.remote.held = Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(gate))
    const write = outcome(transaction.collection("notes").insert({}, { id: "b" }))
    await Effect.runPromise(Deferred.await(started))
    const rolledBack = transaction.rollback()
    // Time to take the branch away beside the write, where that is not waited for.
    await Promise.race([rolledBack, new Promise((done) => setTimeout(done, 50))])
    await Effect.runPromise(Deferred.succeed(gate, undefined))
    await rolledBack
    const answer = await write
    if (answer !== "b") assert.instanceOf(answer, ValidationError)
    assert.isUndefined(await n("b"))
  })

  it("is rolled back by a function that leaves it by await using", async () => {
    const { commitSha } = await store.transaction(async (given) => {
      await using transaction = given
      await transaction.collection("notes").update("a", { n: 1 })
    })
    assert.isNull(commitSha)
    assert.strictEqual(await n("a"), 0)
  })

  it("is committed inside its function, which continues and returns", async () => {
    const outcome = await store.transaction(async (transaction) => {
      await transaction.collection("notes").update("a", { n: 1 })
      const sha = await transaction.commit()
      assert.strictEqual(await n("a"), 1)
      assert.strictEqual(await transaction.commit(), sha)
      await transaction.rollback()
      await refused(transaction.collection("notes").get("a"))
      return sha
    })
    assert.match(outcome.commitSha ?? "", /^[0-9a-f]{40}$/)
    assert.strictEqual(outcome.result, outcome.commitSha)
    assert.strictEqual(await n("a"), 1)
  })

  it("rejects with the exception of its function, also after its end", async () => {
    const mine = new Error("mine")
    const failing = (end: (transaction: AsyncTransaction) => Promise<unknown>) =>
      rejected(
        store.transaction(async (transaction) => {
          await transaction.collection("notes").upsert("b", { n: 1 })
          await end(transaction)
          throw mine
        })
      )
    assert.strictEqual(await failing((transaction) => transaction.rollback()), mine)
    assert.isUndefined(await n("b"))
    assert.strictEqual(await failing((transaction) => transaction.commit()), mine)
    assert.strictEqual(await n("b"), 1)
  })

  it("rejects with a commit's failure inside its function, also if the function ignores it", async () => {
    const error = await rejected(
      store.transaction(async (transaction) => {
        await transaction.collection("notes").update("a", { n: 1 })
        await store.collection("notes").update("a", { n: 2 })
        assert.instanceOf(await rejected(transaction.commit()), ConflictError)
      })
    )
    assert.instanceOf(error, ConflictError)
    assert.strictEqual(await n("a"), 2)
    await store.removeTransaction((error as ConflictError).branch!)
  })

  it("leaves its block with the error of the failed commit alone", async () => {
    const use = async () => {
      await using transaction = await store.openTransaction()
      await transaction.collection("notes").update("a", { n: 1 })
      await store.collection("notes").update("a", { n: 2 })
      await transaction.commit()
    }
    const error = await rejected(use())
    assert.instanceOf(error, ConflictError)
    await store.removeTransaction((error as ConflictError).branch!)
  })

  it("is ended by a signal, also after its end", async () => {
    const reason = new Error("enough")
    const controller = new AbortController()
    const stopped = store.transaction(
      async (transaction) => {
        await transaction.rollback()
        controller.abort(reason)
        await new Promise(() => {})
      },
      { signal: controller.signal }
    )
    assert.strictEqual(await rejected(stopped), reason)
  })

  it("refuses what comes after its end, and rolling back again changes nothing", async () => {
    let late: AsyncTransaction | undefined
    await store.transaction(async (transaction) => {
      late = transaction
      await transaction.collection("notes").insert({ n: 1 }, { id: "b" })
    })
    await refused(late!.collection("notes").insert({ n: 2 }, { id: "c" }))
    await late!.rollback()
    assert.deepStrictEqual(await store.collection("notes").list(), ["a", "b"])
    const opened = await store.openTransaction()
    await opened.rollback()
    await opened.rollback()
    await refused(opened.collection("notes").list())
  })
})

describe("a writer", () => {
  let place: ReturnType<typeof repository>
  let store: AsyncStore
  beforeEach(async () => {
    place = repository()
    store = await place.open()
  })
  afterEach(() => store.close())

  it("is flushed and ended by close inside its function", async () => {
    const { commits, result } = await store.writer(async (writer) => {
      await writer.put("notes", "a", { n: 1 })
      await writer.close()
      assert.strictEqual(await writer.pending(), 0)
      assert.isTrue(await store.collection("notes").exists("a"))
      assert.include(
        ((await rejected(writer.put("notes", "b", {}))) as Error).message,
        "this writer has ended"
      )
      return writer.commits()
    })
    assert.lengthOf(commits, 1)
    assert.deepStrictEqual(result, commits)
  })

  it("refuses what is put after its end, and closing again changes nothing", async () => {
    let late: AsyncWriter | undefined
    await store.writer((writer) => {
      late = writer
    })
    assert.instanceOf(await rejected(late!.put("notes", "a", {})), ValidationError)
    const opened = await store.openWriter()
    await opened.put("notes", "b", {})
    await opened.close()
    await opened.close()
    assert.instanceOf(await rejected(opened.put("notes", "c", {})), ValidationError)
    assert.deepStrictEqual(await store.collection("notes").list(), ["b"])
  })

  it("leaves its block with the error of the failed close alone", async () => {
    const use = async () => {
      await using writer = await store.openWriter()
      await writer.put("notes", "a", {})
      place.remote.isDown = true
      await writer.close()
    }
    const error = (await rejected(use())) as StoreError
    assert.strictEqual(error.message, down.message)
    assert.deepStrictEqual(error.unwritten, [{ collection: "notes", id: "a" }])
  })

  it("logs what it could not write to standard error", async () => {
    const lines: Record<"log" | "error", Array<string>> = { log: [], error: [] }
    const kept = { log: console.log, error: console.error }
    for (const name of ["log", "error"] as const) console[name] = (line) => lines[name].push(String(line))
    try {
      const failing = store.writer(async (writer) => {
        await writer.put("notes", "a", {})
        place.remote.isDown = true
      })
      await rejected(failing)
    } finally {
      Object.assign(console, kept)
    }
    assert.deepStrictEqual(lines.log, [])
    assert.match(lines.error.join("\n"), /a writer ended with operations that are not durable.*notes\/a/)
  })

  it("rejects with a close's failure inside its function, also if the function ignores it", async () => {
    const failing = store.writer(async (writer) => {
      await writer.put("notes", "a", {})
      place.remote.isDown = true
      await rejected(writer.close())
    })
    const error = (await rejected(failing)) as StoreError
    assert.deepStrictEqual(error.unwritten, [{ collection: "notes", id: "a" }])
  })
})

describe("a batch", () => {
  let store: AsyncStore
  beforeEach(async () => {
    store = await repository().open()
  })
  afterEach(() => store.close())

  it("refuses what comes after its end", async () => {
    let late: AsyncBatch | undefined
    await store.batch(async (batch) => {
      late = batch
      await batch.put("notes", "a", { n: 1 })
    })
    assert.instanceOf(await rejected(late!.put("notes", "b", { n: 2 })), ValidationError)
    assert.instanceOf(await rejected(late!.commit()), ValidationError)
    assert.deepStrictEqual(await store.collection("notes").list(), ["a"])
  })

  it("discards in its function what await using leaves behind", async () => {
    const { commitSha } = await store.batch(async (given) => {
      await using batch = given
      await batch.put("notes", "a", { n: 1 })
    })
    assert.isNull(commitSha)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { vi } from "vitest"
import type { Batch } from "../../../src/store/Batch.js"
import type { Collection, CollectionReader } from "../../../src/store/index.js"
import * as Whole from "../../../src/store/index.js"
import type { Draft, ProposalHandle } from "../../../src/store/Proposals.js"
import { AsyncBatch } from "../../../src/store/promise/AsyncBatch.js"
import { AsyncCollection, AsyncCollectionReader } from "../../../src/store/promise/AsyncCollection.js"
import { AsyncDraft } from "../../../src/store/promise/AsyncDraft.js"
import { AsyncProposal } from "../../../src/store/promise/AsyncProposal.js"
import { AsyncStore, AsyncView } from "../../../src/store/promise/AsyncStore.js"
import { AsyncTransaction } from "../../../src/store/promise/AsyncTransaction.js"
import { AsyncWriter } from "../../../src/store/promise/AsyncWriter.js"
import * as Face from "../../../src/store/promise/index.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import type { Transaction } from "../../../src/store/Transaction.js"
import type { StoreView } from "../../../src/store/View.js"
import type { Writer } from "../../../src/store/Writer.js"

/** What the Promise face lacks of the Effect face, by the types: nothing, or this does not compile. */
type Lacks<Service, Class> = Exclude<keyof Service, keyof Class>
const nothingLacks: [
  Lacks<StoreService, AsyncStore>,
  Lacks<StoreView, AsyncView>,
  Lacks<Collection, AsyncCollection>,
  Lacks<CollectionReader, AsyncCollectionReader>,
  Lacks<Batch, AsyncBatch>,
  Lacks<Writer, AsyncWriter>,
  Lacks<Transaction, AsyncTransaction>,
  Lacks<Draft, AsyncDraft>,
  Lacks<ProposalHandle, AsyncProposal>
] extends ReadonlyArray<never>
  ? true
  : false = true

const layer = (options: Memory.MemoryOptions = {}) => Layer.provide(Store.layer(), Memory.layer(options))

interface Named {
  readonly name: string
  readonly prototype: object
}

/** The names that the values of a class have, those of its parents too. */
const has = (Class: Named, value: object, name: string) =>
  name in Class.prototype || Object.hasOwn(value, name)

const rejected = (promise: Promise<unknown>): Promise<any> =>
  promise.then(
    () => assert.fail("it did not reject"),
    (error: unknown) => error
  )

describe("what a store of promises writes to the console", () => {
  it("goes to standard error", async () => {
    const out = vi.spyOn(console, "log")
    const errors = vi.spyOn(console, "error").mockImplementation(() => {})
    try {
      await using _ = await AsyncStore.fromLayer(
        Layer.tap(layer(), () => Effect.logWarning("a cache cannot be read"))
      )
      assert.match(String(errors.mock.calls[0]?.[0]), /level=WARN .*a cache cannot be read/)
      assert.lengthOf(out.mock.calls, 0)
    } finally {
      out.mockRestore()
      errors.mockRestore()
    }
  })
})

describe("the Promise face beside the Effect face", () => {
  it("has every member that a store, a view, a collection, a batch, a writer and a transaction have", async () => {
    assert.isTrue(nothingLacks)
    const context = await Effect.runPromise(Effect.scoped(Layer.build(layer())))
    const store = await Effect.runPromise(Effect.provide(Store.Store, context))
    await using face = await AsyncStore.fromLayer(Layer.succeed(Store.Store, store))
    const lacking: Array<string> = []
    const compare = (Class: Named, value: object, service: object) => {
      const names = Object.keys(service)
      assert.isAbove(names.length, 2)
      lacking.push(...names.filter((name) => !has(Class, value, name)).map((name) => `${Class.name}.${name}`))
    }
    compare(AsyncStore, face, store)
    const view = await Effect.runPromise(store.snapshot)
    compare(AsyncView, await face.snapshot(), view)
    compare(AsyncProposal, face.proposal("x"), store.proposal("x"))
    compare(AsyncCollection, face.collection("c"), store.collection("c"))
    compare(AsyncCollectionReader, (await face.snapshot()).collection("c"), view.collection("c"))
    await Effect.runPromise(
      Effect.all([
        store.batch({}, (batch) =>
          Effect.promise(() => face.batch((other) => compare(AsyncBatch, other, batch)))
        ),
        store.writer({}, (writer) =>
          Effect.promise(() => face.writer((other) => compare(AsyncWriter, other, writer)))
        ),
        store.collection("c").insert({}, { id: "x" }),
        store.propose({ title: "x" }, (draft) =>
          Effect.zipRight(
            draft.collection("c").insert({}),
            Effect.promise(() =>
              face.propose(
                async (other) => {
                  compare(AsyncDraft, other, draft)
                  await other.collection("c").insert({})
                },
                { title: "y" }
              )
            )
          )
        ),
        store.transaction({}, (transaction) =>
          Effect.promise(() => face.transaction((other) => compare(AsyncTransaction, other, transaction)))
        )
      ])
    )
    assert.deepStrictEqual(lacking, [])
  })

  it("exports the same errors and sources of records", () => {
    const shared = Object.keys(Whole).filter((name) => /Error$/.test(name) || /^from[A-Z]/.test(name))
    assert.isAbove(shared.length, 12)
    for (const name of shared) {
      // What a list or an iterable needs no function for.
      if (name === "fromRecords") continue
      assert.strictEqual(Reflect.get(Face, name), Reflect.get(Whole, name), name)
    }
  })

  it("names the unwritten operations of a writer, keeps them, and discards them on request", async () => {
    let broken = true
    const down = new Whole.RemoteError({ operation: "test", reason: "Unreachable", message: "down" })
    await using store = await AsyncStore.fromLayer(
      layer({
        faults: { onWrite: (_, point) => (broken && point === "start" ? Effect.fail(down) : Effect.void) }
      })
    )
    await store.writer(async (writer) => {
      await writer.put("notes", "a", {})
      await writer.put("notes", "b", {})
      const error = await rejected(writer.flush())
      assert.instanceOf(error, Whole.RemoteError)
      assert.deepStrictEqual(error.unwritten, [
        { collection: "notes", id: "a" },
        { collection: "notes", id: "b" }
      ])
      assert.strictEqual(await writer.pending(), 2)
      assert.strictEqual(await writer.discard(), 2)
      assert.strictEqual(await writer.pending(), 0)
      broken = false
      await writer.put("notes", "c", {})
    })
    assert.deepStrictEqual(await store.collection("notes").list(), ["c"])
  })

  it("names what could not be written at a writer's end, beside what its body threw", async () => {
    let broken = false
    const down = new Whole.RemoteError({ operation: "test", reason: "Unreachable", message: "down" })
    await using store = await AsyncStore.fromLayer(
      layer({
        faults: { onWrite: (_, point) => (broken && point === "start" ? Effect.fail(down) : Effect.void) }
      })
    )
    const unwritten = [{ collection: "notes", id: "a" }]
    const writer = await store.openWriter()
    await writer.put("notes", "a", {})
    broken = true
    const closed = await rejected(writer.close())
    assert.instanceOf(closed, Whole.RemoteError)
    assert.deepStrictEqual([closed.unwritten, closed.hint], [unwritten, "not yet written: notes/a"])

    const mine = new Error("mine")
    const both = await rejected(
      store.writer(async (other) => {
        await other.put("notes", "a", {})
        throw mine
      })
    )
    assert.instanceOf(both, AggregateError)
    assert.strictEqual(both.errors[0], mine)
    assert.instanceOf(both.errors[1], Whole.RemoteError)
    assert.deepStrictEqual(both.errors[1].unwritten, unwritten)

    const controller = new AbortController()
    const stopped = await rejected(
      store.writer(
        async (other) => {
          await other.put("notes", "a", {})
          controller.abort(mine)
          await new Promise(() => {})
        },
        { signal: controller.signal }
      )
    )
    assert.strictEqual(stopped.errors[0], mine)
    assert.deepStrictEqual(stopped.errors[1].unwritten, unwritten)
  })

  it("calls a plain function for documents that do not match the schema", async () => {
    await using store = await AsyncStore.fromLayer(layer())
    await store.collection("notes").importRecords([
      { _id: "a", n: 1 },
      { _id: "b", n: "odd" },
      { _id: "c", n: 3 }
    ])
    const notes = store.collection("notes", Schema.Struct({ n: Schema.Number }))
    const told: Array<string> = []
    const read: Array<number> = []
    for await (const { n } of notes.all({
      onInvalid: async (id, error) => void told.push(`${id} ${error._tag}`)
    })) {
      read.push(n)
    }
    assert.deepStrictEqual([told, read], [["b ValidationError"], [1, 3]])
    assert.lengthOf((await notes.page({ onInvalid: "skip" })).documents, 2)
    const mine = new Error("mine")
    const refuse = () => {
      throw mine
    }
    assert.strictEqual(await rejected(notes.findBy("n", "odd", { onInvalid: refuse })), mine)
    const loop = async () => {
      for await (const _ of notes.all({ onInvalid: refuse }));
    }
    assert.strictEqual(await rejected(loop()), mine)
  })
})

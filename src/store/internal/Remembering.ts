import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Collection } from "../Collection.js"
import type { Batch, BatchOptions, StoreService, Transaction, Typed } from "../StoreService.js"
import { runBody } from "./Guard.js"
import { keyOf } from "./OperationQueue.js"
import { guardBatch, guardCollection, guardTransaction } from "./Signatures.js"

/** What a transaction looked at: single documents by `collection/id`, and whole collections. */
export interface Reads {
  readonly documents: Set<string>
  readonly collections: Set<string>
}

export type OpenStore = Pick<StoreService, "collection" | "batch">

export const remembering = <A, I>(collection: Collection<A, I>, reads: Reads): Collection<A, I> => {
  const one = <B, E>(id: string, effect: Effect.Effect<B, E>) =>
    Effect.suspend(() => {
      reads.documents.add(keyOf(collection.name, id))
      return effect
    })
  const many = <B, E, R>(effect: Effect.Effect<B, E, R>) =>
    Effect.suspend(() => {
      reads.collections.add(collection.name)
      return effect
    })
  const stream = <B, E>(all: Stream.Stream<B, E>) => Stream.unwrap(many(Effect.succeed(all)))
  const row = (id: string | undefined) =>
    Effect.sync(() => {
      if (id !== undefined) reads.documents.add(keyOf(collection.name, id))
    })
  return {
    ...collection,
    get: (id, options) => one(id, collection.get(id, options)),
    version: (id) => one(id, collection.version(id)),
    exists: (id) => one(id, collection.exists(id)),
    history: (id, options) => one(id, collection.history(id, options)),
    list: (options) => many(collection.list(options)),
    count: many(collection.count),
    all: (options) => stream(collection.all(options)),
    find: (predicate, options) => stream(collection.find(predicate, options)),
    findBy: (field, value, options) => many(collection.findBy(field, value, options)),
    page: (options) => many(collection.page(options)),
    pages: (options) => stream(collection.pages(options)),
    explain: (field, value) => many(collection.explain(field, value)),
    exportExcel: (destination, options) => many(collection.exportExcel(destination, options)),
    exportText: (destination, format, options) => many(collection.exportText(destination, format, options)),
    insert: (document, options) =>
      options?.id === undefined
        ? collection.insert(document, options)
        : one(options.id, collection.insert(document, options)),
    update: (id, patch, options) => one(id, collection.update(id, patch, options)),
    replace: (id, document, options) => one(id, collection.replace(id, document, options)),
    upsert: (id, document, options) => one(id, collection.upsert(id, document, options)),
    delete: (id, options) => one(id, collection.delete(id, options)),
    restore: (id, commitSha, options) => one(id, collection.restore(id, commitSha, options)),
    importRecords: (records, options) =>
      collection
        .importRecords(records, {
          ...options,
          onRow: (told) => Effect.zipRight(row(told.id), options?.onRow?.(told) ?? Effect.void)
        })
        // Which documents were looked at before a failure is not told by rows.
        .pipe(Effect.tapErrorCause(() => many(Effect.void)))
  }
}

const rememberingBatch = (batch: Batch, reads: Reads): Batch => {
  const touch = <B, E>(collection: string, id: string, effect: Effect.Effect<B, E>) =>
    Effect.suspend(() => {
      reads.documents.add(keyOf(collection, id))
      return effect
    })
  return {
    ...batch,
    put: (collection, id, document) => touch(collection, id, batch.put(collection, id, document)),
    insert: (collection, document, options) =>
      options?.id === undefined
        ? batch.insert(collection, document)
        : touch(collection, options.id, batch.insert(collection, document, options)),
    delete: (collection, id) => touch(collection, id, batch.delete(collection, id)),
    expect: (collection, id, expectation) => touch(collection, id, batch.expect(collection, id, expectation))
  }
}

/** A store whose reads and writes are remembered; `message` is what its batches say by default. */
export const makeFace = (
  store: OpenStore,
  reads: Reads,
  message: string | undefined
): Pick<Transaction, "collection" | "batch"> =>
  guardTransaction({
    collection: <A, I extends object>(name: string, schema?: Schema.Schema<A, I>) =>
      schema === undefined
        ? (guardCollection(remembering(store.collection(name), reads)) as never)
        : (guardCollection(remembering(store.collection(name, schema), reads)) satisfies Collection<
            Typed<A>,
            A
          >),
    batch: <A, E, R>(options: BatchOptions, body: (batch: Batch) => Effect.Effect<A, E, R>) =>
      store.batch({ ...options, message: options.message ?? message }, (batch) =>
        runBody("Transaction.batch", body, guardBatch(rememberingBatch(batch, reads)))
      )
  })

import { PassThrough } from "node:stream"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Exit, Fiber, FastCheck as fc, Stream, TestClock } from "effect"
import { fromAsyncIterable } from "../../../src/store/transfer/FromAsyncIterable.js"

class Failed {
  readonly _tag = "Failed"
  constructor(readonly cause: unknown) {}
}

const read = <A>(source: AsyncIterable<A>) => fromAsyncIterable(source, (cause) => new Failed(cause))
const all = <A>(source: AsyncIterable<A>) =>
  Effect.map(Stream.runCollect(read(source)), Chunk.toReadonlyArray)

/** A source that tells how often it was given back, and how. */
const source = (
  next: (n: number) => Promise<IteratorResult<number>>,
  giveBack: () => Promise<IteratorResult<number>> = async () => ({ done: true, value: undefined })
) => {
  const told = { returned: 0 }
  let n = 0
  const iterable: AsyncIterable<number> = {
    [Symbol.asyncIterator]: () => ({
      next: () => next(n++),
      return: () => {
        told.returned++
        return giveBack()
      }
    })
  }
  return { iterable, told }
}

const value = (n: number): IteratorResult<number> => ({ done: false, value: n })
const stuck = () => new Promise<never>(() => {})

describe("fromAsyncIterable", () => {
  it.effect.prop(
    "gives what the source gives, in its order, and does not give back what has ended",
    [fc.array(fc.integer())],
    ([values]) =>
      Effect.gen(function* () {
        let returned = 0
        const iterable: AsyncIterable<unknown> = {
          [Symbol.asyncIterator]: () => {
            const iterator = values[Symbol.iterator]()
            return {
              next: async () => iterator.next(),
              return: async () => {
                returned++
                return { done: true, value: undefined }
              }
            }
          }
        }
        assert.deepStrictEqual(yield* all(iterable), values)
        assert.strictEqual(returned, 0)
      }),
    { fastCheck: { numRuns: 30 } }
  )

  it.effect("gives the source back where the reader stops, and waits for it", () =>
    Effect.gen(function* () {
      let closed = false
      async function* numbers() {
        try {
          for (let n = 0; ; n++) yield n
        } finally {
          await Promise.resolve()
          closed = true
        }
      }
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.take(read(numbers()), 3))),
        [0, 1, 2]
      )
      assert.isTrue(closed)
    })
  )

  it.effect("fails with what the source throws, wherever it does", () =>
    Effect.gen(function* () {
      const mine = new Error("mine")
      const failing = source(async (n) => {
        if (n === 2) throw mine
        return value(n)
      })
      assert.strictEqual((yield* Effect.flip(all(failing.iterable))).cause, mine)
      assert.strictEqual(failing.told.returned, 0)
      const unopened: AsyncIterable<number> = {
        [Symbol.asyncIterator]: () => {
          throw mine
        }
      }
      assert.strictEqual((yield* Effect.flip(all(unopened))).cause, mine)
    })
  )

  it.effect("is interrupted while the source is stuck, within a second", () =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      async function* numbers() {
        yield 1
        Deferred.unsafeDone(reached, Exit.void)
        await stuck()
      }
      const fiber = yield* Effect.fork(all(numbers()))
      yield* Deferred.await(reached)
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* Effect.yieldNow()
      yield* TestClock.adjust("1 second")
      assert.isTrue(Exit.isInterrupted(yield* Fiber.join(interrupting)))
    })
  )

  it.live("waits for a source that comes to the element it was asked for", () =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      let closed = false
      async function* numbers() {
        try {
          for (let n = 0; ; n++) {
            await new Promise((resolve) => setImmediate(resolve))
            if (n === 3) Deferred.unsafeDone(reached, Exit.void)
            yield n
          }
        } finally {
          closed = true
        }
      }
      const fiber = yield* Effect.fork(Stream.runDrain(read(numbers())))
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(closed)
    })
  )

  it.effect("asks a source that is stuck to end all the same", () =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      const asked = yield* Deferred.make<void>()
      const { iterable } = source(
        () => {
          Deferred.unsafeDone(reached, Exit.void)
          return stuck()
        },
        async () => {
          Deferred.unsafeDone(asked, Exit.void)
          return { done: true, value: undefined }
        }
      )
      const fiber = yield* Effect.fork(all(iterable))
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(yield* Deferred.isDone(asked))
    })
  )

  it.effect("does not wait longer than a second for a source that gives itself back", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const { iterable } = source(
        async (n) => value(n),
        () => {
          Deferred.unsafeDone(asked, Exit.void)
          return stuck()
        }
      )
      const fiber = yield* Effect.fork(Stream.runCollect(Stream.take(read(iterable), 2)))
      yield* Deferred.await(asked)
      yield* TestClock.adjust("900 millis")
      assert.isTrue((yield* Fiber.poll(fiber))._tag === "None")
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(fiber)), [0, 1])
    })
  )

  it.effect("does not fail where giving back does", () =>
    Effect.gen(function* () {
      const { iterable, told } = source(
        async (n) => value(n),
        () => Promise.reject(new Error("cannot close"))
      )
      yield* Stream.runDrain(Stream.take(read(iterable), 1))
      assert.strictEqual(told.returned, 1)
    })
  )

  it.live("destroys a Node stream that is stuck", () =>
    Effect.gen(function* () {
      const stream = new PassThrough({ objectMode: true })
      stream.write(1)
      const first = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        Stream.runForEach(read(stream), () => Deferred.succeed(first, undefined))
      )
      yield* Deferred.await(first)
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      yield* Effect.async<void>((done) => {
        if (stream.closed) done(Effect.void)
        else stream.once("close", () => done(Effect.void))
      })
      assert.isTrue(stream.destroyed)
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Exit, Fiber, FastCheck as fc, Stream } from "effect"
import * as Streams from "../../../src/domain/concurrency/Streams.js"

type Run = (
  stream: Stream.Stream<number, string>,
  use: (items: ReadonlyArray<number>) => Effect.Effect<void, string>
) => Effect.Effect<void, string>

const effects: Run = (stream, use) =>
  Stream.runForEachChunk(stream, (items) => use(Chunk.toReadonlyArray(items)))

const defect = new Error("a defect")
const bad = Effect.die(defect)
const nothing = () => Effect.void

const endings: ReadonlyArray<
  readonly [string, Stream.Stream<number, string>, (n: number) => Effect.Effect<void, string>]
> = [
  ["two items", Stream.make(1, 2), nothing],
  ["no items", Stream.empty, () => bad],
  ["a failure after an item", Stream.concat(Stream.make(1), Stream.fail("failed")), nothing],
  ["a defect after an item", Stream.concat(Stream.make(1), Stream.die(defect)), nothing],
  ["an action that fails", Stream.make(1, 2), () => Effect.fail("failed")],
  ["an action that dies", Stream.make(1, 2), () => bad],
  ["a finalizer that dies", Stream.ensuring(Stream.make(1), bad), nothing],
  ["a failure and a finalizer that dies", Stream.ensuring(Stream.fail("failed"), bad), nothing],
  [
    "an action that fails and a finalizer that dies",
    Stream.ensuring(Stream.make(1), bad),
    () => Effect.fail("failed")
  ]
]

/** What a run does: the exit, the items that the action saw, and the exits that the finalizers saw. */
const traced = (
  run: Run,
  stream: Stream.Stream<number, string>,
  use: (n: number) => Effect.Effect<void, string>
) =>
  Effect.gen(function* () {
    const events: Array<unknown> = []
    const bracketed = Stream.acquireRelease(Effect.void, (_, exit) =>
      Effect.sync(() => events.push(exit))
    ).pipe(
      Stream.flatMap(() => stream),
      Stream.ensuring(Effect.sync(() => events.push("ensured")))
    )
    const exit = yield* Effect.exit(
      run(bracketed, (items) =>
        Effect.forEach(
          items,
          (n) =>
            Effect.zipRight(
              Effect.sync(() => events.push(n)),
              use(n)
            ),
          {
            discard: true
          }
        )
      )
    )
    return [...events, exit]
  })

describe("a stream that runs in the calling fiber", () => {
  for (const [title, stream, use] of endings) {
    it.effect(`ends as Effect runs it: ${title}`, () =>
      Effect.gen(function* () {
        const events = yield* traced(Streams.forEachChunk, stream, use)
        assert.deepStrictEqual(JSON.stringify(events), JSON.stringify(yield* traced(effects, stream, use)))
      })
    )
  }

  for (const where of ["the stream", "the action"]) {
    it.effect(`is interrupted in ${where}: the finalizer runs once`, () =>
      Effect.gen(function* () {
        let finalized = 0
        const waits = yield* Deferred.make<void>()
        const wait = Effect.zipRight(Deferred.succeed(waits, undefined), Effect.never)
        const stream = where === "the stream" ? Stream.fromEffect(wait) : Stream.make(1)
        const fiber = yield* Effect.fork(
          Streams.forEach(
            Stream.ensuring(
              stream,
              Effect.sync(() => finalized++)
            ),
            () => wait
          )
        )
        yield* Deferred.await(waits)
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
        assert.strictEqual(finalized, 1)
      })
    )
  }

  it.effect("100,000 chunks do not deepen the stack", () =>
    Effect.gen(function* () {
      const chunks = Stream.rechunk(Stream.range(1, 100_000), 1)
      assert.lengthOf(yield* Streams.collect(chunks), 100_000)
    })
  )
})

it.effect("streams run one after the other, none and one too", () =>
  Effect.gen(function* () {
    const two = [Stream.make(1, 2), Stream.make(3)]
    for (const streams of [[], two.slice(1), two, [...two, Stream.empty, ...two]]) {
      const items = yield* Effect.forEach(streams, Streams.collect)
      assert.deepStrictEqual(yield* Streams.collect(Streams.concatAll(streams)), items.flat())
    }
  })
)

const pieces = fc.array(fc.array(fc.integer(), { maxLength: 20 }), { maxLength: 10 })

describe("rechunk", () => {
  it.effect.prop(
    "makes the chunks of Stream.rechunk",
    [pieces, fc.integer({ min: 1, max: 12 }), fc.boolean()],
    ([pieces, size, fails]) =>
      Effect.gen(function* () {
        const given = Stream.concat(
          Stream.fromChunks(...pieces.map(Chunk.unsafeFromArray)),
          fails ? Stream.fail("failed") : Stream.empty
        )
        const chunksOf = (stream: Stream.Stream<number, string>) =>
          Effect.gen(function* () {
            const seen: Array<ReadonlyArray<number>> = []
            const exit = yield* Effect.exit(
              Streams.forEachChunk(stream, (items) => Effect.sync(() => void seen.push([...items])))
            )
            return [seen, Exit.isSuccess(exit)]
          })
        const stream = Streams.rechunk(given, size)
        const expected = yield* chunksOf(Stream.rechunk(given, size))
        assert.deepStrictEqual(yield* chunksOf(stream), expected)
        assert.deepStrictEqual(yield* chunksOf(stream), expected, "the second time")
      })
  )

  it.effect("a full chunk does not wait for more items", () =>
    Effect.gen(function* () {
      const events: Array<number | string> = []
      const asked = Stream.fromEffect(Effect.sync(() => events.push("asked for more")))
      const given = Stream.concat(Stream.make(1, 2), Stream.drain(asked))
      yield* Streams.forEach(Streams.rechunk(given, 2), (n) => Effect.sync(() => void events.push(n)))
      assert.deepStrictEqual(events, [1, 2, "asked for more"])
    })
  )

  it.effect("splits a chunk of 300,000 items", () =>
    Effect.gen(function* () {
      const items = Array.from({ length: 300_000 }, (_, at) => at)
      const stream = Streams.rechunk(Streams.fromArray(items), 1)
      assert.strictEqual(yield* Stream.runCount(stream), items.length)
    })
  )
})

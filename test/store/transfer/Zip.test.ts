import * as zlib from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Exit, Fiber, FastCheck as fc, Sink, Stream } from "effect"
import { unzipSync } from "fflate"
import { writeXlsx } from "../../../src/store/index.js"
import { encodeZip } from "../../../src/store/transfer/Zip.js"

const bytesOf = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Effect.map(Stream.runCollect(stream), (chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)))

describe("Zip", () => {
  it.effect.prop(
    "an archive holds its files, and says their sums and sizes",
    [fc.array(fc.array(fc.fullUnicodeString()), { maxLength: 4 })],
    ([contents]) =>
      Effect.gen(function* () {
        const files = contents.map((parts, n) => ({
          name: `a/${n}é.txt`,
          content: Stream.fromIterable(parts)
        }))
        const bytes = yield* bytesOf(encodeZip(files))
        const found = unzipSync(bytes)
        assert.deepStrictEqual(
          Object.entries(found).map(([name, content]) => [name, new TextDecoder().decode(content)]),
          contents.map((parts, n) => [`a/${n}é.txt`, parts.join("").toWellFormed()])
        )
        const last = Object.values(found).at(-1)
        if (last === undefined) return
        const entry = bytes.lastIndexOf(Buffer.from("PK\u0001\u0002"))
        assert.strictEqual(bytes.readUInt32LE(entry + 16), zlib.crc32(last))
        assert.strictEqual(bytes.readUInt32LE(entry + 24), last.length)
        assert.strictEqual(bytes.readUInt32LE(bytes.readUInt32LE(entry + 42)), 0x04034b50)
      }),
    { fastCheck: { numRuns: 40 } }
  )

  it.effect("is refused where its numbers would not hold it", () =>
    Effect.gen(function* () {
      const long = { name: "a", content: Stream.make("x".repeat(5_000)) }
      const error = yield* Effect.flip(bytesOf(encodeZip([long], 4_000)))
      assert.include(error.message, "a workbook has at most 4000 bytes")
      assert.isAbove((yield* bytesOf(encodeZip([long], 5_001))).length, 0)
    })
  )

  it.live("rows that fail in the middle fail the writing with their own error", () =>
    Effect.gen(function* () {
      const rows = Stream.concat(
        Stream.fromIterable(Array.from({ length: 20_000 }, (_, n) => ({ n, text: "some text" }))),
        Stream.fail("mine" as const)
      )
      const error = yield* Effect.flip(writeXlsx(Sink.drain, rows, { columns: ["n", "text"] }))
      assert.strictEqual(error, "mine")
    })
  )

  it.live("a writing that is interrupted ends, and lets its rows go", () =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      let released = false
      const rows = Stream.concat(
        Stream.make({ n: 1 }),
        Stream.fromEffect(
          Deferred.succeed(reached, undefined).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Effect.sync(() => (released = true)))
          )
        )
      )
      const fiber = yield* Effect.fork(writeXlsx(Sink.drain, rows, { columns: ["n"] }))
      yield* Deferred.await(reached)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      assert.isTrue(released)
    })
  )
})

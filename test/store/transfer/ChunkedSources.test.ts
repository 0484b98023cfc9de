import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, FastCheck as fc, Stream } from "effect"
import { fromCsv } from "../../../src/store/transfer/FromCsv.js"
import { fromNdjson } from "../../../src/store/transfer/FromJson.js"
import { inChunks } from "../../support/inChunks.js"

const shred = (text: string, sizes: ReadonlyArray<number>) => inChunks(new TextEncoder().encode(text), sizes)

const outcome = <A, E>(stream: Stream.Stream<A, E>) =>
  Effect.either(
    Effect.map(Stream.runCollect(stream), (all): unknown =>
      JSON.parse(JSON.stringify(Chunk.toReadonlyArray(all)))
    )
  )

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 })
const text = (parts: ReadonlyArray<string>) =>
  fc.array(fc.constantFrom(...parts), { maxLength: 25 }).map((all) => all.join(""))

describe("the same text in other pieces gives the same records", () => {
  it.effect.prop(
    "NDJSON, any line end",
    [
      fc.array(
        fc.tuple(
          fc.dictionary(fc.string({ maxLength: 3 }), fc.string({ unit: "grapheme", maxLength: 4 }), {
            maxKeys: 3
          }),
          fc.constantFrom("\n", "\r\n", "\r\r\n", "\n\n", "\r \n")
        ),
        { maxLength: 6 }
      ),
      sizes
    ],
    ([lines, cut]) =>
      Effect.gen(function* () {
        const whole = lines.map(([document, end]) => JSON.stringify(document) + end).join("")
        const read = yield* outcome(fromNdjson(shred(whole, cut)))
        assert.deepStrictEqual(read, yield* outcome(fromNdjson(whole)))
        assert.deepStrictEqual(
          read._tag === "Right" ? read.right : read.left,
          lines.map(([document]): unknown => JSON.parse(JSON.stringify(document)))
        )
      }),
    { fastCheck: { numRuns: 200 } }
  )

  for (const [name, parts] of [
    ["with quotes anywhere", ["a", "b", ",", '"', "\n", "\r", "\r\n", " ", "é", "\u{1f600}", "\ufeff"]],
    ["without quotes", ["a", "b", ",", "\n", "\r", "\r\n", " ", "é", "\u{1f600}"]]
  ] as const) {
    it.effect.prop(
      `CSV, any text ${name}`,
      [text(parts), sizes],
      ([rest, cut]) =>
        Effect.gen(function* () {
          const whole = yield* outcome(fromCsv(`x,y\n${rest}`))
          const pieces = yield* outcome(fromCsv(shred(`x,y\n${rest}`, cut)))
          assert.strictEqual(pieces._tag, whole._tag)
          if (whole._tag === "Right") assert.deepStrictEqual(pieces, whole)
        }),
      { fastCheck: { numRuns: 300 } }
    )
  }
})

import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { JsonScanner } from "../../../src/http/host/request/JsonScanner.js"
import { inChunks } from "../../support/inChunks.js"

const scanned = (bytes: Uint8Array, sizes: ReadonlyArray<number>, longest: number, piece: number) => {
  const scanner = new JsonScanner(longest, piece)
  const taken: Array<Buffer> = []
  for (const chunk of inChunks(bytes, sizes)) {
    scanner.push(chunk)
    taken.push(...scanner.take())
  }
  const { extractOf, text } = scanner.end()
  const all = Buffer.concat(taken)
  return { text, extractOf, of: (start: number, end: number) => all.toString("utf8", start, end) }
}

/** A string that UTF-8 can represent: an unpaired surrogate cannot be part of a file. */
const wellFormed = (value: string) => Buffer.from(value).toString()

/** Parses a JSON text by extracting its long strings and inserting them again. */
const read = (...given: Parameters<typeof scanned>): unknown => {
  const { extractOf, of, text } = scanned(...given)
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== "string") return value
    const extract = extractOf(value)
    return extract === undefined ? wellFormed(value) : of(extract.start, extract.end)
  })
}

const parsed = (bytes: Uint8Array): unknown =>
  JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), (_, value: unknown) =>
    typeof value === "string" ? wellFormed(value) : value
  )

/** The same, or that the text is not JSON. */
const meaning = (run: () => unknown): unknown => {
  try {
    return { value: run() }
  } catch {
    return "no JSON"
  }
}

const character = fc.oneof(
  fc.constantFrom("\\", '"', "\n", "\u0000", "\u007f", "é", "€", "\u{1F4A9}", "/", "A"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 })
)
const text = fc.array(character, { maxLength: 40 }).map((all) => all.join(""))
const escapes = fc.constantFrom<(json: string) => string>(
  (json) => json,
  // Escapes all characters that are not ASCII as \uXXXX, so that surrogates are written separately.
  (json) => json.replace(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`),
  (json) => json.replaceAll("/", "\\/").replaceAll("A", "\\u0041")
)
const document = fc
  .tuple(
    fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        text,
        fc.double({ noNaN: true }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(
          text.filter((key) => key.length < 3 && key !== "__proto__"),
          tie("value"),
          { maxKeys: 4 }
        )
      )
    })).value,
    escapes,
    fc.constantFrom(undefined, 1)
  )
  .map(([value, escape, space]) =>
    Buffer.from(escape(JSON.stringify(value, undefined, space)).replaceAll("\\ud", "\\uD"))
  )
const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 })
/** Longer than any escaped name, so that names are not extracted. */
const longest = fc.integer({ min: 30, max: 50 })
const piece = fc.integer({ min: 1, max: 12 })

describe("a JSON text that arrives in pieces", () => {
  it("means the same without its long strings, wherever it is cut", () => {
    fc.assert(
      fc.property(document, sizes, longest, piece, (bytes, cuts, most, least) => {
        assert.deepStrictEqual(read(bytes, cuts, most, least), parsed(bytes))
      }),
      { numRuns: 2_000 }
    )
  })

  it("is refused if it is not JSON or not UTF-8, and only then", () => {
    fc.assert(
      fc.property(
        document,
        fc.array(
          fc.tuple(fc.nat(), fc.constantFrom(0x22, 0x5c, 0x75, 0x0a, 0x2c, 0x7d, 0x80, 0xc3, 0xf0, 0x30)),
          {
            minLength: 1,
            maxLength: 3
          }
        ),
        sizes,
        longest,
        piece,
        (bytes, edits, cuts, most, least) => {
          const edited = Buffer.from(bytes)
          for (const [at, byte] of edits) edited[at % edited.length] = byte
          assert.deepStrictEqual(
            meaning(() => read(edited, cuts, most, least)),
            meaning(() => parsed(edited))
          )
        }
      ),
      { numRuns: 5_000 }
    )
  })

  it("keeps no more of a long string than a piece", () => {
    const scanner = new JsonScanner(1_000, 100)
    scanner.push(Buffer.from('{"content":"'))
    for (let chunk = 0; chunk < 1_000; chunk++) {
      scanner.push(Buffer.alloc(50, "\\n"))
      assert.isBelow(scanner.plainBytes, 1_100)
      scanner.take()
    }
    scanner.push(Buffer.from('"}'))
    const { extractOf, text: left } = scanner.end()
    assert.isBelow(left.length, 100)
    const extract = extractOf(JSON.parse(left).content)
    assert.deepInclude(extract, { start: 0, end: 25_000 })
  })
})

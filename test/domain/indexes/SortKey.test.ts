import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as fc from "fast-check"
import {
  afterPrefix,
  type Direction,
  descending,
  equalKeyRange,
  type SortValue,
  sortKey,
  textPrefixKey,
  tupleSortKey
} from "../../../src/domain/indexes/SortKey.js"
import { encodeInline } from "../../../src/domain/json/CanonicalJson.js"
import type { Json } from "../../../src/domain/json/Json.js"
import { equalJson } from "../../../src/domain/json/JsonEquality.js"
import { compareValues, JsonOrder } from "../../../src/domain/json/JsonOrder.js"
import { type LosslessJson, parseLossless } from "../../../src/domain/json/LosslessJson.js"
import { LosslessNumber } from "../../../src/domain/json/NumberText.js"

const settings = { seed: 20, numRuns: 4000 }

const big = 9007199254740993n
const number = fc.oneof(
  fc.constantFrom<number | LosslessNumber>(
    0,
    -0,
    1,
    -1,
    10,
    9,
    0.1,
    -0.1,
    1e21,
    1e-7,
    5e-324,
    -5e-324,
    Number.MAX_VALUE,
    -Number.MAX_VALUE,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    2 ** 53,
    new LosslessNumber("10.0"),
    new LosslessNumber("1e+16"),
    new LosslessNumber("-0.0")
  ),
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.bigInt({ min: -big * 4n, max: big * 4n }).map((value) => new LosslessNumber(String(value))),
  fc.bigInt({ min: -3n, max: 3n }).map((value) => new LosslessNumber(String(10n ** 40n + value)))
)
const text = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "ab",
    "A",
    "Z",
    "z",
    "{",
    "é",
    "e\u0301",
    "\ud800",
    "\udc00",
    "\ud800\udc00",
    "\uffff"
  ),
  fc.constantFrom("\ue000", "\0", "\0\0", "-", "--", "~", "0", "_", "/", "`", "@", ":", "[", "Zz", "aZ"),
  fc.string({ unit: "binary", maxLength: 4 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 3 })
    .map((units) => String.fromCharCode(...units))
)
const value = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, false),
    number,
    text,
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "ab", "__proto__", "10", "9", "𐀀", "\uffff"), tie("json"), {
      maxKeys: 3
    })
  )
})).json as fc.Arbitrary<LosslessJson>

const sign = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** What a reader makes of a stored value: its numbers are JavaScript's. */
const read = (stored: LosslessJson): Json => {
  if (stored instanceof LosslessNumber) return Number(stored.text)
  if (Array.isArray(stored)) return stored.map(read)
  return typeof stored === "object" && stored !== null
    ? Object.fromEntries(Object.entries(stored).map(([key, member]) => [key, read(member as LosslessJson)]))
    : (stored as Json)
}

/** The key of the negative of a number, by its key. */
const negative = (key: string) => `nm${descending(key.slice(2))}`

describe("the order of values", () => {
  it("is: null, false, true, numbers, texts by code point, lists, objects", () => {
    const sorted: ReadonlyArray<SortValue> = [
      undefined,
      null,
      false,
      true,
      Number.NEGATIVE_INFINITY,
      -1e300,
      -10,
      -9.5,
      -9,
      -1e-7,
      0,
      5e-324,
      0.1,
      0.25,
      9,
      10,
      10.5,
      new LosslessNumber("12345678901234567890"),
      new LosslessNumber("12345678901234567891"),
      1e300,
      Number.POSITIVE_INFINITY,
      "",
      "\0",
      "10",
      "9",
      "A",
      "Ab",
      "B",
      "a",
      "a\0",
      "aa",
      "é",
      "\uffff",
      "𐀀",
      [],
      [null],
      [1],
      [1, 2],
      ["a"],
      [[]],
      {},
      { a: 1 },
      { a: 1, b: 0 },
      { a: 2 },
      { b: null }
    ]
    for (let at = 1; at < sorted.length; at++) {
      const [a, b] = [sorted[at - 1], sorted[at]]
      assert.isBelow(compareValues(a, b), 0, JSON.stringify([a, b]))
      assert.isTrue(sortKey(a) < sortKey(b), JSON.stringify([sortKey(a), sortKey(b)]))
    }
    // JavaScript sorts what is undefined last, whatever the order says.
    assert.deepStrictEqual(sorted.slice(1).reverse().sort(JsonOrder), sorted.slice(1))
  })

  it("has the keys that docs/store.md shows: they lie in repositories", () => {
    const keys = [undefined, null, false, true, 0, 5, 12, 0.5, -5, "London", [1, "a"], { a: 1 }].map(sortKey)
    assert.strictEqual(
      keys.join(" "),
      "a b c d no np4015- np40212- np4005- nmuyxtz t_london-- vnp4011-ta--- wta--np4011--"
    )
    assert.strictEqual(sortKey("zZ:`-. é\uffff𐀀"), "tz0_z0_0_z6-2d-2e-20zc3za9zefz9fzbfzefza0z80zefzb0z80--")
    // The first and the last character of each length in UTF-8.
    assert.strictEqual(sortKey("\x7f\x80\u07ff\u0800"), "tz7fzc2z80zdfzbfze0za0z80--")
    assert.strictEqual(sortKey(Number.NaN), "nr")
    assert.strictEqual(sortKey(Number.POSITIVE_INFINITY) + sortKey(Number.NEGATIVE_INFINITY), "nqna")
    assert.strictEqual(tupleSortKey([1, "a"]), "np4011-ta--")
    assert.strictEqual(tupleSortKey([1, "a"], ["desc", "asc"]), "a9uyxxzta--")
  })

  it("has exact bounds of the integers that JavaScript does not tell apart", () => {
    const range = (value: LosslessJson) => equalKeyRange(value).join(" ")
    assert.strictEqual(range(2 ** 54 + 4), "np41718014398509481986- np4171801439850948199-")
    assert.strictEqual(
      range(-(2 ** 54) - 4),
      equalKeyRange(2 ** 54 + 4)
        .map(negative)
        .reverse()
        .join(" ")
    )
    // Below a power of two the integers lie closer than above it.
    assert.strictEqual(range(2 ** 54), "np41718014398509481983- np41718014398509481986-")
    const most = BigInt(Number.MAX_VALUE)
    const [below] = equalKeyRange(Number.MAX_VALUE)
    assert.strictEqual(below, sortKey(new LosslessNumber(String(most - 2n ** 970n))))
    assert.strictEqual(
      equalKeyRange(Number.MAX_VALUE)[1],
      sortKey(new LosslessNumber(String((most * 3n) / 2n)))
    )
    for (const exact of [1, 2 ** 53 - 1, 0.5, "9007199254740993", null, [2, "a"]] as const) {
      assert.deepStrictEqual(equalKeyRange(exact as LosslessJson), [
        sortKey(exact as LosslessJson),
        sortKey(exact as LosslessJson)
      ])
    }
    const [from, to] = equalKeyRange({ a: [2 ** 54] })
    assert.strictEqual(from, "wta--vnp41718014398509481983---")
    assert.strictEqual(to, "wta--vnp41718014398509481986---")
  })

  it("is that of the keys, and equal keys are equal values", () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        assert.strictEqual(JsonOrder(a, b), sign(sortKey(a), sortKey(b)))
        assert.strictEqual(JsonOrder(a, b), -JsonOrder(b, a) + 0)
        assert.match(sortKey(a), /^[-0-9_a-z]+$/)
        // What differs only beyond a JavaScript number's digits is one value for a query.
        if (JsonOrder(a, b) === 0) assert.isTrue(equalJson(read(a), read(b)))
        else if (equalJson(read(a), read(b))) assert.isTrue(/\d{16}/.test(print(a) + print(b)))
      }),
      settings
    )
  })

  it("of tuples is that of their keys, with every field in its own direction, and what follows it", () => {
    const component: fc.Arbitrary<SortValue> = fc.option(value, { nil: undefined, freq: 8 })
    const direction = fc.constantFrom<Direction>("asc", "desc")
    const tuples = fc
      .tuple(direction, direction)
      .chain((directions) =>
        fc.tuple(
          fc.constant(directions),
          fc.tuple(component, component, fc.string({ unit: "grapheme-ascii", maxLength: 2 })),
          fc.tuple(component, component, fc.string({ unit: "grapheme-ascii", maxLength: 2 })),
          fc.boolean()
        )
      )
    fc.assert(
      fc.property(tuples, ([directions, a, [b0, b1, b2], same]) => {
        const b = [same ? a[0] : b0, b1, b2] as const
        const key = ([one, two, id]: readonly [SortValue, SortValue, string]) =>
          tupleSortKey([one, two], directions) + textPrefixKey(id)
        const order = (at: 0 | 1) => JsonOrder(a[at], b[at]) * (directions[at] === "desc" ? -1 : 1)
        const expected = order(0) || order(1) || JsonOrder(a[2], b[2])
        assert.strictEqual(sign(key(a), key(b)), expected + 0)
      }),
      settings
    )
  })

  it("puts all texts that begin with a prefix between its key and the end of it", () => {
    fc.assert(
      fc.property(text, text, (prefix, other) => {
        const key = sortKey(other)
        const within = key >= textPrefixKey(prefix) && key < afterPrefix(textPrefixKey(prefix))
        assert.strictEqual(within, other.startsWith(prefix))
        assert.isTrue(within || key < textPrefixKey(prefix) || key > afterPrefix(textPrefixKey(prefix)))
      }),
      settings
    )
  })

  it("puts every stored value that reads as another one between its equal keys", () => {
    const wide = (member: LosslessJson) => JSON.stringify(equalKeyRange(member))
    fc.assert(
      fc.property(value, (stored) => {
        const [from, to] = equalKeyRange(read(stored))
        assert.isTrue(from <= sortKey(stored) && sortKey(stored) <= to, wide(stored))
        if (!/\d{16}|e\+/.test(print(stored))) assert.strictEqual(from, to)
      }),
      settings
    )
    assert.strictEqual(descending(descending("n5012-")), "n5012-")
  })

  it("has one key for every spelling of a number in a file", () => {
    const keyIn = (spelled: string) =>
      sortKey(Either.getOrThrow(parseLossless(new TextEncoder().encode(`{"f": ${spelled}}`)))["f"])
    for (const same of [
      ["1", "1.0", "1e0", "10e-1", "0.1E+1"],
      ["0", "-0", "-0.0", "0e9"],
      ["12345678901234567890", "12345678901234567890"],
      ["-1.50", "-1.5", "-15e-1"]
    ]) {
      assert.strictEqual(new Set(same.map(keyIn)).size, 1, same.join(" "))
    }
    assert.notStrictEqual(keyIn("12345678901234567890"), keyIn("12345678901234567891"))
  })
})

function print(stored: LosslessJson): string {
  return Either.getOrElse(encodeInline(stored), () => "1e+999")
}

import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as fc from "fast-check"
import { indexKeysOf, lookupKeys } from "../../../src/domain/indexes/IndexKey.js"
import { encode } from "../../../src/domain/json/CanonicalJson.js"
import type { Json } from "../../../src/domain/json/Json.js"
import { equalJson, fieldMatches } from "../../../src/domain/json/JsonEquality.js"
import { parseObject } from "../../../src/domain/json/JsonText.js"
import { parseLossless } from "../../../src/domain/json/LosslessJson.js"

const leaf: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    0,
    -0,
    1,
    "1",
    "0",
    "",
    null,
    true,
    "null",
    "[]",
    "{}",
    1e21,
    1e16,
    1.5,
    1e-7,
    "\ud800",
    "𐀀",
    "\uffff",
    123456789012345680000
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.string({ unit: "binary" })
)
const value = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom("a", "b", "__proto__", "constructor", "10", "9", "𐀀", "\uffff"),
      tie("json"),
      { maxKeys: 3 }
    )
  )
})).json as fc.Arbitrary<Json>

const stored = (json: Json): Json => {
  const content = Either.getOrThrow(encode({ f: json }))
  return Either.getOrThrow(parseObject(content))["f"]!
}

const found = (field: Json, query: Json) => {
  const keys = lookupKeys(query, new Map(indexKeysOf(field).map((key) => [key, []])))
  return keys === undefined || indexKeysOf(field).some((key) => keys.includes(key))
}

const variant = (json: Json): Json => {
  if (Object.is(json, -0)) return 0
  if (json === 0) return -0
  if (Array.isArray(json)) return json.map(variant)
  if (typeof json === "object" && json !== null)
    return Object.fromEntries(
      Object.entries(json)
        .reverse()
        .map(([k, v]) => [k, variant(v)])
    )
  return json
}

describe("keys", () => {
  it("an index finds whatever the scan finds", () => {
    fc.assert(
      fc.property(value, value, fc.nat(4), (field, other, how) => {
        const document = stored(field)
        const query =
          how === 0
            ? variant(document)
            : how === 1
              ? other
              : Array.isArray(document) && document.length > 0
                ? variant(document[how % document.length]!)
                : stored(field)
        if (fieldMatches(document, query))
          assert.isTrue(found(document, query), JSON.stringify([document, query]))
      }),
      { numRuns: 5000 }
    )
  })
  it("what is stored is what is read, in canonical bytes", () => {
    fc.assert(
      fc.property(value, (field) => {
        const once = Either.getOrThrow(encode({ f: field }))
        const again = Either.getOrThrow(encode(Either.getOrThrow(parseObject(once))))
        assert.deepStrictEqual(Buffer.from(again).toString(), Buffer.from(once).toString())
      }),
      { numRuns: 5000 }
    )
  })

  it("are those that Python gives the same file, in every spelling of a number", () => {
    const digits = fc.oneof(
      fc.stringMatching(/^(0|[1-9]\d{0,8})$/),
      fc.bigInt({ min: 10n ** 15n, max: 10n ** 21n }).map(String),
      fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 5n }).map(String)
    )
    const fraction = fc.stringMatching(/^\.\d{1,3}0{0,3}$/)
    const exponent = fc.stringMatching(/^[eE][+-]?\d{1,2}$/)
    const maybe = (part: fc.Arbitrary<string>) => fc.oneof(fc.constant(""), part)
    const number = fc
      .tuple(fc.constantFrom("", "-"), digits, maybe(fraction), maybe(exponent))
      .map((parts) => parts.join(""))
    const field = fc.oneof(
      number,
      fc.array(number, { maxLength: 3 }).map((items) => `[${items.join(" ,")}]`),
      fc.tuple(number, number).map(([a, b]) => `{"b":${a}, "__proto__":[${b}], "text": "1.0, -0"}`),
      fc.tuple(number, number).map(([a, b]) => `[[${a}\n], {"a": ${b}}]`)
    )
    const files = fc.sample(field, { numRuns: 2000 }).map((text) => `{"f":${text}}`)
    const script = `import json, sys
key = lambda v: v if isinstance(v, str) else json.dumps(v, sort_keys=True, ensure_ascii=False)
keys = lambda v: list(dict.fromkeys(map(key, v))) if isinstance(v, list) else [key(v)]
print(json.dumps([keys(json.loads(text)["f"]) for text in json.load(sys.stdin)]))`
    const expected = JSON.parse(
      execFileSync("python3", ["-c", script], { input: JSON.stringify(files) }).toString()
    )
    files.forEach((file, at) => {
      const document = Either.getOrThrow(parseLossless(new TextEncoder().encode(file)))
      assert.deepStrictEqual(indexKeysOf(document["f"]), expected[at], file)
      const plain = Either.getOrThrow(parseObject(new TextEncoder().encode(file)))["f"]!
      const index = new Map((expected[at] as Array<string>).map((key) => [key, []]))
      const keys = lookupKeys(plain, index)
      if (Array.isArray(plain) && plain.length === 0) return assert.isUndefined(keys, file)
      assert.isTrue(
        keys!.some((key) => index.has(key)),
        file
      )
      const queries = [plain, ...(Array.isArray(plain) ? plain.slice(0, 1) : [])]
      for (const key of keys!.filter((one) => index.has(one))) {
        assert.isTrue(
          queries.some((query) => equalJson(JSON.parse(key), query)),
          `${file}: ${key}`
        )
      }
    })
  })

  it("are looked up in every spelling, and no others", () => {
    const index = (...keys: ReadonlyArray<string>) => new Map(keys.map((key) => [key, []]))
    const known = index(
      ...[
        "9007199254740991",
        "9007199254740992",
        "9007199254740993",
        "9007199254740994",
        "-9007199254740993"
      ],
      ...[
        "9007199254740992.0",
        " 9007199254740992",
        "+9007199254740992",
        "text",
        "1",
        "1.0",
        "1.5",
        "-1",
        "[1.0]"
      ],
      ...['["1"]', "[1", "[2]", '{"a": 1.0}', '{"a": 2}', '{"a": [1]}', '{"a"', "null"]
    )
    const cases: ReadonlyArray<readonly [query: Json, found: ReadonlyArray<string>]> = [
      [2 ** 53, ["9007199254740992", "9007199254740992.0", "9007199254740993"]],
      [-(2 ** 53), ["-9007199254740993"]],
      [2 ** 53 - 1, ["9007199254740991"]],
      [1, ["1", "1.0"]],
      [1.5, ["1.5"]],
      [-1, ["-1"]],
      ["text", ["text"]],
      ["1", ["1"]],
      [null, ["null"]],
      [[1], ["1", "1.0", "[1.0]"]],
      [["1"], ['["1"]', "1"]],
      [[2, 3], []],
      [{ a: 1 }, ['{"a": 1.0}']],
      [{ a: "1" }, []]
    ]
    for (const [query, expected] of cases) {
      const keys = lookupKeys(query, known)!
      for (const key of typeof query === "string" ? [] : keys.filter((key) => !known.has(key))) {
        const spelled = JSON.parse(key)
        assert.isTrue(
          equalJson(spelled, query) || (Array.isArray(query) && equalJson(spelled, query[0])),
          key
        )
      }
      const found = keys.filter((key) => known.has(key))
      assert.deepStrictEqual([...found].sort(), [...expected].sort(), JSON.stringify(query))
    }
    assert.isUndefined(lookupKeys([], known))
    // Of a key that is not in the index the canonical spelling is returned.
    assert.deepStrictEqual(lookupKeys({ a: [7] }, index()), ['{"a": [7]}'])
    assert.deepStrictEqual(lookupKeys(true, index()), ["true"])
    assert.deepStrictEqual(lookupKeys([true, false], index()), ["[true, false]", "true"])
  })

  it("of a missing field are none, and of numbers that JSON does not have those of JavaScript", () => {
    assert.deepStrictEqual(indexKeysOf(undefined), [])
    assert.deepStrictEqual(indexKeysOf([]), [])
    assert.deepStrictEqual(indexKeysOf(["a", 1, "a", 1]), ["a", "1"])
    assert.deepStrictEqual(indexKeysOf(Number.POSITIVE_INFINITY), ["Infinity"])
    assert.deepStrictEqual(indexKeysOf({ a: Number.NaN }), ['{"a":null}'])
  })

  it("of a document that this store wrote are those of its file", () => {
    fc.assert(
      fc.property(value, (field) => {
        const content = Either.getOrThrow(encode({ f: field }))
        const document = Either.getOrThrow(parseLossless(content))
        assert.deepStrictEqual(indexKeysOf(document["f"]), indexKeysOf(field))
      }),
      { numRuns: 5000 }
    )
  })
})

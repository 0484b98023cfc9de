import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as fc from "fast-check"
import { tupleSortKey } from "../../../src/domain/indexes/SortKey.js"
import type { Json, JsonObject } from "../../../src/domain/json/Json.js"
import { compareValues } from "../../../src/domain/json/JsonOrder.js"
import { parseLossless } from "../../../src/domain/json/LosslessJson.js"
import { matcherOf, valuesIn } from "../../../src/domain/query/Matching.js"
import { idKey, orderOf, sortKeys, testsAt } from "../../../src/domain/query/Ordering.js"
import { always, anyOf, isAlways, type Predicate, pathsIn } from "../../../src/domain/query/Predicate.js"
import type { AnyWhere, Query } from "../../../src/domain/query/Query.js"
import { type CheckedQuery, readQuery } from "../../../src/domain/query/ReadQuery.js"
import { QueryProblem, readWhere } from "../../../src/domain/query/ReadWhere.js"
import { selectionOf } from "../../../src/domain/query/Selection.js"
import { parseWhere } from "../../../src/domain/query/WhereText.js"

const settings = { seed: 19, numRuns: 3000 }

const scalar = fc.constantFrom<Json>(
  null,
  false,
  true,
  -1,
  0,
  0.5,
  1,
  10,
  2 ** 60,
  "",
  "a",
  "ab",
  "b",
  "é",
  "1"
)
const value: fc.Arbitrary<Json> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  fc.array(scalar, { maxLength: 3 }),
  fc.constantFrom<Json>({ x: 1 }, { x: 1, y: "a" }, [[1], 1], [{ x: 1 }])
)
const path = fc.constantFrom("f", "g", "n.x", "d.x")
const document: fc.Arbitrary<JsonObject> = fc.record(
  { f: value, g: value, n: fc.oneof(value, fc.record({ x: value })), "d.x": value },
  { requiredKeys: [] }
) as fc.Arbitrary<JsonObject>

const bound = fc.constantFrom<number | string>(0, 0.5, 1, 2 ** 60, "", "a", "ab", "é")
const operands: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  is: value,
  isNot: value,
  in: fc.array(value, { maxLength: 3 }),
  lessThan: bound,
  atMost: bound,
  greaterThan: bound,
  atLeast: bound,
  startsWith: fc.constantFrom("", "a"),
  exists: fc.boolean()
}
// At most two: nothing satisfies many random comparisons of one field.
const comparisons = fc
  .uniqueArray(fc.constantFrom(...Object.keys(operands)), { minLength: 1, maxLength: 2 })
  .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, operands[name]!]))))
const where: fc.Arbitrary<AnyWhere> = fc.letrec<{ where: AnyWhere }>((tie) => ({
  where: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    {
      weight: 3,
      arbitrary: fc.dictionary(path, fc.oneof(scalar, comparisons), { maxKeys: 2 }) as fc.Arbitrary<AnyWhere>
    },
    fc.record({ and: fc.array(tie("where"), { maxLength: 2 }) }),
    fc.record({ or: fc.array(tie("where"), { maxLength: 2 }) }),
    fc.record({ not: tie("where") })
  )
})).where

const at = (document: JsonObject, path: string): Json | undefined => {
  if (document[path] !== undefined) return document[path]
  const [head, rest] = path.split(".")
  const inner = document[head!] as JsonObject | undefined
  if (rest === undefined || typeof inner !== "object" || inner === null || Array.isArray(inner)) {
    return rest === undefined ? inner : undefined
  }
  return inner[rest]
}

const naiveTest = (found: Json, operator: string, asked: any): boolean => {
  const equal = (a: Json) => compareValues(found, a) === 0
  if (operator === "is") return equal(asked)
  if (operator === "in") return asked.some(equal)
  if (operator === "startsWith") return typeof found === "string" && found.slice(0, asked.length) === asked
  if (typeof found !== typeof asked) return false
  const order = compareValues(found, asked)
  if (operator === "lessThan") return order < 0
  if (operator === "atMost") return order <= 0
  return operator === "greaterThan" ? order > 0 : order >= 0
}

/** What the documentation says, word by word. */
const naive = (where: AnyWhere, document: JsonObject): boolean =>
  Object.entries(where).every(([key, given]: [string, any]) => {
    if (key === "and") return given.every((one: AnyWhere) => naive(one, document))
    if (key === "or") return given.some((one: AnyWhere) => naive(one, document))
    if (key === "not") return !naive(given, document)
    const found = at(document, key)
    const values = found === undefined ? [] : Array.isArray(found) ? [found, ...found] : [found]
    const asked = typeof given === "object" && given !== null ? given : { is: given }
    const { exists, isNot, ...tests } = asked
    return (
      (exists === undefined || exists === (found !== undefined)) &&
      (!Object.hasOwn(asked, "isNot") || !values.some((one) => compareValues(one, isNot) === 0)) &&
      (Object.keys(tests).length === 0 ||
        values.some((one) => Object.entries(tests).every(([name, ask]) => naiveTest(one, name, ask))))
    )
  })

const read = (query: Query): CheckedQuery => Either.getOrThrow(readQuery(query))

describe("a condition", () => {
  it("means what a naive reading of it means", () => {
    fc.assert(
      fc.property(where, fc.array(document, { minLength: 12, maxLength: 12 }), (where, documents) => {
        assert.deepStrictEqual(
          documents.map(matcherOf(readWhere(where))),
          documents.map((document) => naive(where, document))
        )
      }),
      { ...settings, numRuns: 1500 }
    )
  })

  it("has one normal form, whatever the order of its parts", () => {
    const one = readWhere({ a: 1, or: [{ b: { in: [2, 1, 2] } }, { c: 3 }] })
    const other = readWhere({ or: [{ c: { is: 3 } }, { b: { in: [1, 2] } }], and: [{ a: 1 }] })
    assert.deepStrictEqual(one, other)
    assert.deepStrictEqual(readWhere({ a: { atMost: 5, is: 1 } }), readWhere({ a: { is: 1, atMost: 5 } }))
  })

  it("of equal values of one field is a choice of values", () => {
    const same: ReadonlyArray<readonly [AnyWhere, AnyWhere]> = [
      [{ or: [{ a: 1 }, { a: { in: [2, 3] } }, { a: 2 }] }, { a: { in: [1, 2, 3] } }],
      [{ or: [{ a: 1 }, { a: 1 }] }, { a: 1 }],
      [{ or: [{ a: 1 }, { or: [{ a: 2 }, { b: 1 }] }] }, { or: [{ a: { in: [1, 2] } }, { b: 1 }] }],
      [{ and: [{ a: 1 }, { and: [{ a: 1 }, { b: 1 }] }] }, { a: 1, b: 1 }],
      [{ not: { not: { a: 1 } } }, { a: 1 }],
      [{ and: [] }, {}]
    ]
    for (const [one, other] of same) assert.deepStrictEqual(readWhere(one), readWhere(other))
    const apart: ReadonlyArray<AnyWhere> = [
      { or: [{ a: 1 }, { a: { in: [2], lessThan: 5 } }] },
      { or: [{ a: 1 }, { a: { exists: true } }] },
      { or: [{ a: 1 }, { a: { startsWith: "x" } }] }
    ]
    for (const where of apart) assert.strictEqual(readWhere(where)._tag, "Or")
    const whole: Predicate = {
      _tag: "Field",
      path: "a.b",
      tests: [{ operator: "is", value: 1 }],
      whole: true
    }
    const nested = readWhere({ "a.b": 2 })
    assert.deepStrictEqual(anyOf([nested, whole]), { _tag: "Or", any: [whole, nested] })
  })

  it("with whole is of a member with the name of the path", () => {
    const whole = matcherOf({
      _tag: "Field",
      path: "a.b",
      tests: [{ operator: "lessThan", value: 2 }],
      whole: true
    })
    assert.deepStrictEqual([{ "a.b": 1 }, { a: { b: 1 } }, { "a.b": 2 }, {}].map(whole), [
      true,
      false,
      false,
      false
    ])
  })

  it("is not satisfied by a number beyond JavaScript's range, which counts as missing", () => {
    const document = JSON.parse('{"f": 1e400, "g": [1e400], "h": -1e400}') as JsonObject
    const wheres: ReadonlyArray<AnyWhere> = [
      { f: { greaterThan: 0 } },
      { f: { atLeast: 0 } },
      { g: { greaterThan: 0 } },
      { h: { lessThan: 0 } },
      { h: { atMost: 0 } },
      { f: { exists: true } },
      { g: { exists: true } }
    ]
    for (const where of wheres) {
      assert.isFalse(matcherOf(readWhere(where))(document), JSON.stringify(where))
    }
  })

  it("names its paths, and is known to be empty", () => {
    const where = { a: 1, or: [{ "b.c": { exists: true } }, { not: { d: 2, a: { lessThan: 1 } } }] }
    assert.deepStrictEqual([...pathsIn(readWhere(where))].sort(), ["a", "b.c", "d"])
    const empty = [{}, { or: [] }, { a: 1 }, { a: 1, b: 2 }, { not: {} }]
    assert.deepStrictEqual(
      empty.map((one) => isAlways(readWhere(one))),
      [true, false, false, false, false]
    )
    assert.isTrue(isAlways(always))
  })

  it("says what is wrong with it, and what to write", () => {
    const cases: ReadonlyArray<[unknown, RegExp, RegExp?]> = [
      [{ price: { atLeest: 1 } }, /where\.price\.atLeest is not an operator: did you mean atLeast\?/],
      [{ price: { $gte: 1 } }, /did you mean atLeast\?/],
      [{ price: { $startsWth: 1 } }, /did you mean startsWith\?/],
      [
        { price: { constructor: 1 } },
        /where\.price\.constructor is not an operator; the operators are is, isNot, in, lessThan,/
      ],
      [{ address: { city: "x" } }, /where\.address\.city is not an operator/, /"address\.city"/],
      [{ tags: ["a"] }, /where\.tags is a list/, /\{ in: \[\.\.\.\] \}/],
      [{ a: undefined }, /where\.a is undefined/, /exists: false/],
      [{ a: { is: undefined } }, /where\.a\.is is undefined/],
      [{ a: { in: [1, undefined] } }, /where\.a\.in\[1\] is undefined/],
      [{ a: {} }, /has no comparison/, /write one of is, isNot, in, /],
      [
        { a: { atLeast: true } },
        /must be a number or a text, it is a boolean/,
        /compare other values with is/
      ],
      [{ a: { startsWith: 5 } }, /where\.a\.startsWith must be a text, it is a number/],
      [{ a: { exists: 1 } }, /where\.a\.exists must be true or false, it is a number/],
      [{ a: { lessThan: Number.NaN } }, /where\.a\.lessThan is no JSON value/],
      [{ a: { is: { b: Number.NaN } } }, /where\.a\.is\.b is no JSON value/],
      [{ a: { is: [Number.NaN] } }, /where\.a\.is\[0\] is no JSON value/],
      [{ a: { in: "x" } }, /must be a list of values/],
      [{ or: { is: 1 } }, /must be a list of conditions/, /names of fields/],
      [{ or: [{ a: 1 }, 5] }, /where\.or\[1\] must be an object of conditions, it is a number/],
      [
        { or: Array(1001).fill({ a: 1 }) },
        /where\.or\[1000\]\.a is one comparison too many/,
        /ask several queries/
      ],
      [{ "": 1 }, /it is empty/],
      [{ a: () => 1 }, /it is a function/],
      [{ a: new Map() }, /where\.a must be a value or comparisons, it is an object/],
      [5, /must be an object of conditions/],
      [[], /must be an object of conditions, it is a list/]
    ]
    for (const [given, message, hint] of cases) {
      const found = readQuery({ where: given })
      assert.isTrue(Either.isLeft(found), String(message))
      const problem = Either.getOrThrow(Either.flip(found))
      assert.match(problem.message, message)
      if (hint !== undefined) assert.match(problem.hint ?? "", hint)
    }
    let deep: AnyWhere = { a: 1 }
    for (let level = 0; level < 100_000; level++) deep = { not: deep }
    assert.match(Either.getOrThrow(Either.flip(readQuery({ where: deep }))).message, /nested too deeply/)
    const cycle: any = {}
    cycle.and = [cycle]
    assert.match(Either.getOrThrow(Either.flip(readQuery({ where: cycle }))).message, /nested too deeply/)
  })

  it("may be as large as documented, and no larger", () => {
    const a1 = { a: 1 }
    const nots = (depth: number): AnyWhere => (depth === 0 ? a1 : { not: nots(depth - 1) })
    const doubled = (depth: number): AnyWhere => {
      const half = depth === 0 ? {} : doubled(depth - 1)
      return { and: [half, half] }
    }
    const sizes: ReadonlyArray<readonly [largest: unknown, larger: unknown, RegExp]> = [
      [nots(32), nots(33), /is nested too deeply: and, or, not are nested at most 32 levels deep/],
      [{ or: Array(1000).fill(nots(31)) }, { or: Array(1001).fill(a1) }, /at most 1000/],
      [{ a: { in: Array(1000).fill(1) } }, { a: { in: Array(1001).fill(1) } }, /has 1001 values/],
      [
        { a: "x".repeat(999_997), b: 1 },
        { a: "x".repeat(999_997), b: 10 },
        /where\.b is too large: the values of a query have at most 1000000 characters together/
      ],
      [{ ["p".repeat(4096)]: 1 }, { ["p".repeat(4097)]: 1 }, /has 4097 characters: a path has at most 4096/],
      [{ or: Array(32_999).fill({}) }, { or: Array(33_000).fill({}) }, /is one object too many/],
      [doubled(2), doubled(20), /is one object too many/]
    ]
    for (const [largest, larger, message] of sizes) {
      readWhere(largest)
      assert.throws(() => readWhere(larger), message)
    }
  })
})

describe("a query", () => {
  it("has defaults for its parts, and no two equal paths", () => {
    const none = {
      predicate: always,
      order: orderOf([]),
      limit: undefined,
      cursor: undefined,
      select: undefined
    }
    for (const query of [undefined, {}, { cursor: null }]) {
      assert.deepStrictEqual(Either.getOrThrow(readQuery(query)), none)
    }
    const query = { where: { a: 1 }, orderBy: "a", limit: 1, cursor: "c", select: ["a", "b", "a"] }
    assert.deepStrictEqual(Either.getOrThrow(readQuery(query)), {
      predicate: readWhere({ a: 1 }),
      order: orderOf([{ path: "a", order: "asc" }]),
      limit: 1,
      cursor: "c",
      select: ["a", "b"]
    })
    const orderBy = [{ field: "a" }, { field: "b", order: "desc" as const }]
    assert.deepStrictEqual(
      read({ orderBy }).order,
      orderOf([
        { path: "a", order: "asc" },
        { path: "b", order: "desc" }
      ])
    )
    const fields = Array.from({ length: 100 }, (_, at) => `f${at}`)
    const widest = Either.getOrThrow(readQuery({ orderBy: fields, select: fields }))
    assert.deepStrictEqual([widest.order.fields.length, widest.select], [100, fields])
  })

  it("says what is wrong with it, and what to write", () => {
    const fields = Array.from({ length: 101 }, (_, at) => `f${at}`)
    const unreadable = {
      get where() {
        throw new Error("no")
      }
    }
    const limit = "limit must be a whole number, at least 1"
    const cases: ReadonlyArray<readonly [unknown, string, string?]> = [
      [null, "query must be an object, it is null"],
      ["a", "query must be an object, it is a string"],
      [[], "query must be an object, it is a list"],
      [{ ordrBy: "a" }, "ordrBy is no part of a query: did you mean orderBy?"],
      [
        { something: 1 },
        "something is no part of a query; the parts are where, orderBy, limit, cursor, select"
      ],
      [{ limit: 0 }, limit],
      [{ limit: 1.5 }, limit],
      [{ limit: "1" }, limit],
      [{ cursor: 1 }, "cursor must be the cursor of the page before, it is a number"],
      [{ select: "a" }, "select must be a list of paths, it is a string"],
      [{ select: ["a", ""] }, "select[1] must be the path of a field, it is empty"],
      [{ select: fields }, "select has 101 fields: at most 100"],
      [{ orderBy: fields }, "orderBy has 101 fields: at most 100"],
      [{ orderBy: 5 }, "orderBy[0] must be the path of a field, it is a number"],
      [{ orderBy: ["a", null] }, "orderBy[1] must be the path of a field, it is null"],
      [{ orderBy: [["a"]] }, "orderBy[0] must be the path of a field, it is a list"],
      [{ orderBy: { field: 5 } }, "orderBy[0].field must be the path of a field, it is a number"],
      [{ orderBy: { field: "a", order: "down" } }, 'orderBy[0].order must be "asc" or "desc"'],
      [
        { orderBy: { field: "a", desc: true } },
        "orderBy[0].desc is unknown",
        'write "price" or { field: "price", order: "desc" }'
      ],
      [unreadable, "query cannot be read: Error: no"]
    ]
    for (const [given, message, hint] of cases) {
      const problem = Either.getOrThrow(Either.flip(readQuery(given)))
      assert.deepStrictEqual([problem.name, problem.message, problem.hint], ["QueryProblem", message, hint])
    }
  })
})

describe("an order", () => {
  it("has keys that sort as the values do, a list by its first element that the condition lets through", () => {
    const fields = fc.array(
      fc.record({ field: path, order: fc.constantFrom("asc" as const, "desc" as const) }),
      {
        minLength: 1,
        maxLength: 2
      }
    )
    fc.assert(
      fc.property(fields, document, document, where, (orderBy, a, b, where) => {
        const { order, predicate } = read({ orderBy, where })
        const alone = matcherOf
        const componentOf = (
          document: JsonObject,
          { order: direction, path }: (typeof order.fields)[number]
        ) => {
          const found = at(document, path)
          if (!Array.isArray(found) || found.length === 0) return found
          const conditions = (predicate._tag === "And" ? predicate.all : [predicate]).filter(
            (one) => one._tag === "Field" && one.path === path
          )
          const allowed =
            conditions.length === 1
              ? found.filter(
                  (one) =>
                    !Array.isArray(one) && alone(conditions[0]!)({ ...Object.fromEntries([[path, one]]) })
                )
              : []
          const elements = [...(allowed.length > 0 ? allowed : found)].sort(compareValues)
          return direction === "asc" ? elements[0] : elements.at(-1)
        }
        const keyOf = sortKeys(order, predicate)
        const expected = order.fields
          .map((field) => {
            const order = compareValues(componentOf(a, field), componentOf(b, field))
            return field.order === "asc" ? order : -order
          })
          .find((order) => order !== 0)
        const [left, right] = [keyOf(a, "x"), keyOf(b, "x")]
        assert.strictEqual(left < right ? -1 : left > right ? 1 : 0, Math.sign(expected ?? 0))
      }),
      settings
    )
  })
})

describe("an order of documents", () => {
  const asc = (path: string) => ({ path, order: "asc" as const })
  const desc = (path: string) => ({ path, order: "desc" as const })

  it("ends at the _id, which has the direction of the last field, and has each field once", () => {
    assert.deepStrictEqual(orderOf([]), { fields: [], ids: "asc" })
    assert.deepStrictEqual(orderOf([desc("a")]), { fields: [desc("a")], ids: "desc" })
    assert.deepStrictEqual(orderOf([asc("a"), desc("b")]), { fields: [asc("a"), desc("b")], ids: "desc" })
    assert.deepStrictEqual(orderOf([asc("a"), desc("_id"), asc("b")]), { fields: [asc("a")], ids: "desc" })
    assert.deepStrictEqual(orderOf([asc("a"), asc("b"), desc("a")]), {
      fields: [asc("a"), asc("b")],
      ids: "asc"
    })
  })

  it("has the keys of an index of its fields", () => {
    const keyOf = sortKeys(orderOf([asc("f"), desc("g"), asc("_id")]), always)
    const expected = tupleSortKey(["x", 5], ["asc", "desc"]) + idKey("a", "asc")
    assert.strictEqual(keyOf({ f: "x", g: 5 }, "a"), expected)
  })

  it("selects the element of a list by the only condition of its values", () => {
    const tests = [{ operator: "atLeast" as const, value: 2 }]
    assert.deepStrictEqual(testsAt(readWhere({ f: { exists: true, atLeast: 2 }, g: 1 }), "f"), tests)
    assert.deepStrictEqual(testsAt(readWhere({ f: { atLeast: 2 } }), "f"), tests)
    const none: ReadonlyArray<AnyWhere> = [
      {},
      { g: 1 },
      { f: { exists: true } },
      { not: { f: 1 } },
      { and: [{ f: { atLeast: 2 } }, { f: { atMost: 3 } }] }
    ]
    for (const where of none) assert.isUndefined(testsAt(readWhere(where), "f"), JSON.stringify(where))
  })

  it("has ids in both directions, those with a common beginning too", () => {
    const ids = ["a", "a-b", "a0", "aa", "b"]
    for (const direction of ["asc", "desc"] as const) {
      const keyOf = sortKeys({ fields: [asc("f")], ids: direction }, always)
      const found = [...ids].sort((a, b) => (keyOf({ f: 1 }, a) < keyOf({ f: 1 }, b) ? -1 : 1))
      assert.deepStrictEqual(found, direction === "asc" ? ids : [...ids].reverse())
    }
  })

  it("has the values of a field, those of a list one by one", () => {
    const text = '{"a": [1, "x", 1e400], "b": [], "c": null, "d": 1e400, "e": {"f": [true]}}'
    const document = Either.getOrThrow(parseLossless(new TextEncoder().encode(text)))
    const values = ["a", "b", "c", "d", "e.f", "g"].map((path) => valuesIn(document, path))
    assert.deepStrictEqual(values, [[1, "x"], [[]], [null], [], [true], []])
  })
})

describe("the text of a condition", () => {
  it("is read into what an object says", () => {
    const cases: ReadonlyArray<[string, AnyWhere]> = [
      ["city=London", { city: "London" }],
      ['a="5" and b=5 and c=null', { a: "5", b: 5, c: null }],
      ["price>=10 and price<20", { price: { atLeast: 10, lessThan: 20 } }],
      [
        "price>=10 and price<20 and price<30",
        {
          and: [{ price: { atLeast: 10, lessThan: 20 } }, { price: { lessThan: 30 } }]
        }
      ],
      [
        "price>=10 and city=London or not (tags:x)",
        {
          or: [{ price: { atLeast: 10 }, city: "London" }, { not: { tags: "x" } }]
        }
      ],
      ["not not a!=1", { not: { not: { a: { isNot: 1 } } } }],
      [
        "name ^= Lo and name STARTSWITH 'L o'",
        {
          and: [{ name: { startsWith: "Lo" } }, { name: { startsWith: "L o" } }]
        }
      ],
      ['s in (open, "in work", 5) and t in ()', { s: { in: ["open", "in work", 5] }, t: { in: [] } }],
      [
        "a exists or address.city missing",
        { or: [{ a: { exists: true } }, { "address.city": { exists: false } }] }
      ],
      ['tags=["a", "b)"] and o={"x": 1}', { tags: { is: ["a", "b)"] }, o: { is: { x: 1 } } }],
      ["_created_at>=2026-11-22T10:00:00.000Z", { _created_at: { atLeast: "2026-11-22T10:00:00.000Z" } }],
      ["'a field'=1", { "a field": 1 }],
      [String.raw`a="x\" \u0061" and b=["]", "\""]`, { a: 'x" a', b: { is: ["]", '"'] } }],
      ["(price>=10) and price<20", { price: { atLeast: 10, lessThan: 20 } }],
      ["a>=1 and b<2", { a: { atLeast: 1 }, b: { lessThan: 2 } }],
      ["a>=1 and a>2", { and: [{ a: { atLeast: 1 } }, { a: { greaterThan: 2 } }] }],
      ["a>=1 and a!=2 and a<=3", { and: [{ a: { isNot: 2 } }, { a: { atLeast: 1, atMost: 3 } }] }],
      ["not lessThan=1 and not atLeast=2", { and: [{ not: { lessThan: 1 } }, { not: { atLeast: 2 } }] }],
      [`${"not ".repeat(32)}a=1`, { a: 1 }]
    ]
    for (const [text, where] of cases) {
      assert.deepStrictEqual(readWhere(parseWhere(text)), readWhere(where), text)
    }
  })

  it("says at which character it is wrong", () => {
    const cases: ReadonlyArray<[string, RegExp]> = [
      ["", /character 1: ends where a field/],
      ["a", /character 2: ends where an operator/],
      ["a b", /character 3: has b where an operator is expected: = : != < <= > >= \^= startsWith in exists/],
      ["=1", /character 1: has = where a field/],
      ["not=1", /character 4: has = where a field/],
      ["'not'=1", /character 1: has not where a field/],
      ["or=1", /character 1: has or where a field/],
      ["a=1 'and' b=2", /character 5: has and where and or or/],
      ["a=)", /character 3: has \) where a value/],
      ["(a=1 b", /character 6: has b where \) is/],
      ["a='x", /character 3: has a quote ' that is not closed/],
      ["a ]", /character 3: has "\]", which has no meaning here/],
      ["a=", /character 3: ends where a value/],
      ["a=1 b=2", /character 5: has b where and or or/],
      ["(a=1", /character 5: ends where \) is expected/],
      ["a=1)", /character 4: has \)/],
      ['a="x', /character 3: has a quote/],
      ["a in (1", /character 8: ends where \)/],
      ["a=[1", /character 3: has a bracket/],
      ["a=[x]", /character 3: has \[x\], which is not JSON/],
      ["and=1", /character 1: has and where a field/],
      [`${"not ".repeat(33)}a=1`, /character 133: is nested more than 32 levels deep/],
      ["(".repeat(100_000), /nested more than/]
    ]
    for (const [text, message] of cases) {
      assert.throws(() => parseWhere(text), QueryProblem)
      assert.throws(() => parseWhere(text), message)
    }
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom("a", "=", ">=", "(", ")", "not", "and", "or", "in", '"', "[", "1", " ", "!")
        ),
        (parts) => {
          try {
            readWhere(parseWhere(parts.join(" ")))
          } catch (error) {
            assert.instanceOf(error, QueryProblem)
          }
        }
      ),
      { seed: 19, numRuns: 500 }
    )
  })
})

it("a selection has the selected fields, nested ones in objects of their own", () => {
  const document = { _id: "x", a: { b: 1, c: [2], d: 3 }, "e.f": 4, e: { f: 5 }, g: null }
  assert.deepStrictEqual(selectionOf(["a.b", "a.c", "e.f", "g", "h", "h.i", "_id"])(document, "x"), {
    _id: "x",
    a: { b: 1, c: [2] },
    "e.f": 4,
    g: null
  })
  assert.deepStrictEqual(selectionOf(["a.b", "a"])(document, "x"), { _id: "x", a: document.a })
  const frozen = { _id: "y", a: Object.freeze({ b: 1, c: 2 }), d: 3 }
  const selected = selectionOf(["_id", "a", "a.b", "d"])(frozen, "x")
  assert.deepStrictEqual(selected, { _id: "x", a: { b: 1, c: 2 }, d: 3 })
  Object.assign(selected, { d: 4 })
  assert.isTrue(Reflect.deleteProperty(selected, "a"))
  assert.deepStrictEqual(selected, { _id: "x", d: 4 })
  const numbers = { _id: "x", a: Number.NaN, b: { c: 1, d: Number.NaN }, l: [{ c: 1 }], n: null }
  assert.deepStrictEqual(selectionOf(["a", "b.d", "b.c", "l.c", "l.0", "n.c", "b.c.e"])(numbers, "x"), {
    _id: "x",
    b: { c: 1 }
  })
  assert.deepStrictEqual(Object.keys(selectionOf(["__proto__", "a.__proto__.x"])(document, "x")), ["_id"])
})

import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Stream } from "effect"
import * as fc from "fast-check"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import { decodeIndexDefinition } from "../../../src/domain/indexes/IndexDefinition.js"
import { sortKey, tupleSortKey } from "../../../src/domain/indexes/SortKey.js"
import type { Json } from "../../../src/domain/json/Json.js"
import { satisfiesAll } from "../../../src/domain/query/Matching.js"
import type { Test } from "../../../src/domain/query/Predicate.js"
import type { Query } from "../../../src/domain/query/Query.js"
import { readQuery } from "../../../src/domain/query/ReadQuery.js"
import { keysBelow, present, rangesOf } from "../../../src/store/internal/query/KeyRanges.js"
import { decodeCursor, encodeCursor } from "../../../src/store/internal/query/QueryCursor.js"
import { planQuery, type TreePlan } from "../../../src/store/internal/query/QueryPlan.js"
import { distinctKeys, FirstRows, mergeSorted } from "../../../src/store/internal/query/SortedStreams.js"

type AnyQuery = Query & { readonly select?: ReadonlyArray<string> }

const query = (given: AnyQuery) => Either.getOrThrow(readQuery(given))

const definition = (given: unknown) => Either.getOrThrow(decodeIndexDefinition(given))

const input = (indexes: ReadonlyArray<unknown>, projected?: ReadonlyArray<string>) => ({
  format: 2,
  recorded: true,
  indexes: indexes.map(definition),
  projected
})

const scalars: ReadonlyArray<Json> = [
  null,
  true,
  false,
  -1,
  0,
  0.5,
  1,
  2,
  2 ** 53,
  2 ** 53 + 2,
  "",
  "a",
  "a!",
  "ab",
  "b",
  "é",
  "\u{10000}"
]
const values: ReadonlyArray<Json> = [...scalars, [], [1], [1, "a"], { a: 1 }]
const scalar = fc.constantFrom(...scalars)
const bound = fc.constantFrom<number | string>(-1, 0, 0.5, 1, 2 ** 53, "", "a", "ab", "b")
const operator = fc.constantFrom(
  "lessThan" as const,
  "atMost" as const,
  "greaterThan" as const,
  "atLeast" as const
)
const oneTest: fc.Arbitrary<Test> = fc.oneof(
  scalar.map((value): Test => ({ operator: "is", value })),
  fc.array(scalar, { maxLength: 3 }).map((value): Test => ({ operator: "in", value })),
  fc.tuple(operator, bound).map(([operator, value]): Test => ({ operator, value })),
  fc.constantFrom("", "a", "ab").map((value): Test => ({ operator: "startsWith", value }))
)

/** Whether the row of a value is in a range, in both directions. */
const isWithin = (range: Parameters<typeof keysBelow>[2], prefix: string, value: Json | undefined) => {
  const [up, down] = (["asc", "desc"] as const).map((order) => {
    const { from, until } = keysBelow(prefix, { order }, range)
    // The key of an id follows.
    const key = `${prefix}${tupleSortKey([value], [order])}ta`
    return from <= key && key < until
  })
  assert.strictEqual(up, down, JSON.stringify([range, value]))
  return up!
}

describe("key ranges of conditions", () => {
  it("contain the rows of every value that satisfies the conditions, ascending and descending", () => {
    fc.assert(
      fc.property(fc.array(oneTest, { minLength: 1, maxLength: 3 }), (tests) => {
        const satisfies = satisfiesAll(tests)
        const ranges = rangesOf(tests)
        for (const value of scalars) {
          if (!satisfies(value)) continue
          assert.isTrue(
            ranges.some((range) => isWithin(range, "", value)),
            JSON.stringify([tests, value])
          )
        }
      }),
      { seed: 19, numRuns: 400 }
    )
  })

  it("contain no other values if there is one condition, nor for two bounds of a field", () => {
    const exact = (tests: ReadonlyArray<Test>, prefix = sortKey("before")) => {
      const satisfies = satisfiesAll(tests)
      const ranges = rangesOf(tests)
      for (const value of scalars) {
        // Large numbers share the keys of their neighbours; they are tested one by one.
        if (typeof value === "number" && value >= 2 ** 53) continue
        const isFound = ranges.some((range) => isWithin(range, prefix, value))
        assert.strictEqual(isFound, satisfies(value), JSON.stringify([tests, value]))
      }
    }
    for (const value of scalars) {
      exact([{ operator: "is", value }])
      exact([{ operator: "in", value: [value, "b"] }])
    }
    exact([{ operator: "in", value: [] }])
    for (const value of ["", "a", "ab"]) exact([{ operator: "startsWith", value }])
    const operators = ["lessThan", "atMost", "greaterThan", "atLeast"] as const
    for (const operator of operators) {
      for (const value of [-1, 0, 0.5, 1, "", "a", "ab"]) {
        exact([{ operator, value }])
        for (const other of operators) {
          for (const end of [0, 1, "a", "b"]) {
            if (typeof end !== typeof value) continue
            exact([
              { operator, value },
              { operator: other, value: end }
            ])
          }
        }
      }
    }
    exact([
      { operator: "startsWith", value: "a" },
      { operator: "lessThan", value: "ab" }
    ])
  })

  it("of a list are those of the list in a list, and of its first element", () => {
    const ranges = rangesOf([{ operator: "is", value: [1, "a"] }])
    assert.deepStrictEqual(
      [[1, "a"], 1, "a", 2].map((value) => ranges.some((range) => isWithin(range, "", value as Json))),
      [true, true, false, false]
    )
    // Neither is a single value, in which the rows would be in the order of the next field.
    assert.isTrue(ranges.every(({ value }) => value === undefined))
    assert.deepStrictEqual(
      rangesOf([{ operator: "is", value: [] }]).map(({ value }) => value),
      [[]]
    )
  })

  it("of a large number include its neighbours, so the rows have no single value", () => {
    const [one] = rangesOf([{ operator: "is", value: 2 ** 53 }])
    assert.isUndefined(one!.value)
    assert.deepStrictEqual(rangesOf([{ operator: "is", value: 1 }])[0]!.value, 1)
    for (const operator of ["lessThan", "greaterThan"] as const) {
      const [range] = rangesOf([{ operator, value: 2 ** 53 }])
      assert.isTrue(isWithin(range!, "", 2 ** 53), operator)
    }
  })

  it("of a field that exists contain all values, and not the rows where it is missing", () => {
    for (const value of values) assert.isTrue(isWithin(present, "", value), JSON.stringify(value))
    assert.isFalse(isWithin(present, "", undefined))
  })
})

const tree = (given: AnyQuery, indexes: ReadonlyArray<unknown>): TreePlan => {
  const plan = planQuery(query(given), input(indexes))
  assert.strictEqual(plan._tag, "Tree", JSON.stringify(plan))
  return plan as TreePlan
}

const chosen = (given: AnyQuery, indexes: ReadonlyArray<unknown>, projected?: ReadonlyArray<string>) => {
  const plan = planQuery(query(given), input(indexes, projected))
  return plan._tag === "Tree" ? plan.index.name : plan._tag
}

const sorting = (given: AnyQuery, indexes: ReadonlyArray<unknown>) => {
  const { idsAreOpposite, isOrdered, reverse } = tree(given, indexes)
  if (!isOrdered) assert.isFalse(reverse || idsAreOpposite)
  return isOrdered ? [reverse ? "backwards" : "forwards", idsAreOpposite ? "opposite" : "same"] : "sorted"
}

const place = { name: "place", fields: ["city", "since"] }

describe("the plan of a query", () => {
  it("takes the index whose first fields are restricted most", () => {
    assert.strictEqual(chosen({ where: { city: "Rome", since: 1 } }, ["city", place]), "place")
    assert.strictEqual(chosen({ where: { city: "Rome", since: 1 } }, [place, "city"]), "place")
    assert.strictEqual(chosen({ where: { since: 1 } }, [place]), "Scan")
    assert.strictEqual(chosen({ where: { since: 1 } }, [place, "since"]), "since")
    assert.strictEqual(chosen({ where: { city: { isNot: "Rome" } } }, ["city"]), "Scan")
    assert.strictEqual(chosen({ where: { city: { exists: true } } }, ["city"]), "city")
    assert.strictEqual(chosen({ where: { city: { exists: false } } }, ["city"]), "Scan")
    assert.strictEqual(chosen({ where: { or: [{ city: "Rome" }, { city: "Oslo" }] } }, ["city"]), "city")
    assert.strictEqual(chosen({ where: { or: [{ city: "Rome" }, { since: 1 }] } }, ["city", place]), "Scan")
    assert.strictEqual(chosen({ where: { since: { exists: true } } }, ["city"]), "Scan")
    assert.lengthOf(tree({ where: { city: { exists: true } } }, ["city"]).spans, 1)
    assert.strictEqual(tree({ where: { city: "Rome", since: 1 } }, [place]).restricted, 2)
    assert.strictEqual(tree({ where: { city: "Rome" } }, [place]).restricted, 1)
    assert.strictEqual(tree({ where: { city: { in: ["Rome", "Oslo"] }, since: 1 } }, [place]).restricted, 2)
    assert.strictEqual(tree({ where: { city: { startsWith: "R" }, since: 1 } }, [place]).restricted, 1)
  })

  it("prefers fewer ranges, then the order of the query, if as many fields are restricted", () => {
    assert.strictEqual(
      chosen({ where: { city: { in: ["Rome", "Oslo"] }, since: 1 } }, ["city", "since"]),
      "since"
    )
    const since = { where: { city: "Rome" }, orderBy: "since" }
    assert.strictEqual(chosen(since, ["city", place]), "place")
    assert.strictEqual(chosen({ ...since, limit: 20 }, ["city", place]), "place")
    const other = { name: "other", fields: ["city", "name"] }
    assert.strictEqual(chosen({ ...since, limit: 20 }, [other, place]), "place")
    // Two restricted fields come before the order.
    const both = { where: { city: "Rome", since: 1 }, orderBy: "name" }
    for (const limit of [undefined, 20])
      assert.strictEqual(chosen({ ...both, limit }, [other, place]), "place")
  })

  it("takes an index for its order alone, and a manifest that has every field before that", () => {
    assert.strictEqual(chosen({ orderBy: "city" }, ["city"]), "city")
    assert.strictEqual(chosen({}, ["city"]), "Scan")
    assert.strictEqual(chosen({ orderBy: "city" }, [place]), "Scan")
    assert.strictEqual(chosen({ orderBy: "city", select: ["city"] }, ["city"], ["city"]), "Manifest")
    assert.strictEqual(chosen({ where: { city: "Rome" }, select: ["city"] }, ["city"], ["city"]), "city")
  })

  it("takes a manifest only if it has all fields of the conditions, of the order and of the selection", () => {
    const manifest = (given: AnyQuery, projected: ReadonlyArray<string> | undefined) =>
      chosen(given, [], projected)
    const all = { where: { city: "Rome" }, orderBy: "since", select: ["name", "_id"] }
    assert.strictEqual(manifest(all, ["city", "since", "name"]), "Manifest")
    for (const some of [["since", "name"], ["city", "name"], ["city", "since"], undefined]) {
      assert.strictEqual(manifest(all, some), "Scan")
    }
    assert.strictEqual(manifest({ where: { city: "Rome" } }, ["city"]), "Scan")
    // A path with dots may lead to a nested member, which the manifest does not have.
    assert.strictEqual(manifest({ select: ["a.b"] }, ["a.b"]), "Scan")
  })

  it("uses an index of some documents only for a query of these", () => {
    const active = { name: "active", fields: ["city"], where: { state: "active" } }
    assert.strictEqual(chosen({ where: { city: "Rome" } }, [active]), "Scan")
    assert.strictEqual(chosen({ where: { city: "Rome", state: "gone" } }, [active]), "Scan")
    assert.strictEqual(chosen({ where: { city: "Rome", state: { in: ["active"] } } }, [active]), "Scan")
    assert.strictEqual(chosen({ where: { city: "Rome", other: "active" } }, [active]), "Scan")
    assert.strictEqual(chosen({ where: { city: "Rome", state: "active" } }, [active]), "active")
    assert.strictEqual(chosen({ where: { city: "Rome", state: "active" } }, ["city", active]), "active")
    assert.strictEqual(chosen({ where: { state: "active" } }, [active]), "active")
    assert.strictEqual(
      chosen({ where: { city: "Rome", state: { is: "active", startsWith: "a" } } }, [active]),
      "active"
    )
    for (const state of [{ exists: true }, { startsWith: "active" }, { atLeast: "active" }]) {
      assert.strictEqual(chosen({ where: { city: "Rome", state } }, [active]), "Scan")
    }
    const listed = { ...active, where: { state: ["active"] } }
    assert.strictEqual(chosen({ where: { city: "Rome", state: { in: ["active"] } } }, [listed]), "Scan")
    assert.strictEqual(
      chosen({ where: { and: [{ city: "Rome" }, { state: { in: [["active"], "x"] } }] } }, [listed]),
      "Scan"
    )
    const both = { ...active, where: { state: "active", kind: "x" } }
    assert.strictEqual(chosen({ where: { city: "Rome", state: "active" } }, [both]), "Scan")
  })

  it("reads a range for each value of an `in`, and no more than 200 of them", () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => n)
    const spans = (first: number, second: number) => {
      const plan = tree({ where: { city: { in: many(first) }, since: { in: many(second) } } }, [place])
      return [plan.spans.length, plan.restricted]
    }
    assert.deepStrictEqual(spans(2, 3), [6, 2])
    assert.deepStrictEqual(spans(20, 10), [200, 2])
    assert.deepStrictEqual(spans(3, 67), [3, 1])
    assert.strictEqual(chosen({ where: { city: { in: many(201) } } }, ["city"]), "Scan")
  })

  it("restricts a field by its most selective condition", () => {
    const where = { and: [{ city: { atLeast: "A" } }, { city: { in: ["Rome", "Oslo"] } }, { city: "Rome" }] }
    const ways = [where.and, [...where.and].reverse(), [where.and[2]!, where.and[0]!, where.and[1]!]]
    for (const and of ways) {
      assert.deepStrictEqual(
        tree({ where: { and } as never }, ["city"]).spans.map(({ common }) => common),
        [["Rome"]]
      )
    }
    const exists = { and: [{ city: { exists: true } }, { city: "Rome" }] }
    assert.deepStrictEqual(tree({ where: exists }, ["city"]).spans[0]!.common, ["Rome"])
    for (const [more, count] of [
      [{ is: "Rome", startsWith: "R" }, 1],
      [{ in: ["Rome", "Oslo"], startsWith: "R" }, 2]
    ] as const) {
      const and = [{ city: { atLeast: "A" } }, { city: more }]
      const found = tree({ where: { and } as never }, ["city"])
      assert.isTrue(found.spans.length <= count && found.spans.every(({ common }) => common.length === 1))
    }
    const two = [where.and[0]!, where.and[1]!]
    for (const and of [two, [...two].reverse()]) {
      assert.lengthOf(tree({ where: { and } as never }, ["city"]).spans, 2)
    }
  })

  it("reads rows in the order of the query, forwards or backwards, or sorts them", () => {
    const down = { name: "down", fields: ["city", { field: "since", order: "desc" }] }
    const rome = { city: "Rome" }
    const desc = (field: string) => ({ field, order: "desc" as const })
    assert.deepStrictEqual(sorting({ where: rome, orderBy: "since" }, [place]), ["forwards", "same"])
    assert.deepStrictEqual(sorting({ where: rome, orderBy: desc("since") }, [place]), ["backwards", "same"])
    // The rows of a descending index with equal fields are in the reverse order of their ids.
    assert.deepStrictEqual(sorting({ where: rome, orderBy: desc("since") }, [down]), ["forwards", "opposite"])
    assert.deepStrictEqual(sorting({ where: rome, orderBy: "since" }, [down]), ["backwards", "opposite"])
    assert.deepStrictEqual(sorting({ where: rome }, ["city"]), ["forwards", "same"])
    assert.deepStrictEqual(sorting({ where: rome, orderBy: desc("_id") }, ["city"]), ["backwards", "same"])
    assert.deepStrictEqual(sorting({ where: rome }, [place]), "sorted")
    assert.deepStrictEqual(sorting({ orderBy: ["city", "since"] }, [place]), ["forwards", "same"])
    assert.deepStrictEqual(sorting({ orderBy: [desc("city"), "since"] }, [down]), ["backwards", "opposite"])
    assert.strictEqual(chosen({ orderBy: [desc("city"), "since"] }, [place]), "Scan")
    assert.strictEqual(chosen({ orderBy: ["since", "city"] }, [place]), "Scan")
    assert.deepStrictEqual(sorting({ where: rome, orderBy: ["city", "since"] }, [place]), [
      "forwards",
      "same"
    ])
    assert.deepStrictEqual(sorting({ where: rome, orderBy: "name" }, [place]), "sorted")
    assert.deepStrictEqual(sorting({ where: rome, orderBy: ["since", "name"] }, [place]), "sorted")
  })

  it("does not let a condition hide the row that determines a list's position", () => {
    // Two conditions of one field may be satisfied by different elements, and so may a list as a whole.
    const two = { and: [{ since: { atLeast: 1 } }, { since: { atMost: 5 } }] }
    const plan = tree({ where: { city: "Rome", ...two } as never, orderBy: "since" }, [place])
    assert.deepStrictEqual([plan.isOrdered, plan.restricted], [false, 2])
    const list = tree({ where: { since: { is: [2, 1] } } as never, orderBy: "since" }, ["since"])
    assert.isFalse(list.isOrdered)
    const listed = tree({ where: { since: { in: [[2, 1], 3] } } as never, orderBy: "since" }, ["since"])
    assert.isFalse(listed.isOrdered)
    const more = { since: { is: [2, 1], atLeast: 0 } }
    assert.isFalse(tree({ where: more as never, orderBy: "since" }, ["since"]).isOrdered)
    const some = tree({ where: { since: { in: [1, 2] } }, orderBy: "since" }, ["since"])
    assert.deepStrictEqual([some.isOrdered, some.restricted], [true, 1])
    // Of a field by which the documents are not sorted, any row will do.
    const rome = { and: [{ city: { atLeast: "A" } }, { city: "Rome" }] }
    const other = tree({ where: rome as never, orderBy: "since" }, [place])
    assert.deepStrictEqual([other.isOrdered, other.restricted], [true, 1])
    const one = tree({ where: { since: { atLeast: 1 } }, orderBy: "since" }, ["since"])
    assert.deepStrictEqual([one.isOrdered, one.restricted], [true, 1])
  })

  it("knows the values that all rows of a range share", () => {
    const plan = tree({ where: { city: { in: ["Rome", "Oslo"] }, since: { atLeast: 1 } } }, [place])
    assert.deepStrictEqual(
      plan.spans.map(({ common }) => common),
      [["Oslo"], ["Rome"]]
    )
    const key = (city: string, since: Json) => `${tupleSortKey([city, since], ["asc", "asc"])}ta`
    const isIn = (value: string) => plan.spans.some(({ from, until }) => from <= value && value < until)
    assert.isTrue(isIn(key("Rome", 1)) && isIn(key("Oslo", 7)))
    assert.isFalse(isIn(key("Rome", 0)) || isIn(key("Rome", "a")) || isIn(key("Bern", 1)))
  })

  it("contains the rows of equal values, and goes on only behind a single value", () => {
    const down = { name: "down", fields: [{ field: "city", order: "desc" }, "since"] }
    const rome = tree({ where: { city: "Rome" } }, [down])
    const [span] = rome.spans
    const key = (city: string) => tupleSortKey([city, 1], ["desc", "asc"])
    assert.deepStrictEqual([rome.spans.length, span!.common, rome.restricted], [1, ["Rome"], 1])
    assert.isTrue(span!.from <= key("Rome") && key("Rome") < span!.until)
    for (const city of ["Romf", "Romd", "Oslo"]) {
      assert.isFalse(span!.from <= key(city) && key(city) < span!.until, city)
    }
    // A large number shares its keys with its neighbours.
    const large = tree({ where: { city: { in: [1, 2 ** 53] }, since: 1 } }, [place])
    assert.deepStrictEqual([large.restricted, large.spans.map(({ common }) => common)], [1, [[], []]])
  })

  it("looks up values in an index file of format 1: the fewest, of a member by its whole name", () => {
    const values = (
      given: AnyQuery,
      indexes: ReadonlyArray<unknown> = ["city", "since"],
      recorded = true
    ) => {
      const plan = planQuery(query(given), { ...input(indexes, ["city"]), format: 1, recorded })
      return plan._tag === "Values" ? [plan.name, plan.path, plan.values] : plan._tag
    }
    assert.deepStrictEqual(values({ where: { city: "Rome" } }), ["city", "city", ["Rome"]])
    assert.deepStrictEqual(values({ where: { city: { in: [1, 2] }, since: 3 } }), ["since", "since", [3]])
    assert.deepStrictEqual(values({ where: { since: { in: [1, 2] }, city: 3 } }), ["city", "city", [3]])
    const many = (count: number) => ({ city: { in: Array.from({ length: count }, (_, n) => n) } })
    assert.lengthOf(values({ where: many(50) })[2]!, 50)
    assert.strictEqual(values({ where: many(51) }), "Scan")
    for (const bound of [1, "abc"])
      assert.strictEqual(values({ where: { city: { atLeast: bound } } }), "Scan")
    assert.strictEqual(values({ where: { name: "a" } }), "Scan")
    assert.strictEqual(values({ where: { not: { city: "Rome" } } }), "Scan")
    assert.strictEqual(values({ where: { "a.b": 1 } }, ["a.b"]), "Scan")
    assert.strictEqual(values({ select: ["city"] }), "Scan")
    const named = { name: "towns", fields: ["city"] }
    assert.deepStrictEqual(values({ where: { city: 1 } }, [named]), ["towns", "city", [1]])
    assert.deepStrictEqual(values({ where: { city: 1 } }, [named, "city"]), ["city", "city", [1]])
    const foreign = { name: "city", fields: ["since"] }
    assert.strictEqual(values({ where: { city: 1 } }, [foreign]), "Scan")
    // Without settings any file may be an index, if its name can be one.
    assert.deepStrictEqual(values({ where: { name: "a" } }, [], false), ["name", "name", ["a"]])
    for (const path of ["$name", "na$me"]) {
      assert.strictEqual(values({ where: { [path]: "a" } }, [], false), "Scan", path)
    }
    assert.deepStrictEqual(values({ where: { x: "a" } }, [], false), ["x", "x", ["a"]])
  })

  it("gives the reason of a scan", () => {
    for (const format of [1, 2]) {
      assert.deepStrictEqual(planQuery(query({ where: { city: 1 } }), { ...input([]), format }), {
        _tag: "Scan",
        reason: "no index fits the query"
      })
    }
  })
})

describe("a cursor", () => {
  const given = query({ where: { city: "Rome" }, orderBy: "since" })
  const fields = sortKey("a.b")
  const position = { fields, key: `${fields}tid` }

  it("is a position in the pages of its query, whose limit and selection may change", () => {
    const cursor = encodeCursor("people", given, position)
    assert.deepStrictEqual(decodeCursor("people", given, cursor), position)
    const other = query({ where: { city: "Rome" }, orderBy: "since", limit: 7, select: ["city"] })
    assert.deepStrictEqual(decodeCursor("people", other, cursor), position)
    const empty = { fields: "", key: "tid" }
    assert.deepStrictEqual(decodeCursor("people", given, encodeCursor("people", given, empty)), empty)
  })

  it("is refused by another query or collection, and if it is damaged", () => {
    const cursor = encodeCursor("people", given, position)
    assert.isUndefined(decodeCursor("places", given, cursor))
    for (const other of [
      { where: { city: "Oslo" }, orderBy: "since" },
      { where: { city: "Rome" }, orderBy: { field: "since", order: "desc" as const } },
      { where: { city: "Rome" } }
    ]) {
      assert.isUndefined(decodeCursor("people", query(other), cursor))
    }
    for (let at = 0; at < cursor.length; at++) {
      const changed = `${cursor.slice(0, at)}${cursor[at] === "0" ? "1" : "0"}${cursor.slice(at + 1)}`
      assert.isUndefined(decodeCursor("people", given, changed), changed)
    }
    for (const damaged of ["", cursor.slice(1), cursor.slice(0, -1), `${cursor}0`]) {
      assert.isUndefined(decodeCursor("people", given, damaged), damaged)
    }
  })
})

describe("rows of several ranges", () => {
  const chunks = fc.array(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 5 }), { maxLength: 4 })
  const keyed = (n: number) => ({ key: String(n).padStart(2, "0") })

  it.effect("are merged in order, each document once, however they come", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(fc.array(chunks, { maxLength: 4 }), (ranges) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const streams = ranges.map((range) => {
                let rest = range.flat().sort((a, b) => a - b)
                const pieces = range.map(({ length }) => {
                  const piece = rest.slice(0, length)
                  rest = rest.slice(length)
                  return Chunk.unsafeFromArray(piece.map(keyed))
                })
                return Stream.fromChunks(...pieces)
              })
              const all = ranges.flat(2).sort((a, b) => a - b)
              const merged = yield* Stream.runCollect(mergeSorted(streams))
              assert.deepStrictEqual([...merged], all.map(keyed))
              const distinct = yield* Stream.runCollect(distinctKeys(mergeSorted(streams)))
              assert.deepStrictEqual([...distinct], [...new Set(all)].map(keyed))
            })
          )
        ),
        { seed: 19, numRuns: 50 }
      )
    )
  )

  it.effect("fail if a range cannot be read", () =>
    Effect.gen(function* () {
      for (const broken of [
        Stream.fail("broken"),
        Stream.concat(Stream.make(keyed(3)), Stream.fail("broken"))
      ]) {
        const merged = mergeSorted([Stream.make(keyed(1)), broken])
        assert.strictEqual(yield* Effect.flip(Stream.runCollect(merged)), "broken")
      }
    })
  )

  it("keep no more than twice the limit in memory, and the first ones", () => {
    const first = new FirstRows<{ readonly key: string }>(3)
    let rounds = 0
    for (const n of [5, 4, 4, 3, 9, 2, 2, 1, 1, 7]) {
      const adding = first.add([keyed(n)])
      while (adding.next().done !== true) rounds++
    }
    assert.isAbove(rounds, 0)
    assert.deepStrictEqual(Steps.runSync(first.sorted()), [1, 2, 3].map(keyed))
  })
})

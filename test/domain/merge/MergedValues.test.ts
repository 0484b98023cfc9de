import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import type { Json } from "../../../src/domain/json/Json.js"
import type { LosslessJson } from "../../../src/domain/json/LosslessJson.js"
import { LosslessNumber } from "../../../src/domain/json/NumberText.js"
import { conflictName, containsMark, isMark } from "../../../src/domain/merge/ConflictMark.js"
import { sumOfChanges } from "../../../src/domain/merge/Counter.js"
import {
  bySpelling,
  byValue,
  eitherOf,
  spelledText,
  valueText
} from "../../../src/domain/merge/JsonIdentity.js"
import { mergingExact } from "../../../src/domain/merge/MergeDocuments.js"
import { type MergeRules, mergeRulesProblem } from "../../../src/domain/merge/MergeRules.js"
import { mergeMetadata } from "../../../src/domain/merge/Metadata.js"

const spelled = (text: string) => new LosslessNumber(text)

describe("a counter", () => {
  it("has the exact sum of both changes", () => {
    const sums: ReadonlyArray<readonly [base: string, ours: string, theirs: string, sum: string]> = [
      ["1", "2", "3", "4"],
      ["1", "1", "1", "1"],
      ["5", "0", "0", "-5"],
      ["0.1", "0.3", "0.2", "0.4"],
      ["0", "0.1", "0.2", "0.3"],
      ["0", "0.05", "0.05", "0.1"],
      ["0", "-0.05", "0", "-0.05"],
      ["0", "10.50", "0.50", "11.0"],
      ["0", "1.0", "1.0", "2.0"],
      ["1.5", "2", "3", "3.5"],
      ["0", "100", "200.25", "300.25"],
      ["0", "1e2", "1e2", "200.0"],
      ["0", "1E+2", "1", "101.0"],
      ["0", "25e-1", "12.5e-1", "3.75"],
      ["0", "1e16", "1", "10000000000000001.0"],
      ["0", "1e16", "1e16", "2e+16"],
      ["9007199254740990", "9007199254740992", "9007199254740991", "9007199254740993"],
      ["0", "0.1234567890123456789", "1", "1.1234567890123456789"],
      ["0", "12345678901234567890.5", "0.5", "12345678901234567891.0"],
      // Floats add up to a float.
      ["0", "0.30000000000000004", "0.1", "0.4"],
      ["0", "12345678901234567890", "1", "12345678901234567891"],
      ["12345678901234567890", "12345678901234567891", "12345678901234567892", "12345678901234567893"],
      ["0", "9007199254740993", "9007199254740993", "18014398509481986"],
      ["2", "1.25", "0.75", "0.0"]
    ]
    for (const [base, ours, theirs, sum] of sums) {
      const found = sumOfChanges(spelled(base), spelled(ours), spelled(theirs))
      assert.strictEqual(
        found instanceof LosslessNumber ? found.text : String(found),
        sum,
        `${base}, ${ours}, ${theirs}`
      )
      assert.deepStrictEqual(sumOfChanges(spelled(base), spelled(theirs), spelled(ours)), found)
    }
    assert.strictEqual(sumOfChanges(0, 0.1, 0.2), 0.3)
    assert.strictEqual(sumOfChanges(1, 2, 3), 4)
    assert.strictEqual(sumOfChanges(spelled("0"), 1, 2), 3)
    assert.deepStrictEqual(sumOfChanges(0, spelled("1.0"), 2), spelled("3.0"))
    assert.strictEqual(sumOfChanges(0, 0.5, 0.5), 1)
    assert.strictEqual(sumOfChanges(0, 0.30000000000000004, 0.1), 0.4)
    assert.deepStrictEqual(sumOfChanges(0, 2 ** 53, 1), spelled("9007199254740993"))
  })

  it("has the sum of random changes", () => {
    const decimal = FastCheck.tuple(FastCheck.integer({ min: -99_999, max: 99_999 }), FastCheck.nat(4))
    FastCheck.assert(
      FastCheck.property(decimal, decimal, decimal, (...given) => {
        const texts = given.map(([digits, scale]) => `${digits}e-${scale}`)
        const [base, ours, theirs] = given.map(([digits, scale]) => digits * 10 ** (4 - scale)) as [
          number,
          number,
          number
        ]
        const sum = sumOfChanges(spelled(texts[0]!), spelled(texts[1]!), spelled(texts[2]!))
        const value = sum instanceof LosslessNumber ? Number(sum.text) : sum!
        assert.strictEqual(Math.round(value * 10_000), Math.round(ours + theirs - base))
      })
    )
  })

  it("has no sum beyond the range of numbers", () => {
    assert.isUndefined(sumOfChanges(0, 1.7e308, 1.7e308))
    assert.isUndefined(sumOfChanges(0, -1.7e308, -1.7e308))
    for (const far of ["1e401", "1e-401", "1e99999", "x", "1x", "x1", ""]) {
      assert.isUndefined(sumOfChanges(spelled(far), 1, 1), far)
      assert.isUndefined(sumOfChanges(0, spelled(far), 1), far)
      assert.isUndefined(sumOfChanges(0, 1, spelled(far)), far)
    }
    assert.isDefined(sumOfChanges(0, spelled("1e-400"), 1))
    assert.isUndefined(sumOfChanges(0, spelled("1e400"), 1))
    assert.isDefined(sumOfChanges(spelled("1e400"), spelled("1e400"), spelled("1e400")) ?? 0)
  })
})

describe("a mark of a conflict", () => {
  it("is found at every depth", () => {
    const mark = { [conflictName]: true }
    assert.deepStrictEqual(
      [mark, { a: mark }, [mark], {}, null].map((value) => isMark(value as Json)),
      [true, false, false, false, false]
    )
    const marked: ReadonlyArray<unknown> = [
      mark,
      [1, mark],
      [mark, 1],
      { a: 1, b: mark },
      { a: [{ b: [1, mark] }], c: 1 }
    ]
    for (const value of marked) assert.isTrue(containsMark(value as Json), JSON.stringify(value))
    for (const value of [1, [], [1], {}, { a: [{}] }, "\0conflict"])
      assert.isFalse(containsMark(value as Json))
  })
})

describe("the text of a value", () => {
  const text = (value: LosslessJson) => [Steps.runSync(spelledText(value)), Steps.runSync(valueText(value))]

  it("has sorted names, and numbers as they are spelled or as they count", () => {
    const value = {
      b: [spelled("1.0"), "x", null, { d: true }],
      a: undefined,
      "": 2
    } as unknown as LosslessJson
    assert.strictEqual(text(value)[0], '{"":2,"b":[1.0,"x",null,{"d":true}]}')
    assert.strictEqual(text(spelled("10.0"))[1], text(10)[1])
    assert.notStrictEqual(text(spelled("10.0"))[0], text(10)[0])
    assert.strictEqual(text([])[0], "[]")
    assert.strictEqual(text({})[0], "{}")
  })

  it("decides which of two spellings is taken, whoever merges", () => {
    const pairs: ReadonlyArray<readonly [LosslessJson, LosslessJson]> = [
      [spelled("1.0"), spelled("1")],
      [[spelled("1.00")], [spelled("1.0")]],
      [{ a: spelled("1e0") }, { a: 1 }]
    ]
    for (const [a, b] of pairs) {
      const [taken, other] = [Steps.runSync(eitherOf(a, b)), Steps.runSync(eitherOf(b, a))]
      assert.strictEqual(Steps.runSync(spelledText(taken)), Steps.runSync(spelledText(other)))
      assert.isTrue(Steps.runSync(byValue().isSame(a, b)))
      assert.isFalse(Steps.runSync(bySpelling().isSame(a, b)))
    }
  })

  it("is compared member by member, absent members as missing ones", () => {
    const same = (a: unknown, b: unknown) =>
      [bySpelling(), byValue()].map((comparison) =>
        Steps.runSync(comparison.isSame(a as LosslessJson, b as LosslessJson))
      )
    const large = (last: unknown) => ({ list: [...Array.from({ length: 3000 }, (_, n) => ({ n })), last] })
    const equal: ReadonlyArray<readonly [unknown, unknown]> = [
      [undefined, undefined],
      [{ a: 1, b: undefined }, { a: 1 }],
      [{ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }],
      [large(1), large(1)],
      [0, 0]
    ]
    for (const [a, b] of equal) assert.deepStrictEqual(same(a, b), [true, true])
    const different: ReadonlyArray<readonly [unknown, unknown]> = [
      [undefined, null],
      [1, "1"],
      [{ a: 1 }, { a: 1, b: 1 }],
      [
        { a: 1, b: 1 },
        { a: 1, c: 1 }
      ],
      [[], {}],
      [[1], [1, 2]],
      [
        [1, 2],
        [2, 1]
      ],
      [{ 0: 1 }, [1]],
      [large(1), large(2)],
      [{ __proto__: null, a: 1 }, { a: 2 }]
    ]
    for (const [a, b] of different) {
      assert.deepStrictEqual(same(a, b), [false, false], JSON.stringify([a, b]).slice(0, 80))
      assert.deepStrictEqual(same(b, a), [false, false])
    }
    assert.deepStrictEqual(same(0, -0), [false, true])
    assert.deepStrictEqual(same(spelled("1"), 1), [true, true])
  })
})

describe("the metadata of a merge", () => {
  const merged = (ours: object, theirs: object) =>
    Object.fromEntries(mergeMetadata(ours as never, theirs as never))
  const [early, late] = ["2024-01-01T00:00:00.000Z", "2024-01-02T00:00:00.000Z"]

  it("has the earlier creation, the later update, and a revision above both", () => {
    const ours = { _id: "a", _rev: 3, _created_at: early, _updated_at: late }
    const theirs = { _id: "a", _rev: 5, _created_at: late, _updated_at: early }
    const expected = { _id: "a", _rev: 6, _created_at: early, _updated_at: late }
    assert.deepStrictEqual(merged(ours, theirs), expected)
    assert.deepStrictEqual(merged(theirs, ours), expected)
    // Of two spellings of one time the same one is taken on both sides.
    const [one, two] = ["2024-01-01T00:00:00Z", early]
    assert.deepStrictEqual(
      merged({ _created_at: one, _updated_at: one }, { _created_at: two, _updated_at: two }),
      {
        _created_at: two,
        _updated_at: one
      }
    )
    assert.deepStrictEqual(
      merged({ _created_at: two, _updated_at: two }, { _created_at: one, _updated_at: one }),
      {
        _created_at: two,
        _updated_at: one
      }
    )
  })

  it("leaves out what is invalid on both sides", () => {
    assert.deepStrictEqual(merged({ _rev: 0 }, { _rev: 0 }), { _rev: 1 })
    assert.deepStrictEqual(merged({ _rev: -1 }, { _rev: 1.5 }), {})
    assert.deepStrictEqual(merged({ _rev: 2 ** 53 }, { _rev: "1" }), {})
    assert.deepStrictEqual(merged({ _rev: 4 }, { _rev: -9 }), { _rev: 5 })
    assert.deepStrictEqual(merged({ _created_at: 0, _updated_at: "never" }, { _created_at: ["2024"] }), {})
    assert.deepStrictEqual(merged({ _created_at: 0 }, { _created_at: late }), { _created_at: late })
    assert.deepStrictEqual(merged({ _id: "a" }, { _id: "b" }), {})
    assert.deepStrictEqual(merged({}, {}), {})
  })
})

describe("a merge of large documents", () => {
  const many = (n: number) => Array.from({ length: n }, (_, at) => at)
  const objects = many(3000).map((id) => ({ id, n: id }))

  const steps = (
    rules: MergeRules,
    change: (list: Array<unknown>, side: string) => Array<unknown>,
    list: ReadonlyArray<unknown>
  ) => {
    const side = (name: string) => ({ list: change([...list], name) }) as never
    const merge = mergingExact({ base: { list } as never, ours: side("ours"), theirs: side("theirs") }, rules)
    let pauses = 0
    for (;;) {
      const step = merge.next()
      if (step.done === true)
        return {
          pauses,
          list: (step.value.document as { list: Array<unknown> }).list,
          conflicts: step.value.conflicts.length
        }
      pauses++
    }
  }

  it("pauses while it visits the members of an object", () => {
    const object = (changed: string) =>
      Object.fromEntries(many(5120).map((at) => [`m${at}`, `m${at}` === changed ? -1 : at]))
    const sides = { base: object(""), ours: object("m1"), theirs: object("m2") }
    const merge = mergingExact(sides as never)
    let pauses = 0
    while (merge.next().done !== true) pauses++
    assert.strictEqual(pauses, 43)
  })

  it("pauses while it visits members, and gives all of them", () => {
    const added = (list: Array<unknown>, side: string) =>
      side === "ours" ? ["first", ...list] : [...list, "last"]
    const set = steps({ fields: { list: "set" } }, added, many(3000))
    const sequence = steps({ fields: { list: "sequence" } }, added, many(3000))
    const keyed = steps(
      { fields: { list: { key: "id" } } },
      (list, side) => (side === "ours" ? [{ id: "x" }, ...list] : [...list, { id: "y" }]),
      objects
    )
    assert.deepStrictEqual(
      [set, sequence, keyed].map(({ list }) => list.length),
      [3002, 3002, 3002]
    )
    assert.deepStrictEqual(
      [set, sequence, keyed].map(({ conflicts }) => conflicts),
      [0, 0, 0]
    )
    assert.deepStrictEqual(
      [set, sequence, keyed].map(({ pauses }) => pauses),
      [28, 91, 24]
    )
  })
})

describe("rules that do not fit", () => {
  it("are described", () => {
    const problems: ReadonlyArray<readonly [rules: unknown, problem: string | undefined]> = [
      [undefined, ""],
      [1, ""],
      [{ document: 1 }, "document must be a function"],
      [{ settle: "ours" }, "settle must be a function"],
      [{ sameChange: "twice" }, 'sameChange must be "once" or "conflict"'],
      [{ sameChange: 1 }, 'sameChange must be "once" or "conflict"'],
      [{ sameChange: "once" }, undefined],
      [{ sameChange: "conflict", settle: () => "ours", document: () => undefined }, undefined],
      [{}, undefined],
      [{ fields: {} }, undefined]
    ]
    for (const [rules, problem] of problems.slice(2)) assert.strictEqual(mergeRulesProblem(rules), problem)
    assert.match(mergeRulesProblem(undefined)!, /^must be an object of rules, it is /)
    assert.match(mergeRulesProblem(1)!, /^must be an object of rules, it is /)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import { maxDepth, tooDeepMessage } from "../../../src/domain/json/CanonicalJson.js"
import {
  CopyError,
  copyJson,
  isDeeperThan,
  isLiteral,
  mergeMembers,
  setMember
} from "../../../src/domain/json/JsonCopy.js"

const json = fc.jsonValue({ maxDepth: 3 })

/** A value inside `levels` lists and objects by turns. */
const nested = (levels: number, inner: unknown = 1): unknown => {
  let value = inner
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

const problemOf = (value: unknown) => {
  try {
    copyJson(value)
    return undefined
  } catch (error) {
    assert.instanceOf(error, CopyError)
    return { message: error.message, path: error.problem.path, name: error.name }
  }
}

describe("a copy", () => {
  it.prop("is equal, and shares no list and no object", [json], ([value]) => {
    const copy = copyJson(value)
    assert.deepStrictEqual(copy, value)
    const shared = (a: unknown, b: unknown): boolean =>
      typeof a === "object" &&
      a !== null &&
      (a === b || Object.entries(a).some(([key, member]) => shared(member, (b as typeof a)[key as never])))
    assert.isFalse(shared(value, copy))
  })

  it("has instances of classes as they are, and lists without holes", () => {
    const date = new Date(0)
    const list: Array<unknown> = [1]
    list[2] = date
    const given = { date, list, bare: Object.assign(Object.create(null), { a: 1 }) }
    const copy = copyJson(given) as typeof given
    assert.strictEqual(copy.date, date)
    assert.deepStrictEqual(Object.keys(copy.list), ["0", "1", "2"])
    assert.strictEqual(copy.list[2], date)
    assert.notStrictEqual(copy.bare, given.bare)
    assert.deepStrictEqual({ ...copy.bare }, { a: 1 })
  })

  it("lacks members that are undefined, unless they are to be kept", () => {
    const given = { a: undefined, b: null, c: { d: undefined } }
    assert.deepStrictEqual(Object.keys(copyJson(given) as object), ["b", "c"])
    const kept = copyJson(given, { isCopied: isLiteral, keepsUndefined: true }) as typeof given
    assert.deepStrictEqual([Object.keys(kept), Object.keys(kept.c)], [["a", "b", "c"], ["d"]])
  })

  it("copies the objects that its rules accept", () => {
    class Own {
      constructor(readonly inside: object) {}
    }
    const given = { own: new Own({ a: 1 }), plain: {} }
    const copy = copyJson(given) as typeof given
    assert.deepStrictEqual({ ...copy.own }, { inside: { a: 1 } })
    assert.notStrictEqual(copy.own.inside, given.own.inside)
    const literals = copyJson(given, { isCopied: isLiteral, keepsUndefined: false }) as typeof given
    assert.strictEqual(literals.own, given.own)
    assert.notStrictEqual(literals.plain, given.plain)
  })

  it("has a member named __proto__ as JSON.parse gives it", () => {
    const given = JSON.parse('{"__proto__": {"a": 1}, "b": 2}')
    const copy = copyJson(given) as object
    assert.strictEqual(JSON.stringify(copy), '{"__proto__":{"a":1},"b":2}')
    assert.strictEqual(Object.getPrototypeOf(copy), Object.prototype)
    const object: Record<string, unknown> = {}
    setMember(object, "__proto__", 1)
    setMember(object, "__proto__", 2)
    assert.deepStrictEqual(Object.entries(object), [["__proto__", 2]])
    const plain = { configurable: true, enumerable: true, writable: true }
    assert.deepStrictEqual(Object.getOwnPropertyDescriptor(object, "__proto__"), { value: 2, ...plain })
  })

  it("is refused where a value contains itself, by the place and what is there again", () => {
    const itself: Record<string, unknown> = { ok: [1] }
    itself["self"] = itself
    assert.deepStrictEqual(problemOf(itself), {
      message: "self: is the document itself: a cycle",
      path: "self",
      name: "CopyError"
    })
    const list: Array<unknown> = [{ twice: {} }]
    const inner: Record<string, unknown> = { list }
    list.push({ back: inner })
    const same = { x: 1 }
    assert.strictEqual(
      problemOf({ one: same, two: same, inner })?.message,
      "inner.list[1].back: is inner again: a cycle"
    )
    const date = Object.assign(new Date(0), { inner })
    assert.strictEqual(problemOf({ date, inner })?.path, "inner.list[1].back")
    assert.isUndefined(problemOf({ date }))
    const among: Record<string, unknown> = { none: null, absent: undefined, text: "x", number: 1 }
    among["self"] = among
    assert.throws(
      () => copyJson(among, { isCopied: isLiteral, keepsUndefined: true }),
      "self: is the document itself: a cycle"
    )
  })

  it("is refused with the place of a cycle as long as values may be deep, and without it of a longer one", () => {
    const ring = (length: number) => {
      const last: Record<string, unknown> = {}
      let first = last
      for (let at = 1; at < length; at++) first = { a: first }
      last["a"] = first
      return first
    }
    const { message, path } = problemOf(ring(maxDepth + 1))!
    assert.deepStrictEqual(
      [message, path],
      [
        `${path}: is the document itself: a cycle`,
        Array(maxDepth + 1)
          .fill("a")
          .join(".")
      ]
    )
    assert.strictEqual(problemOf(ring(maxDepth + 2))?.message, `the document: ${tooDeepMessage}`)
  })

  it("is refused where a value is nested too deeply, and not one level before", () => {
    assert.isUndefined(problemOf(nested(maxDepth + 1)))
    assert.deepStrictEqual(problemOf(nested(maxDepth + 2)), {
      message: `the document: ${tooDeepMessage}`,
      path: "",
      name: "CopyError"
    })
    assert.strictEqual(problemOf(nested(100_000))?.name, "CopyError")
    assert.strictEqual(problemOf({ own: new Date(0), deep: nested(maxDepth * 2) })?.path, "")
    assert.isUndefined(problemOf(nested(maxDepth, new Date(0))))
  })

  it("passes on what a getter throws", () => {
    const broken = new Error("broken")
    let reads = 0
    const given = Object.defineProperty({}, "a", {
      enumerable: true,
      get: () => {
        if (reads++ === 0) throw broken
        return 1
      }
    })
    assert.throws(() => copyJson(given), broken)
  })
})

describe("two objects", () => {
  it("are merged member by member, the second one's before the first one's", () => {
    const above = JSON.parse('{"b": 3, "__proto__": 4}')
    const merged = Steps.runSync(mergeMembers({ a: 1, b: 2 }, above))
    assert.strictEqual(JSON.stringify(merged), '{"a":1,"b":3,"__proto__":4}')
  })

  it("are merged with pauses", () => {
    const large = Object.fromEntries(Array.from({ length: 3 * Steps.stepSize }, (_, at) => [`k${at}`, at]))
    assert.lengthOf([...mergeMembers(large, {})], 3)
    assert.lengthOf([...mergeMembers(large, large)], 6)
    assert.lengthOf([...mergeMembers({ a: 1 }, { b: 1 })], 0)
  })
})

it("a value is nested deeper than some levels, or not", () => {
  for (const levels of [0, 1, 2, 5]) {
    assert.isTrue(isDeeperThan(nested(levels + 1), levels))
    assert.isFalse(isDeeperThan(nested(levels), levels))
    assert.isTrue(isDeeperThan([1, null, { a: 1, b: nested(levels) }], levels))
    assert.isFalse(isDeeperThan(null, levels))
  }
})

it("a literal has the prototype of objects, or none", () => {
  class Own {}
  for (const literal of [{}, { a: 1 }, Object.create(null)]) assert.isTrue(isLiteral(literal))
  for (const other of [[], new Own(), new Date(0), Object.create({})]) assert.isFalse(isLiteral(other))
})

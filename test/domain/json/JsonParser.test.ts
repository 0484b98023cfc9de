import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { runSync } from "../../../src/domain/concurrency/Steps.js"
import { parse } from "../../../src/domain/json/JsonParser.js"

const outcome = (read: () => unknown): unknown => {
  try {
    return { value: read() }
  } catch (error) {
    assert.instanceOf(error, SyntaxError)
    return "refused"
  }
}

const same = (text: string, piece: number) =>
  assert.deepStrictEqual(
    outcome(() => runSync(parse(text, piece))),
    outcome(() => JSON.parse(text)),
    `${text} in pieces of ${piece}`
  )

/** Texts of JSON values with white space, escapes and keys of every kind. */
const texts = fc
  .tuple(
    fc.jsonValue({ depthSize: "large", maxDepth: 8 }),
    fc.constantFrom(undefined, 1, "\t", " \r\n"),
    fc.array(fc.constantFrom("__proto__", "constructor", '"\\', "a", "1", "0", "\u2028", "\ud800"), {
      minLength: 1,
      maxLength: 5
    })
  )
  .map(([value, space, keys]) =>
    JSON.stringify(
      keys.reduce<unknown>((inner, key) => [{ [`${key}`]: inner, [`${key}!`]: 1 }, key], value),
      null,
      space
    )
  )

const change = fc.record({
  at: fc.nat(),
  drop: fc.nat({ max: 3 }),
  add: fc.constantFrom(
    "",
    ",",
    "[",
    "]",
    "{",
    "}",
    '"',
    ":",
    "\\",
    "-",
    "1",
    "null",
    " ",
    "\u00a0",
    ",,",
    "]["
  )
})

describe("a JSON text in pieces", () => {
  it("is read as JSON.parse reads it", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 40 }), (text, piece) => same(text, piece)),
      { numRuns: 2000 }
    )
  })

  it("is refused where JSON.parse refuses it", () => {
    fc.assert(
      fc.property(
        texts,
        fc.integer({ min: 1, max: 40 }),
        fc.array(change, { minLength: 1, maxLength: 2 }),
        (text, piece, changes) => {
          const changed = changes.reduce((all, { add, at, drop }) => {
            const place = at % (all.length + 1)
            return all.slice(0, place) + add + all.slice(place + drop)
          }, text)
          same(changed, piece)
        }
      ),
      { numRuns: 5000 }
    )
  })

  it("keeps the last of equal keys, and __proto__ as a key like others", () => {
    const members = Array.from({ length: 50 }, (_, at) => `"k${at % 7}":[${at}]`).join(",")
    const text = `{${members},"__proto__":{"a":[1]},"k3":0}`
    same(text, 8)
    const read = runSync(parse(text, 8)) as object
    assert.deepStrictEqual(Object.keys(read), Object.keys(JSON.parse(text)))
    assert.strictEqual(Object.getPrototypeOf(read), Object.prototype)
    assert.strictEqual((read as { readonly a?: unknown }).a, undefined)
  })

  it("takes as long as it is, however deep it is", () => {
    const levels = 300_000
    const text = "[".repeat(levels) + "]".repeat(levels)
    let value = runSync(parse(text, 1000)) as ReadonlyArray<ReadonlyArray<never>>
    let depth = 1
    for (; value.length > 0; value = value[0]!) depth++
    assert.strictEqual(depth, levels)
  })

  it("pauses while it reads members with keys of their own", () => {
    const text = `[${Array.from({ length: 86_000 }, (_, at) => `{"k${at}":1}`).join(",")}]`
    const steps = parse(text)
    let count = 0
    while (steps.next().done !== true) count++
    assert.isAbove(count, 15)
  })
})

const piece = 65_536

/** Members of a list, a little shorter than a piece, that each have a key of their own. */
const members = (level: number) => {
  const all: Array<string> = []
  for (let length = 0; length < piece - 40; length += all.at(-1)!.length + 1) {
    all.push(`{"k${level}_${all.length}":1}`)
  }
  return all.slice(0, -1).join(",")
}

const timed = (run: () => unknown) => {
  const began = performance.now()
  run()
  return performance.now() - began
}

const longestStep = (text: string) => {
  const steps = parse(text)
  let longest = 0
  for (let done = false; !done; ) {
    longest = Math.max(
      longest,
      timed(() => {
        done = steps.next().done === true
      })
    )
  }
  return longest
}

describe("a JSON text of many levels", () => {
  // A step is "a few milliseconds": of 48 levels, each of which waits for a piece, none is read before the innermost is.
  it("is read in steps although no level of it is as long as a piece by itself", () => {
    const levels = Array.from({ length: 48 }, (_, level) => `[${members(level)},`)
    const text = `${levels.join("")}[]${"]".repeat(levels.length)}`
    const rounds = Array.from({ length: 3 }, () => longestStep(text) / timed(() => JSON.parse(text)))
    assert.isBelow(Math.min(...rounds), 0.5, "one step reads as much as JSON.parse at once")
  })

  it("is read in steps where they are objects, too", () => {
    const levels = Array.from(
      { length: 48 },
      (_, level) => `{${members(level).slice(1, -1).replaceAll("},{", ",")},"next":`
    )
    const text = `${levels.join("")}{}${"}".repeat(levels.length)}`
    const rounds = Array.from({ length: 3 }, () => longestStep(text) / timed(() => JSON.parse(text)))
    assert.isBelow(Math.min(...rounds), 0.5, "one step reads as much as JSON.parse at once")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { parse } from "../../src/domain/JsonSteps.js"

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

describe("a JSON text in pieces", () => {
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

import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Option } from "effect"
import { emptyTree, type Oid } from "../../../src/domain/identifiers/Oid.js"
import { engine } from "./support/temporary.js"

/** Commits with their parents, as distances back, and the errors of their clocks. */
const histories = fc.array(
  fc.record({
    parents: fc.array(fc.nat({ max: 3 }), { minLength: 2, maxLength: 3 }),
    skew: fc.integer({ min: -50, max: 50 })
  }),
  { minLength: 8, maxLength: 14 }
)

describe("merge bases", () => {
  it.scopedLive("are those of stock Git, in any history and with any clocks", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      yield* repository.writeObject("tree", new Uint8Array())
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", args, { cwd: repository.directory, encoding: "utf8" })
      let several = 0
      for (const [round, history] of fc.sample(histories, { numRuns: 16, seed: 11 }).entries()) {
        const made: Array<Oid> = []
        for (const [index, { parents, skew }] of history.entries()) {
          const person = {
            name: "P",
            email: "p@example.org",
            seconds: 1_700_000_000 + index * 10 + skew,
            offset: 0
          }
          const above = parents.flatMap((back) => made[made.length - 2 - back] ?? [])
          made.push(
            yield* repository.writeCommit({
              tree: emptyTree,
              parents: [...new Set(above)],
              author: person,
              committer: person,
              message: `${round}.${index}`
            })
          )
        }
        const [a, b] = [made.at(-1)!, made.at(-2)!]
        let stock: ReadonlyArray<string> = []
        try {
          stock = git("merge-base", "--all", a, b).trim().split("\n").sort()
        } catch {
          // Git exits with status 1 if there is none.
        }
        assert.deepStrictEqual(
          yield* repository.mergeBases(a, b),
          stock as ReadonlyArray<Oid>,
          `round ${round}`
        )
        assert.deepStrictEqual(yield* repository.mergeBases(b, a), stock as ReadonlyArray<Oid>)
        if (stock.length > 1) several++
      }
      assert.isAbove(several, 0, "histories that cross are among them")
      assert.isTrue(Option.isNone(yield* repository.commit("0".repeat(40) as Oid)))
    })
  )
})

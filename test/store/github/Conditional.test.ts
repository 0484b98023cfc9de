import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeValidators } from "../../../src/store/github/Conditional.js"

describe("validators", () => {
  it.effect("are kept by the weight of what they stand for, the last ones first", () =>
    Effect.gen(function* () {
      const client = { generation: Effect.succeed(1) }
      const validators = makeValidators<string>(client, 10, (value) => value.length)
      const held = Effect.map(
        Effect.forEach(["a", "b", "c", "d"], (key) => validators.find(key)),
        (found) => found.map((one) => one?.value)
      )
      validators.keep("a", "1", 1, "aaaa")
      validators.keep("b", "2", 1, "bbbb")
      validators.keep("b", "3", 1, "bb")
      validators.keep("c", "4", 1, "cccc")
      assert.deepStrictEqual(yield* held, ["aaaa", "bb", "cccc", undefined])
      validators.keep("d", "5", 1, "dd")
      assert.deepStrictEqual(yield* held, [undefined, "bb", "cccc", "dd"])
      validators.drop("c")
      validators.keep("a", "6", 1, "a".repeat(6))
      assert.deepStrictEqual(yield* held, ["aaaaaa", "bb", undefined, "dd"])
      validators.keep("a", "7", 1, "a".repeat(11))
      assert.deepStrictEqual(yield* held, [undefined, "bb", undefined, "dd"], "no room is made for it")
      validators.clear()
      validators.keep("a", "8", 1, "a".repeat(10))
      assert.deepStrictEqual(yield* held, ["a".repeat(10), undefined, undefined, undefined])
    })
  )
})

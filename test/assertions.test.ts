import { assert, it } from "@effect/vitest"
import { Chunk, Either, Exit, Option } from "effect"

it("deep equality tells values of Effect apart, wherever they lie", () => {
  const values = [
    Option.none(),
    Option.some(1),
    Option.some(2),
    Option.some(undefined),
    Either.left(1),
    Either.right(1),
    Exit.succeed(1),
    Exit.fail(1),
    Chunk.make(1),
    Chunk.empty()
  ]
  for (const [at, a] of values.entries()) {
    for (const [other, b] of values.entries()) {
      for (const within of [(value: unknown) => value, (value: unknown) => ({ list: [value] })]) {
        if (at === other) assert.deepStrictEqual(within(a), within(b))
        else assert.throws(() => assert.deepStrictEqual(within(a), within(b)), /expected/)
      }
    }
  }
})

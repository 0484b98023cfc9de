import { assert, it } from "@effect/vitest"
import { render } from "../../../src/domain/playground/ResponseTemplate.js"

it("what a placeholder is replaced with is not scanned again", () => {
  assert.strictEqual(render("{request}{request}", 1), "11")
  assert.strictEqual(render("{req{request}uest}", 1), "{req1uest}")
})

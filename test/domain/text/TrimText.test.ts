import { assert, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { trim, trimEnd } from "../../../src/domain/text/TrimText.js"

it.prop("trims as the expressions would", [fc.stringMatching(/^[ab\n/]{0,12}$/)], ([text]) => {
  assert.strictEqual(trimEnd(text, /\n/), text.replace(/\n+$/, ""))
  assert.strictEqual(trim(text, /\//), text.replace(/^\/+|\/+$/g, ""))
})

it("leaves nothing of a text that matches to its end", () => {
  // A place outside the text is `undefined`, in which these letters are.
  for (const text of ["d", "dd", ""]) {
    assert.strictEqual(trimEnd(text, /[a-z]/), "")
    assert.strictEqual(trim(text, /[a-z]/), "")
  }
})

it("takes time that grows with the length alone", () => {
  const run = `a${"\n".repeat(2_000_000)}a`
  const began = performance.now()
  assert.strictEqual(trim(run, /\n/), run)
  assert.isBelow(performance.now() - began, 2000)
})

import { assert, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { compareCodePoints } from "../../../src/domain/text/CodePointOrder.js"

const points = (text: string) => [...text].map((character) => character.codePointAt(0)!)

const character = fc.constantFrom(
  "",
  "a",
  "b",
  "é",
  "\ud7ff",
  "\ue000",
  "\uf900",
  "\uffff",
  "\u{10000}",
  "😀",
  "\u{10ffff}"
)
const text = fc.array(character, { maxLength: 4 }).map((characters) => characters.join(""))

it.prop(
  "texts are ordered by their first code point that differs, a beginning before the whole",
  [text, text],
  ([a, b]) => {
    const [left, right] = [points(a), points(b)]
    const at = left.findIndex((point, index) => point !== right[index])
    const expected = at === -1 ? left.length - right.length : left[at]! - (right[at] ?? -1)
    assert.strictEqual(Math.sign(compareCodePoints(a, b)), Math.sign(expected))
  },
  { fastCheck: { numRuns: 2_000 } }
)

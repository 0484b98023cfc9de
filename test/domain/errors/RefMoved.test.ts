import { assert, it } from "@effect/vitest"
import { Option } from "effect"
import { RefMoved } from "../../../src/domain/errors/RefMoved.js"
import { Oid } from "../../../src/domain/identifiers/Oid.js"

const [before, after] = [Oid.make("0123456789".repeat(4)), Oid.make("abcdef0123".repeat(4))]

it("a moved branch is named with both heads, in short", () => {
  const heads = { ref: "main", expected: Option.some(before), actual: Option.some(after) }
  assert.strictEqual(new RefMoved(heads).message, "main is at abcdef0, expected 0123456")
  assert.strictEqual(
    new RefMoved({ ...heads, actual: Option.none() }).message,
    "main is at absent, expected 0123456"
  )
  assert.strictEqual(
    new RefMoved({ ...heads, expected: Option.none() }).message,
    "main is at abcdef0, expected absent"
  )
})

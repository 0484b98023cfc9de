import { createHash } from "node:crypto"
import { assert, it } from "@effect/vitest"
import { emptyTree, isOid } from "../../../src/domain/identifiers/Oid.js"

it("an object id is forty lower-case hexadecimal digits", () => {
  const digits = "0123456789abcdef".repeat(3)
  assert.isTrue(isOid(digits.slice(0, 40)))
  assert.isTrue(isOid(emptyTree))
  const id = digits.slice(0, 40)
  for (const other of [
    digits.slice(0, 39),
    digits.slice(0, 41),
    id.toUpperCase(),
    `${id.slice(1)}g`,
    `${id}\n`,
    ` ${id}`,
    "",
    1,
    null,
    undefined,
    [id]
  ]) {
    assert.isFalse(isOid(other), `${other}`)
  }
})

it("the empty tree has the id that Git computes", () => {
  assert.strictEqual(emptyTree, createHash("sha1").update("tree 0\0").digest("hex"))
})

import { createHash } from "node:crypto"
import { assert, it } from "@effect/vitest"
import { sha1, sha256 } from "../../src/git/Digest.js"

const bytes = (size: number) => Uint8Array.from({ length: size }, (_, n) => (n * 31 + size) % 251)

it("digests are the same on both sides of every length that is treated on its own", () => {
  for (const size of [0, 1, 55, 56, 64, 4_000, 4_087, 4_096, 4_097, 10_000]) {
    const whole = bytes(size)
    const expected = createHash("sha1").update(whole).digest("hex")
    assert.strictEqual(sha1(whole), expected, String(size))
    for (const cut of [0, size >> 1, size]) {
      assert.strictEqual(sha1(whole.subarray(0, cut), whole.subarray(cut)), expected, `${size} at ${cut}`)
    }
  }
})

it("a text is hashed as UTF-8, with a replacement for half of a pair", () => {
  for (const text of ["", "ada", "Zürich", "日本", "💥", "\ud800", "a\udc00b", "x".repeat(10_000)]) {
    const expected = createHash("sha256").update(new TextEncoder().encode(text)).digest("hex")
    assert.strictEqual(sha256(text), expected, JSON.stringify(text))
  }
})

import { createHash } from "node:crypto"
import { assert, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { vi } from "vitest"
import * as Digest from "../../src/git/Digest.js"

it("a browser computes the digests that Node does", async () => {
  const { getBuiltinModule } = process
  vi.resetModules()
  process.getBuiltinModule = (() => undefined) as unknown as typeof getBuiltinModule
  const portable = await import("../../src/git/Digest.js").finally(() => {
    process.getBuiltinModule = getBuiltinModule
  })
  assert.notStrictEqual(portable.sha1, Digest.sha1)
  FastCheck.assert(
    FastCheck.property(FastCheck.uint8Array(), FastCheck.fullUnicodeString(), (bytes, text) => {
      const parts = [new TextEncoder().encode(text), bytes]
      const sha1 = createHash("sha1").update(Buffer.concat(parts)).digest("hex")
      const sha256 = createHash("sha256").update(text, "utf8").digest("hex")
      for (const digest of [Digest, portable]) {
        assert.strictEqual(digest.sha1(...parts), sha1)
        assert.strictEqual(digest.sha256(text), sha256)
      }
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import * as Base64Content from "../../../src/http/host/request/Base64Content.js"
import { inChunks } from "../../support/inChunks.js"

const white = fc.constantFrom("", "", "", "\n", " ", "\r\n\t")
const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 })

const shapeOf = (pieces: ReadonlyArray<string>) => {
  const shape = new Base64Content.Base64Scan()
  for (const piece of pieces) shape.add(Buffer.from(piece))
  return shape
}

describe("base64 that arrives in pieces", () => {
  it("comes to the bytes that it was made of, with white space anywhere", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 60 }),
        white,
        fc.integer({ min: 1, max: 9 }),
        cuts,
        (bytes, space, every, sizes) => {
          const plain = Buffer.from(bytes).toString("base64")
          const text = plain.replace(new RegExp(`.{${every}}`, "g"), `$&${space}`)
          const pieces = inChunks(text, sizes)
          const shape = shapeOf(pieces)
          assert.strictEqual(shape.size, bytes.length)
          assert.strictEqual(shape.strict, text === plain)
          const decoded = Effect.runSync(
            Stream.runCollect(
              Base64Content.decodeStream(Stream.fromIterable(pieces.map((piece) => Buffer.from(piece))))
            )
          )
          assert.deepStrictEqual(Buffer.concat([...decoded]), Buffer.from(bytes))
          assert.deepStrictEqual(Buffer.from(Effect.runSync(Base64Content.decode(text))), Buffer.from(bytes))
        }
      )
    )
  })

  it("is checked in chunks like the whole text", () => {
    const whole = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
    const characters = fc.constantFrom("A", "z", "0", "+", "/", "=", "=", "-", " ", "é")
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 12 }), cuts, (all, sizes) => {
        const text = all.join("")
        const bare = text.replaceAll(" ", "")
        assert.strictEqual(shapeOf(inChunks(text, sizes)).size !== undefined, whole.test(bare), text)
      }),
      { numRuns: 3_000 }
    )
  })
})

import { assert, it } from "@effect/vitest"
import { Either, FastCheck as fc, Schema } from "effect"
import { PathSegment, RefPath } from "../../../src/domain/http/PathSegment.js"

const isWellFormed = (value: string) => !/\p{Surrogate}/u.test(value)

it("path segments survive the wire: what is encoded is one segment, and decodes to itself", () => {
  const segment = fc.string({ minLength: 1 }).filter((value) => isWellFormed(value))
  fc.assert(
    fc.property(segment, (value) => {
      const encoded = Schema.encodeSync(PathSegment)(value)
      assert.notInclude(encoded, "/")
      assert.strictEqual(decodeURIComponent(encoded), value)
      assert.strictEqual(
        Schema.encodeSync(RefPath)(`refs/heads/${value}`),
        `refs/heads/${encoded.replaceAll("%2F", "/")}`
      )
    })
  )
})

it("the slashes of a ref stay, and everything else is encoded as in a segment", () => {
  const name = fc.string({ minLength: 1 }).filter((value) => isWellFormed(value) && !value.includes("/"))
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
      const encoded = Schema.encodeSync(RefPath)(names.join("/"))
      assert.deepStrictEqual(
        encoded.split("/"),
        names.map((one) => Schema.encodeSync(PathSegment)(one))
      )
    })
  )
})

it("a server has them decoded: they stay as they are, and none is empty", () => {
  for (const schema of [PathSegment, RefPath]) {
    const decode = Schema.decodeEither(schema)
    for (const given of ["a", "a%2Fb", "refs/heads/main", "é ?"]) {
      assert.deepStrictEqual(decode(given), Either.right(given))
    }
    assert.isTrue(Either.isLeft(decode("")))
    assert.isTrue(Either.isLeft(Schema.encodeEither(schema)("")))
  }
})

import { assert, it } from "@effect/vitest"
import { runSync, stepSize } from "../../../src/domain/concurrency/Steps.js"
import { bodyOf, metadataNames } from "../../../src/domain/document/DocumentBody.js"

it("the body of a document has all fields but its metadata, in their order", () => {
  const metadata = { _id: "a", _rev: 1, _created_at: "x", _updated_at: "y" }
  const body = runSync(bodyOf({ b: 1, ...metadata, a: { _id: "inner" }, _other: null }))
  assert.strictEqual(JSON.stringify(body), '{"b":1,"a":{"_id":"inner"},"_other":null}')
  for (const name of metadataNames) {
    assert.deepStrictEqual(runSync(bodyOf({ a: 1, [name]: metadata[name] })), { a: 1 })
  }
})

it("a document without metadata is its own body", () => {
  const object = { a: 1 }
  assert.strictEqual(runSync(bodyOf(object)), object)
})

it("a field of the body may have any name", () => {
  const object = JSON.parse('{"_id":"a","__proto__":{"x":1}}')
  assert.strictEqual(JSON.stringify(runSync(bodyOf(object))), '{"__proto__":{"x":1}}')
})

it("the body of a long document is made in pauses", () => {
  const pausesOf = (fields: number) => {
    const keys = Array.from({ length: fields - 1 }, (_, at) => [`k${at}`, at] as const)
    const steps = bodyOf({ _id: "a", ...Object.fromEntries(keys) })
    let pauses = 0
    while (steps.next().done !== true) pauses++
    return pauses
  }
  assert.deepStrictEqual([stepSize - 1, stepSize, 3 * stepSize].map(pausesOf), [0, 1, 3])
})

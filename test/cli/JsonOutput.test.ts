import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { jsonLine, jsonLines } from "../../src/cli/JsonOutput.js"
import { LosslessNumber } from "../../src/domain/json/NumberText.js"

describe("the JSON that commands print", () => {
  it("has the layout of JSON.stringify", () => {
    const members = [fc.string(), fc.integer(), fc.boolean(), fc.constantFrom(null, undefined, Number.NaN)]
    const date = fc.date({ noInvalidDate: true })
    fc.assert(
      fc.property(fc.object({ values: [...members, date], withNullPrototype: true }), (value) => {
        assert.strictEqual(jsonLines(value), JSON.stringify(value, null, 2))
        assert.strictEqual(jsonLine([value, undefined]), JSON.stringify([value, undefined]))
      })
    )
  })

  it("has numbers as a file spells them", () => {
    const value = { a: new LosslessNumber("7.10"), b: [-0, 1e-7, 1e21, 0.5, 12], c: Number.POSITIVE_INFINITY }
    assert.strictEqual(jsonLine(value), '{"a":7.10,"b":[-0.0,1e-07,1e+21,0.5,12],"c":null}')
  })
})

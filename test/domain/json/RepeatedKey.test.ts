import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"
import { runSync } from "../../../src/domain/concurrency/Steps.js"
import { repeatedKeySteps } from "../../../src/domain/json/RepeatedKey.js"
import { readDocument } from "../../../src/store/browse/EditText.js"

const found = (text: string) => runSync(repeatedKeySteps(text))

describe("a key that an object has twice", () => {
  it("is found with its path and both lines, however it is written", () => {
    assert.deepStrictEqual(found('{"a": 1,\n "b": 2,\r\n "\\u0061": 3}'), { path: "a", lines: [1, 3] })
    assert.deepStrictEqual(found('{"list": [{"x": 1}, {"x": {"y": 1, "z": 2,\n"y": 3}}]}'), {
      path: "list[1].x.y",
      lines: [1, 2]
    })
    assert.deepStrictEqual(found('{"__proto__": 1, "__proto__": 2}')?.lines, [1, 1])
    assert.deepStrictEqual(found('{"": 1, "": 2}')?.lines, [1, 1])
    // An object inside does not make its parent forget.
    assert.strictEqual(found('{"a": {"a": {"b": 1}}, "b": {}, "a": 0}')?.path, "a")
  })

  it("is the first one of the text, whichever ends its lines", () => {
    assert.deepStrictEqual(found('{"a": 1,\r"a": 2,\r"b": 3, "b": 4, "a": 5}'), { path: "a", lines: [1, 2] })
  })

  it("is one object's alone, and no text in a string", () => {
    assert.isUndefined(
      found('{"a": {"a": 1}, "b": {"a": [{"a": 1}, {"a": 2}]}, "c": "{\\"a\\": 1, \\"a\\": 2}"}')
    )
  })

  it.prop("is in no text that was written from a value", [fc.jsonValue()], ([value]) => {
    assert.isUndefined(found(JSON.stringify(value)))
  })

  it("keeps an edited text from being published, by name and line", () => {
    const read = runSync(readDocument('{\n  "title": "a",\n  "title": "b"\n}'))
    assert.deepStrictEqual(
      read,
      Either.left(
        "has title twice, on lines 2 and 3, and only the last would be stored: remove one, or rename it"
      )
    )
  })
})

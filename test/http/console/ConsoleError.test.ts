import { assert, describe, it } from "@effect/vitest"
import { ValidationError } from "../../../src/domain/errors/StoreError.js"
import { fromStore } from "../../../src/http/console/ConsoleError.js"

describe("failures of the console's API", () => {
  it("are sentences with the hint, printed once", () => {
    const told = (message: string, hint?: string) =>
      fromStore(new ValidationError({ operation: "x", message, ...(hint === undefined ? {} : { hint }) }), 0)
        .message
    assert.strictEqual(told("a is not JSON", "mend the file"), "a is not JSON. Mend the file")
    assert.strictEqual(told("Really?", "mend the file"), "Really? Mend the file")
    assert.strictEqual(told("mend the file now", "mend the file"), "mend the file now")
    assert.strictEqual(told("a is not JSON"), "a is not JSON")
  })
})

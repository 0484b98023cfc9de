import { assert, describe, it } from "@effect/vitest"
import { AmbiguousWriteError, ConflictError, ValidationError } from "../../../src/domain/errors/StoreError.js"
import { toRemoteError } from "../../../src/git/disk/files/EngineError.js"
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

  it("name no directory of the server that they quote from their cause", () => {
    const full = Object.assign(new Error("ENOSPC: write"), { code: "ENOSPC" })
    const cause = toRemoteError("x", "/srv/secret.git", full)
    const quoted = new AmbiguousWriteError({
      ...{ operation: "x", path: "data/a.json", cause },
      message: `whether data/a.json is there is unknown: ${cause.message}`
    })
    const { message, status } = fromStore(quoted, 0)
    assert.strictEqual(status, 502)
    assert.notInclude(message, "secret")
    assert.include(message, "the disk is full")
    const taken = new ConflictError({ operation: "x", message: "a is taken", conflicts: [], cause })
    assert.strictEqual(fromStore(taken, 0).message, "a is taken")
  })
})

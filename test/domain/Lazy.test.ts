import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { lazy } from "../../src/domain/Lazy.js"
import { RemoteError } from "../../src/domain/StoreError.js"

it.effect("a module that cannot be loaded is an error, and is asked for again", () =>
  Effect.gen(function* () {
    const gone = new Error("Failed to fetch dynamically imported module")
    const answers = [Promise.reject(gone), Promise.resolve({ part: 1 })]
    const part = lazy(() => answers.shift()!)
    const error = yield* Effect.flip(part)
    assert.instanceOf(error, RemoteError)
    assert.strictEqual(error.reason, "Unreachable")
    assert.strictEqual(error.cause, gone)
    assert.deepStrictEqual(yield* part, { part: 1 })
  })
)

import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { RemoteError } from "../../../src/domain/errors/StoreError.js"
import { lazyModule } from "../../../src/domain/runtime/LazyModule.js"

it.effect("a module that cannot be loaded is an error, and is asked for again", () =>
  Effect.gen(function* () {
    const gone = new Error("Failed to fetch dynamically imported module")
    const answers = [Promise.reject(gone), Promise.resolve({ part: 1 })]
    const part = lazyModule(() => answers.shift()!)
    const error = yield* Effect.flip(part)
    assert.instanceOf(error, RemoteError)
    assert.strictEqual(error.reason, "Unreachable")
    assert.strictEqual(error.cause, gone)
    assert.deepStrictEqual(yield* part, { part: 1 })
  })
)

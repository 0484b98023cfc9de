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
    assert.strictEqual(error.operation, "Store.load")
    assert.strictEqual(error.message, "a part of the program could not be loaded")
    assert.strictEqual(error.hint, "try again; in a browser, reload the page")
    assert.deepStrictEqual(yield* part, { part: 1 })
  })
)

it.effect("a module is loaded on first use, and once", () =>
  Effect.gen(function* () {
    let loads = 0
    const part = lazyModule(async () => ({ loads: ++loads }))
    assert.strictEqual(loads, 0)
    const first = yield* part
    assert.deepStrictEqual(first, { loads: 1 })
    // Without a wait, once it is there.
    assert.strictEqual(Effect.runSync(part), first)
    assert.strictEqual(loads, 1)
  })
)

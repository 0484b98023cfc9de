import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { RemoteError } from "../../../src/store/index.js"
import { AsyncStore } from "../../../src/store/promise/index.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"

/** What a remote fails with that is switched off. */
export const down = new RemoteError({ operation: "test", reason: "Unreachable", message: "down" })

/** A repository in memory that many stores can be opened on, and whose writes can be held up or switched off. */
export const repository = () => {
  const shared = new Memory.MemoryRepository()
  const remote = { isDown: false, held: Effect.void }
  const layer = Layer.provide(
    Store.layer(),
    Memory.layer({
      repository: shared,
      faults: {
        onWrite: (_, point) =>
          point === "start" ? (remote.isDown ? Effect.fail(down) : remote.held) : Effect.void
      }
    })
  )
  const branches = () => Array.from(shared.refs.keys())
  return { open: () => AsyncStore.fromLayer(layer), layer, remote, branches }
}

export const rejected = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => assert.fail(`it did not reject: ${JSON.stringify(value)}`),
    (error: unknown) => error
  )

export const outcome = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((error: unknown) => error)

import * as Effect from "effect/Effect"
import { RemoteError } from "../errors/StoreError.js"

/**
 * Loads a module on first use, so that a page does not contain it from the start. Loading fails when the page is offline
 * or its server is gone. The next call tries again.
 */
export const lazyModule = <M extends object>(load: () => Promise<M>): Effect.Effect<M, RemoteError> => {
  let loaded: M | undefined
  const loading = Effect.tryPromise({
    try: async () => {
      loaded = await load()
      return loaded
    },
    catch: (cause) =>
      new RemoteError({
        operation: "Store.load",
        reason: "Unreachable",
        message: "a part of the program could not be loaded",
        hint: "try again; in a browser, reload the page",
        cause
      })
  })
  return Effect.suspend(() => (loaded === undefined ? loading : Effect.succeed(loaded)))
}

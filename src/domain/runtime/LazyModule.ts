import * as Effect from "effect/Effect"
import { RemoteError } from "../errors/StoreError.js"

/**
 * A module that is loaded when it is first needed, so that a page does not carry it before. A page that outlives its
 * server, or is offline, cannot load it: that is an error which can be told, and the next call tries again.
 */
export const lazyModule = <M>(load: () => Promise<M>): Effect.Effect<M, RemoteError> =>
  Effect.tryPromise({
    try: load,
    catch: (cause) =>
      new RemoteError({
        operation: "Store.load",
        reason: "Unreachable",
        message: "a part of the program could not be loaded",
        hint: "try again; in a browser, reload the page",
        cause
      })
  })

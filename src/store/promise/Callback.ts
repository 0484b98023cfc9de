import * as Effect from "effect/Effect"

/** What a caller's function threw, on its way through the store. */
export class CallbackError {
  readonly _tag = "chainstore/Thrown"
  constructor(readonly reason: unknown) {}
}

/** A caller's function as an effect; what it throws reaches the caller unchanged. */
export const runCallback = <A>(
  body: (signal: AbortSignal) => PromiseLike<A> | A
): Effect.Effect<A, CallbackError> =>
  Effect.tryPromise({ try: async (signal) => body(signal), catch: (reason) => new CallbackError(reason) })

/** A caller's function as the store's callback: the store waits for it, and what it throws ends the call unchanged. */
export const toEffectCallback =
  <A extends ReadonlyArray<unknown>>(notify: (...args: A) => PromiseLike<void> | void) =>
  (...args: A): Effect.Effect<void> =>
    Effect.orDie(runCallback(() => notify(...args)))

/** What a caller's function threw, where an error carries that; the error itself otherwise. */
export const callbackReason = (error: unknown): unknown => {
  if (error instanceof CallbackError) return error.reason
  const inner = error instanceof Error && "cause" in error ? error.cause : undefined
  return inner instanceof CallbackError ? inner.reason : error
}

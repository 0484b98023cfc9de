import * as Effect from "effect/Effect"

/** Carries the value that a caller's function threw through the error channel of the store. */
export class CallbackError {
  readonly _tag = "chainstore/Thrown"
  constructor(readonly reason: unknown) {}
}

/** Runs a caller's function as an effect. The caller receives a thrown value unchanged. */
export const runCallback = <A>(
  body: (signal: AbortSignal) => PromiseLike<A> | A
): Effect.Effect<A, CallbackError> =>
  Effect.tryPromise({ try: async (signal) => body(signal), catch: (reason) => new CallbackError(reason) })

/** Converts a caller's function to an effectful callback. A thrown value ends the call as a defect, unchanged. */
export const toEffectCallback =
  <A extends ReadonlyArray<unknown>>(notify: (...args: A) => PromiseLike<void> | void) =>
  (...args: A): Effect.Effect<void> =>
    Effect.orDie(runCallback(() => notify(...args)))

/** The value that a caller's function threw, if the error carries one; otherwise the error. */
export const callbackReason = (error: unknown): unknown => {
  if (error instanceof CallbackError) return error.reason
  const inner = error instanceof Error && "cause" in error ? error.cause : undefined
  return inner instanceof CallbackError ? inner.reason : error
}

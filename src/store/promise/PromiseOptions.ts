import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { callback as anyFunction, optional, optionsReader, valueKind } from "../../domain/options/Options.js"
import { toEffectCallback } from "./Callback.js"

/**
 * Options of every operation that can be aborted.
 *
 * @since 0.1.0
 * @category options
 */
export interface SignalOptions {
  /** Interrupts the call: either nothing or the complete write is stored. The promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

type PromiseOption<Value> = Value extends (...args: infer Args) => Effect.Effect<void>
  ? (...args: Args) => PromiseLike<void> | void
  : Value extends (...args: infer Args) => infer Result
    ? Extract<Result, Effect.Effect<any>> extends Effect.Effect<infer A>
      ? (...args: Args) => PromiseLike<A> | A
      : Value
    : Value

/** The options of an effect, with plain or async functions as callbacks, and a signal. */
export type PromiseOptions<Options> = SignalOptions & {
  [Name in keyof Options]: PromiseOption<Options[Name]>
}

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null

/** Converts options to those of the effect: removes the signal, and makes each function an effectful callback. */
export const effectOptions = (options: unknown): any => {
  if (!isObject(options)) return options
  const { signal: _, ...rest } = options
  const isFunction = (value: unknown): value is () => void => typeof value === "function"
  return Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, isFunction(value) ? toEffectCallback(value) : value])
  )
}

/** The signal of options. */
export const signalOptions = (options: SignalOptions | undefined): SignalOptions | undefined =>
  typeof options === "object" && options !== null ? { signal: options.signal } : options

const readSignal = optionsReader(
  Schema.UndefinedOr(
    Schema.Struct({
      signal: optional(
        Schema.NullOr(
          valueKind<AbortSignal>(
            "an AbortSignal",
            (value) => isObject(value) && "aborted" in value && "addEventListener" in value,
            { hint: "pass the signal of a controller" }
          )
        )
      )
    })
  )
)

/** Validates the options, returns their signal, and throws if it is aborted already. Other options are rejected. */
export const readSignalOption = (options: SignalOptions | undefined): AbortSignal | undefined => {
  Either.getOrThrowWith(readSignal("AsyncStore", options), (error) => error)
  if (options?.signal?.aborted === true) throw options.signal.reason
  return options?.signal ?? undefined
}

/** Runs a call. `abort` runs if the signal is aborted before the call ends. */
export const withAbort = async <A>(
  signal: AbortSignal | undefined,
  abort: () => void,
  call: () => Promise<A>
): Promise<A> => {
  if (signal?.aborted === true) abort()
  signal?.addEventListener("abort", abort, { once: true })
  try {
    return await call()
  } finally {
    signal?.removeEventListener("abort", abort)
  }
}

const readFunction = optionsReader(anyFunction())

/** Throws a `ValidationError` unless the body is a function. */
export const requireBody = (operation: string, body: unknown): void => {
  Either.getOrThrowWith(readFunction(operation, body, "body"), (error) => error)
}

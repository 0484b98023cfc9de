import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { callback as anyFunction, optional, optionsReader, valueKind } from "../../domain/options/Options.js"
import { toEffectCallback } from "./Callback.js"

/**
 * An operation that can be aborted.
 *
 * @since 0.1.0
 * @category options
 */
export interface SignalOptions {
  /** Ends the call: nothing is written, or the whole write is; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

type PromiseOption<Value> = Value extends (...args: infer Args) => Effect.Effect<void>
  ? (...args: Args) => PromiseLike<void> | void
  : Value extends (...args: infer Args) => infer Result
    ? Extract<Result, Effect.Effect<any>> extends Effect.Effect<infer A>
      ? (...args: Args) => PromiseLike<A> | A
      : Value
    : Value

/** Options of an Effect with a signal, and with plain or async functions as callbacks. */
export type PromiseOptions<Options> = SignalOptions & {
  [Name in keyof Options]: PromiseOption<Options[Name]>
}

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null

/** The options that the Effect of the same name takes: without the signal, each function as an effectful callback. */
export const effectOptions = (options: unknown): any => {
  if (!isObject(options)) return options
  const { signal: _, ...rest } = options
  const isFunction = (value: unknown): value is () => void => typeof value === "function"
  return Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, isFunction(value) ? toEffectCallback(value) : value])
  )
}

/** The signal alone of options that have more. */
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

/** The signal of a call that may begin; options that hold more than that are refused. */
export const readSignalOption = (options: SignalOptions | undefined): AbortSignal | undefined => {
  Either.getOrThrowWith(readSignal("AsyncStore", options), (error) => error)
  if (options?.signal?.aborted === true) throw options.signal.reason
  return options?.signal ?? undefined
}

/** Makes a call; `abort` runs if the signal is aborted before the call ends. */
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

import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { callback as anyFunction, kind, maybe, reader } from "../../domain/Options.js"
import { callback } from "./Callback.js"

export interface SignalOptions {
  /** Ends the call: nothing is written, or the whole write is; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null

/** Options without the signal: what the Effect of the same name takes, and judges. */
export const own = <Options extends SignalOptions>(
  options: Options | undefined
): Omit<Options, "signal"> | undefined => {
  if (!isObject(options)) return options
  const { signal: _, ...rest } = options
  return rest
}

/** The same, with the plain functions of these names as the Effect takes them. */
export const told = <Target>(
  options: SignalOptions | undefined,
  ...names: ReadonlyArray<"onProgress" | "onRow" | "onInvalid">
): Target => {
  const rest: unknown = own(options)
  if (!isObject(rest)) return rest as Target
  const functions = names.flatMap((name) => {
    const given = rest[name]
    return typeof given === "function" ? [[name, callback(given as () => void)]] : []
  })
  return { ...rest, ...Object.fromEntries(functions) } as Target
}

/** The signal alone of options that have more. */
export const signalIn = (options: SignalOptions | undefined): SignalOptions | undefined =>
  isObject(options) ? { signal: options.signal as AbortSignal } : options

const readSignal = reader(
  Schema.UndefinedOr(
    Schema.Struct({
      signal: maybe(
        Schema.NullOr(
          kind<AbortSignal>(
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
export const checked = (options: SignalOptions | undefined): AbortSignal | undefined => {
  Either.getOrThrowWith(readSignal("AsyncStore", options), (error) => error)
  if (options?.signal?.aborted === true) throw options.signal.reason
  return options?.signal ?? undefined
}

const readFunction = reader(anyFunction())

/** Refuses a body that is not a function. */
export const wantBody = (operation: string, body: unknown): void => {
  Either.getOrThrowWith(readFunction(operation, body, "body"), (error) => error)
}

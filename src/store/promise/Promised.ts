import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { ValidationError } from "../../domain/errors/StoreError.js"
import { effectOptions, type PromiseOptions, type SignalOptions, signalOf } from "./Options.js"
import type { Runner } from "./Runner.js"

type Arguments = ReadonlyArray<any>
type ArgumentsOf<Member> = Member extends (...args: infer Args) => unknown ? Args : []
type ReturnOf<Member> = Member extends (...args: any) => infer Return ? Return : Member

/**
 * How a member of an Effect interface becomes a method: what it returns, how many arguments come before the options,
 * and whether it has options of its own beside the signal.
 */
export type Row = readonly [
  returns: "value" | "nullable" | "stream",
  beforeOptions: number,
  ...own: readonly [] | readonly ["options"]
]

type KindOf<Return> =
  Return extends Effect.Effect<infer A, any>
    ? A extends Option.Option<any>
      ? "nullable"
      : "value"
    : "stream"

type RowOf<Args extends Arguments, Return> = Args["length"] extends Required<Args>["length"]
  ? readonly [KindOf<Return>, Args["length"]]
  : Required<Args> extends readonly [...infer Before, unknown]
    ? readonly [KindOf<Return>, Before["length"], "options"]
    : never

/** The rows of some members of an interface; a row that does not fit its member does not compile. */
export type Rows<Interface> = {
  readonly [Name in keyof Interface]?: RowOf<ArgumentsOf<Interface[Name]>, ReturnOf<Interface[Name]>>
}

type WithSignal<Args extends Arguments, Given extends Row> = Given extends readonly [any, any, "options"]
  ? Args extends readonly [...infer Before, options?: infer Options]
    ? [...Before, options?: PromiseOptions<Exclude<Options, undefined>> | undefined]
    : never
  : [...Args, options?: SignalOptions | undefined]

type Result<Given extends Row, Return> = Given extends readonly ["stream", ...Arguments]
  ? Return extends Stream.Stream<infer A, any, any>
    ? AsyncIterable<A>
    : never
  : Given extends readonly ["nullable", ...Arguments]
    ? Return extends Effect.Effect<Option.Option<infer A>, any>
      ? Promise<A | null>
      : never
    : Return extends Effect.Effect<infer A, any>
      ? Promise<A>
      : never

type Method<Args extends Arguments, Return> = { method(...args: Args): Return }["method"]

/** Members of an Effect interface as methods that return promises, or an `AsyncIterable` for a stream. */
export type Promised<Interface, Given> = {
  [Name in keyof Interface as Name extends keyof Given ? Name : never]: Name extends keyof Given
    ? Given[Name] extends Row
      ? Method<
          WithSignal<ArgumentsOf<Interface[Name]>, Given[Name]>,
          Result<Given[Name], ReturnOf<Interface[Name]>>
        >
      : never
    : never
}

/** An Effect interface that methods call; `target` fails once it may no longer be called. */
export class Target<Interface> {
  constructor(
    protected readonly runner: Runner,
    protected readonly target: Effect.Effect<Interface, ValidationError>
  ) {}

  /** Calls the interface, and ends the call when the signal of the options is aborted. */
  protected run<A, E>(use: (target: Interface) => Effect.Effect<A, E>, options?: SignalOptions): Promise<A> {
    return this.runner.run(Effect.flatMap(this.target, use), signalOf(options))
  }
}

interface Callable {
  readonly runner: Runner
  readonly target: Effect.Effect<{ readonly [name: string]: any }>
}

const methodOf = (name: string, [returns, beforeOptions, own]: Row) =>
  function (this: Callable, ...args: ReadonlyArray<any>) {
    const given = args[beforeOptions]
    const before = Array.from({ length: beforeOptions }, (_, index) => args[index])
    const passed = own === undefined ? before : [...before, effectOptions(given)]
    const signal = own === undefined ? given : signalOf(given)
    const member = Effect.map(this.target, (target) =>
      typeof target[name] === "function" ? target[name](...passed) : target[name]
    )
    if (returns === "stream") return this.runner.iterate(member, signal)
    const value: Effect.Effect<any> = Effect.flatten(member)
    return this.runner.run(returns === "nullable" ? Effect.map(value, Option.getOrNull) : value, signal)
  }

type Class<Instance> = new (...args: any) => Instance

/** A class with a method for each row. The cast of the caller gives it the types of `Promised`. */
export const withMethods = <Base extends Class<object>>(
  base: Base,
  rows: { readonly [name: string]: Row }
): Base => {
  const Methods = class extends base {}
  for (const [name, row] of Object.entries(rows)) {
    Object.defineProperty(Methods.prototype, name, {
      value: methodOf(name, row),
      configurable: true,
      writable: true
    })
  }
  return Methods
}

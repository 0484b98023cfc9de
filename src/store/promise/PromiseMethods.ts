import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { ValidationError } from "../../domain/errors/StoreError.js"
import { effectOptions, type PromiseOptions, type SignalOptions, signalOptions } from "./PromiseOptions.js"
import type { PromiseRunner } from "./PromiseRunner.js"

type Arguments = ReadonlyArray<any>
type ArgumentsOf<Member> = Member extends (...args: infer Args) => unknown ? Args : []
type ReturnOf<Member> = Member extends (...args: any) => infer Return ? Return : Member

/**
 * Describes a method for a member of an Effect interface: the kind of its result, the number of arguments before the
 * options, and whether the member has options itself. Without options of its own, a method takes only the signal.
 */
export type MethodRow = readonly [
  returns: "value" | "nullable" | "stream",
  beforeOptions: number,
  ...own: readonly [] | readonly ["options"]
]

type ResultKind<Return> =
  Return extends Effect.Effect<infer A, any>
    ? A extends Option.Option<any>
      ? "nullable"
      : "value"
    : "stream"

type MethodRowOf<Args extends Arguments, Return> = Args["length"] extends Required<Args>["length"]
  ? readonly [ResultKind<Return>, Args["length"]]
  : Required<Args> extends readonly [...infer Before, unknown]
    ? readonly [ResultKind<Return>, Before["length"], "options"]
    : never

/** Rows for some members of an interface. A row that does not fit its member is a type error. */
export type MethodRows<Interface> = {
  readonly [Name in keyof Interface]?: MethodRowOf<ArgumentsOf<Interface[Name]>, ReturnOf<Interface[Name]>>
}

type WithSignal<Args extends Arguments, Given extends MethodRow> = Given extends readonly [
  any,
  any,
  "options"
]
  ? Args extends readonly [...infer Before, options?: infer Options]
    ? [...Before, options?: PromiseOptions<Exclude<Options, undefined>> | undefined]
    : never
  : [...Args, options?: SignalOptions | undefined]

type PromiseResult<Given extends MethodRow, Return> = Given extends readonly ["stream", ...Arguments]
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

/** The members of an Effect interface as methods that return promises, or an `AsyncIterable` for a stream. */
export type PromiseMethods<Interface, Given> = {
  [Name in keyof Interface as Name extends keyof Given ? Name : never]: Name extends keyof Given
    ? Given[Name] extends MethodRow
      ? Method<
          WithSignal<ArgumentsOf<Interface[Name]>, Given[Name]>,
          PromiseResult<Given[Name], ReturnOf<Interface[Name]>>
        >
      : never
    : never
}

/** Calls the members of an Effect interface as promises. `target` fails after the interface has ended. */
export class PromiseAdapter<Interface> {
  constructor(
    protected readonly runner: PromiseRunner,
    protected readonly target: Effect.Effect<Interface, ValidationError>
  ) {}

  /** Runs a call of the interface. The signal of the options interrupts it. */
  protected run<A, E>(use: (target: Interface) => Effect.Effect<A, E>, options?: SignalOptions): Promise<A> {
    return this.runner.run(Effect.flatMap(this.target, use), signalOptions(options))
  }
}

interface AdapterFields {
  readonly runner: PromiseRunner
  readonly target: Effect.Effect<{ readonly [name: string]: any }>
}

const methodOf = (name: string, [returns, beforeOptions, own]: MethodRow) =>
  function (this: AdapterFields, ...args: ReadonlyArray<any>) {
    const given = args[beforeOptions]
    const before = Array.from({ length: beforeOptions }, (_, index) => args[index])
    const passed = own === undefined ? before : [...before, effectOptions(given)]
    const signal = own === undefined ? given : signalOptions(given)
    const member = Effect.map(this.target, (target) =>
      typeof target[name] === "function" ? target[name](...passed) : target[name]
    )
    if (returns === "stream") return this.runner.iterate(member, signal)
    const value: Effect.Effect<any> = Effect.flatten(member)
    return this.runner.run(returns === "nullable" ? Effect.map(value, Option.getOrNull) : value, signal)
  }

type Class<Instance> = new (...args: any) => Instance

/** Extends a class with a method for each row. Callers cast the result to the types of `PromiseMethods`. */
export const withPromiseMethods = <Base extends Class<object>>(
  base: Base,
  rows: { readonly [name: string]: MethodRow }
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

import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../../domain/errors/StoreError.js"
import { optionsReader } from "../../../domain/options/Options.js"
import { kindOf } from "../../../domain/text/ValueKind.js"
import { withErrorListener } from "../../transfer/NodeStreamErrors.js"
import { type Attributes, instrument } from "./Instrumentation.js"

/** A method's parameters in order: their names, and what each takes. */
export interface Signature {
  readonly parameters: ReadonlyArray<readonly [name: string, takes: Schema.Schema<any, any>]>
  /** How a wrong argument is refused: a failed effect, a failed stream, or an error that is thrown. */
  readonly kind: "effect" | "stream" | "throw"
}

type Parameter = Signature["parameters"][number]

/** Of a method that gives an effect. */
export const effect = (...parameters: ReadonlyArray<Parameter>): Signature => ({
  parameters,
  kind: "effect"
})
/** Of a method that gives a stream. */
export const stream = (...parameters: ReadonlyArray<Parameter>): Signature => ({
  parameters,
  kind: "stream"
})
/** Of a method that gives its result at once. */
export const direct = (...parameters: ReadonlyArray<Parameter>): Signature => ({
  parameters,
  kind: "throw"
})

type Methods<Service> = {
  [Name in keyof Service as Service[Name] extends (...args: any) => unknown ? Name : never]: Signature
}

/** The names of a service's members that are effects. */
type Effects<Service> = {
  [Name in keyof Service]: Service[Name] extends Effect.Effect<any, any, any> ? Name : never
}[keyof Service]

type Method = (...args: ReadonlyArray<unknown>) => unknown

/** Arguments that a span tells. */
const shown = new Set(["id", "collection", "branch", "ref", "commitSha", "field"])

const guardOf = (operation: string, { parameters, kind }: Signature, isObserved: boolean) => {
  const readers = parameters.map(([name, takes]) => ({ name, read: optionsReader(takes) }))
  const problemOf = (args: ReadonlyArray<unknown>): ValidationError | undefined => {
    for (const [at, { name, read }] of readers.entries()) {
      const found = read(operation, args[at], name)
      if (Either.isLeft(found)) return found.left
    }
    return undefined
  }
  const around = isObserved ? instrument(operation) : undefined
  return (method: Method, attributes: Attributes): Method => {
    const told = (args: ReadonlyArray<unknown>) => {
      const all: Record<string, unknown> = { ...attributes }
      for (const [at, { name }] of readers.entries()) {
        if (shown.has(name) && typeof args[at] === "string") all[name] = args[at]
      }
      return all
    }
    return (...args) => {
      // Arguments are used when the effect runs.
      for (const given of args) withErrorListener(given)
      if (kind === "effect") {
        const run = Effect.suspend(() => {
          const problem = problemOf(args)
          return problem === undefined ? (method(...args) as Effect.Effect<unknown>) : Effect.fail(problem)
        })
        return around === undefined ? run : Effect.suspend(() => around.effect(run, told(args)))
      }
      if (kind === "stream") {
        const run = Stream.suspend(() => {
          const problem = problemOf(args)
          return problem === undefined ? (method(...args) as Stream.Stream<unknown>) : Stream.fail(problem)
        })
        return around === undefined ? run : Stream.suspend(() => around.stream(run, told(args)))
      }
      const problem = problemOf(args)
      if (problem !== undefined) throw problem
      return method(...args)
    }
  }
}

type Members = Readonly<Record<string, unknown>>

/** A method of the service that `now` gives when its effect or its stream runs. */
const laterMethod = (now: Effect.Effect<Members>, name: string, kind: Signature["kind"]): Method => {
  const call = (args: ReadonlyArray<unknown>) =>
    Effect.map(now, (members) => (members[name] as Method)(...args))
  return kind === "effect"
    ? (...args) => Effect.flatten(call(args) as Effect.Effect<Effect.Effect<unknown>>)
    : (...args) => Stream.unwrap(call(args) as Effect.Effect<Stream.Stream<unknown>>)
}

/** How a service is guarded. */
export interface GuardOptions<S> {
  /** What the spans of its operations say. */
  readonly attributes?: Attributes | undefined
  /** The service that effects and streams belong to when they run. */
  readonly current?: Effect.Effect<S> | undefined
}

/**
 * Puts a check of its arguments before every method of a service: each has a signature, or this does not compile.
 * `members` are its effects. With them its operations have spans and metrics.
 */
export const guard = <Service extends object>(
  group: string,
  signatures: Methods<Service>,
  members?: ReadonlyArray<Effects<Service>>
): (<S extends Service>(service: S, guarding?: GuardOptions<S>) => S) => {
  const guards = Object.entries<Signature>(signatures as never).map(
    ([name, signature]) =>
      [
        name,
        signature.kind,
        guardOf(`${group}.${name}`, signature, members !== undefined && signature.kind !== "throw")
      ] as const
  )
  const effects = members?.map((name) => [name as string, instrument(`${group}.${String(name)}`)] as const)
  return (service, { attributes = {}, current } = {}) => {
    const own = service as unknown as Members
    const later = current as unknown as Effect.Effect<Members> | undefined
    const checked = guards.map(([name, kind, check]) => [
      name,
      check(
        later === undefined || kind === "throw" ? (own[name] as Method) : laterMethod(later, name, kind),
        attributes
      )
    ])
    const seen = (effects ?? []).map(([name, { effect }]) => [
      name,
      effect(
        later === undefined
          ? (own[name] as Effect.Effect<unknown>)
          : Effect.flatMap(later, (members) => members[name] as Effect.Effect<unknown>),
        attributes
      )
    ])
    return { ...service, ...Object.fromEntries([...checked, ...seen]) }
  }
}

/** Runs a caller's function on what it was promised; one that gives no effect, such as an async one, is refused. */
export const runBody = <Handle, A, E, R>(
  operation: string,
  body: (handle: Handle) => Effect.Effect<A, E, R>,
  handle: Handle
): Effect.Effect<A, E | ValidationError, R> =>
  Effect.suspend((): Effect.Effect<A, E | ValidationError, R> => {
    const given: unknown = body(handle)
    if (Effect.isEffect(given)) return given as Effect.Effect<A, E, R>
    return new ValidationError({
      operation,
      message: `body must give an Effect, it gives ${kindOf(given)}`,
      hint: "the Promise face takes async functions: chainstore/promise"
    })
  })

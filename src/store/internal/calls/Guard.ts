import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../../domain/errors/StoreError.js"
import { optionsReader } from "../../../domain/options/Options.js"
import { kindOf } from "../../../domain/text/ValueKind.js"
import { withErrorListener } from "../../transfer/NodeStreamErrors.js"
import { type Attributes, instrument } from "./Instrumentation.js"

/** The parameters of a method in order: their names and schemas. */
export interface Signature {
  readonly parameters: ReadonlyArray<readonly [name: string, takes: Schema.Schema<any, any>]>
  /** How the method fails on a wrong argument: with a failed effect, a failed stream, or by throwing. */
  readonly kind: "effect" | "stream" | "throw"
}

type Parameter = Signature["parameters"][number]

/** The signature of a method that returns an effect. */
export const effect = (...parameters: ReadonlyArray<Parameter>): Signature => ({
  parameters,
  kind: "effect"
})
/** The signature of a method that returns a stream. */
export const stream = (...parameters: ReadonlyArray<Parameter>): Signature => ({
  parameters,
  kind: "stream"
})
/** The signature of a method that returns its result directly. */
export const direct = (...parameters: ReadonlyArray<Parameter>): Signature => ({
  parameters,
  kind: "throw"
})

type Methods<Service> = {
  [Name in keyof Service as Service[Name] extends (...args: any) => unknown ? Name : never]: Signature
}

/** The members of a service that are effects. */
type Effects<Service> = {
  [Name in keyof Service]: Service[Name] extends Effect.Effect<any, any, any> ? Name : never
}[keyof Service]

type Method = (...args: ReadonlyArray<unknown>) => unknown

/** Arguments that become attributes of the span. */
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
      // The arguments are used when the effect runs.
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

/** A method that is looked up in the service that `current` returns when the effect or stream runs. */
const laterMethod = (now: Effect.Effect<Members>, name: string, kind: Signature["kind"]): Method => {
  const call = (args: ReadonlyArray<unknown>) =>
    Effect.map(now, (members) => (members[name] as Method)(...args))
  return kind === "effect"
    ? (...args) => Effect.flatten(call(args) as Effect.Effect<Effect.Effect<unknown>>)
    : (...args) => Stream.unwrap(call(args) as Effect.Effect<Stream.Stream<unknown>>)
}

export interface GuardOptions<S> {
  /** Attributes of the spans. */
  readonly attributes?: Attributes | undefined
  /** The service whose members run. Default: the guarded service itself. */
  readonly current?: Effect.Effect<S> | undefined
}

/**
 * Adds a check of the arguments to every method of a service; a method without a signature is a type error. `members`
 * lists its effects; if given, all operations have spans and metrics.
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

/** Calls the caller's function. It fails if the function returns no effect, as an async function does. */
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
      message: `body must return an Effect, it returns ${kindOf(given)}`,
      hint: "for async functions use the Promise API: chainstore/promise"
    })
  })

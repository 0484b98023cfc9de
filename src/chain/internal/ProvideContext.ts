import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type Continuation, isEffect, LazyEffect } from "./Interpreter.js"
import type { Registered, Step } from "./Step.js"

const provideTo = (context: Context.Context<any>, value: unknown) =>
  isEffect(value) ? Effect.provide(value, context) : value

/** One call of a step with provided services. `restoreContext` is set when the step's reply runs. */
interface ProvidedCall {
  restoreContext: ((current: Context.Context<any>) => Context.Context<any>) | undefined
}

/** The continuation after a provided step, which runs without the provided services. */
class ContinuationOutside extends LazyEffect {
  constructor(
    readonly rest: Continuation,
    readonly visit: ProvidedCall
  ) {
    super()
  }
  override commit() {
    const { restoreContext } = this.visit
    return restoreContext === undefined ? this.rest : Effect.mapInputContext(this.rest, restoreContext)
  }
}

/** Replaces the provided services by those of the surrounding context. Services that the step itself added stay. */
const removeProvided = (
  given: Context.Context<any>,
  around: Context.Context<any>,
  current: Context.Context<any>
): Context.Context<any> => {
  const services = new Map(current.unsafeMap)
  for (const [key, service] of given.unsafeMap) {
    if (services.get(key) !== service) continue
    if (around.unsafeMap.has(key)) services.set(key, around.unsafeMap.get(key))
    else services.delete(key)
  }
  return Context.unsafeMake(services)
}

const provideHandler =
  (run: (request: any, next?: any) => unknown, context: Context.Context<any>) =>
  (request: unknown, next?: (request: unknown) => Continuation): unknown => {
    if (next === undefined) return provideTo(context, run(request))
    const visit: ProvidedCall = { restoreContext: undefined }
    const reply = run(request, (changed: unknown) => new ContinuationOutside(next(changed), visit))
    if (reply instanceof ContinuationOutside && reply.visit === visit) return reply.rest
    if (!isEffect(reply)) return reply
    return Effect.contextWithEffect((around: Context.Context<any>) => {
      visit.restoreContext = (current) => removeProvided(context, around, current)
      return Effect.provide(reply, context)
    })
  }

const provideStep = (step: Step, context: Context.Context<any>, inner: Registered | undefined): Step => {
  const { run, when } = step
  return {
    op: step.op,
    when: when && ((request) => provideTo(context, when(request))),
    run: run && provideHandler(run, context),
    skip: step.skip,
    name: step.name,
    kind: step.kind,
    description: step.description,
    inner,
    log: step.log
  }
}

/** Copies one builder's steps. Its branches and fragments must have been copied before. */
const copySegment = (
  registered: Registered,
  context: Context.Context<any>,
  copies: ReadonlyMap<Registered, Registered>
): Registered => {
  const builders: Array<Registered> = []
  let root = registered
  for (; root.step !== undefined; root = root.previous!) builders.push(root)
  let copy: Registered = root
  while (builders.length > 0) {
    const { count, ends, name, size, step } = builders.pop()!
    const inner = step!.inner && copies.get(step!.inner)
    copy = {
      name,
      previous: copy,
      step: provideStep(step!, context, inner),
      fallback: undefined,
      count,
      ends,
      size
    }
  }
  const { ends, fallback } = registered
  return { ...copy, fallback: fallback && provideStep(fallback, context, undefined), ends }
}

/** A copy of the steps, each with the context provided. Steps that follow a merged copy keep their own context. */
export const provideContext = (registered: Registered, context: Context.Context<any>): Registered => {
  const copies = new Map<Registered, Registered>()
  const open = [registered]
  for (let at = open[open.length - 1]; at !== undefined; at = open[open.length - 1]) {
    const before = open.length
    for (let one = at; one.step !== undefined; one = one.previous!) {
      const { inner } = one.step
      if (inner !== undefined && !copies.has(inner)) open.push(inner)
    }
    if (open.length > before) continue
    copies.set(at, copySegment(at, context, copies))
    open.pop()
  }
  return copies.get(registered)!
}

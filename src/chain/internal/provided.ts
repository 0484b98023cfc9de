import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { isEffect, Lazily, type Rest } from "./Run.js"
import type { Registered, Step } from "./Step.js"

const within = (context: Context.Context<any>, value: unknown) =>
  isEffect(value) ? Effect.provide(value, context) : value

/** A run of a provided step; once its reply runs, how to take back what was provided. */
interface Visit {
  takeBack: ((current: Context.Context<any>) => Context.Context<any>) | undefined
}

/** The rest of the chain after a provided step: what was provided is not meant for it. */
class Beyond extends Lazily {
  constructor(
    readonly rest: Rest,
    readonly visit: Visit
  ) {
    super()
  }
  override commit() {
    const { takeBack } = this.visit
    return takeBack === undefined ? this.rest : Effect.mapInputContext(this.rest, takeBack)
  }
}

/** The current context with the surroundings' own services in place of the given ones; what the step itself put there stays. */
const without = (
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

const handled =
  (run: (request: any, next?: any) => unknown, context: Context.Context<any>) =>
  (request: unknown, next?: (request: unknown) => Rest): unknown => {
    if (next === undefined) return within(context, run(request))
    const visit: Visit = { takeBack: undefined }
    const reply = run(request, (changed: unknown) => new Beyond(next(changed), visit))
    if (reply instanceof Beyond && reply.visit === visit) return reply.rest
    if (!isEffect(reply)) return reply
    return Effect.contextWithEffect((around: Context.Context<any>) => {
      visit.takeBack = (current) => without(context, around, current)
      return Effect.provide(reply, context)
    })
  }

const provideStep = (step: Step, context: Context.Context<any>, inner: Registered | undefined): Step => {
  const { run, when } = step
  return {
    op: step.op,
    when: when && ((request) => within(context, when(request))),
    run: run && handled(run, context),
    skip: step.skip,
    name: step.name,
    kind: step.kind,
    description: step.description,
    inner,
    log: step.log
  }
}

/** A copy of one segment, whose branches and fragments are copied already. */
const copyOf = (
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

/** The same steps, each with the context at hand; what follows a merged copy of them keeps its own. */
export const provided = (registered: Registered, context: Context.Context<any>): Registered => {
  const copies = new Map<Registered, Registered>()
  const open = [registered]
  for (let at = open[open.length - 1]; at !== undefined; at = open[open.length - 1]) {
    const before = open.length
    for (let one = at; one.step !== undefined; one = one.previous!) {
      const { inner } = one.step
      if (inner !== undefined && !copies.has(inner)) open.push(inner)
    }
    if (open.length > before) continue
    copies.set(at, copyOf(at, context, copies))
    open.pop()
  }
  return copies.get(registered)!
}

import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { isEffect } from "./isEffect.js"
import { type Outer, Rest } from "./Run.js"
import type { Registered } from "./Step.js"
import { Step } from "./Step.js"

const within = (context: Context.Context<any>, value: unknown) =>
  isEffect(value) ? Effect.provide(value, context) : value

const provideStep = (step: Step, context: Context.Context<any>): Step => {
  const { run, when } = step
  return new Step(
    step.op,
    when && ((request) => within(context, when(request))),
    run &&
      ((request, next) => {
        if (next === undefined) return within(context, run(request))
        const outer: Outer = { context: undefined }
        const reply = run(request, (changed: unknown) => {
          const rest: Rest = next(changed)
          return new Rest(rest.execution, rest.index, rest.request, outer)
        })
        if (!isEffect(reply) || (reply instanceof Rest && reply.outer === outer)) return reply
        return Effect.contextWithEffect((around: Context.Context<any>) => {
          outer.context = around
          return Effect.provide(reply, context)
        })
      }),
    step.skip,
    step.name,
    step.kind,
    step.description,
    step.inner && provided(step.inner, context),
    step.log
  )
}

/** The same steps, each with the context at hand; what follows a merged copy of them keeps its own. */
export const provided = (registered: Registered, context: Context.Context<any>): Registered => {
  const steps: Array<Registered> = []
  let root = registered
  for (; root.step !== undefined; root = root.previous!) steps.push(root)
  let copy: Registered = root
  while (steps.length > 0) {
    const original: Registered = steps.pop()!
    const { count, ends, name, size } = original
    copy = {
      name,
      previous: copy,
      step: provideStep(original.step!, context),
      fallback: undefined,
      count,
      ends,
      size
    }
  }
  const { fallback } = registered
  return { ...copy, fallback: fallback && provideStep(fallback, context), ends: registered.ends }
}

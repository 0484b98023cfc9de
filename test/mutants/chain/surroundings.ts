import { mutant } from "../bundled.js"

const provided = "internal/ProvideContext.ts"
const policy = "Policy.ts"
const provides =
  "the same chain with fewer requirements; merged into another chain, it provides nothing to later steps"
const takes = "take a handler and return a handler"
const includes = "Around a handler that calls `next`, a policy includes what `next` runs."

/** Faults of services and policies. */
export const surroundings = [
  mutant("conditions are not provided for", provides, [
    provided,
    "when: when && ((request) => provideTo(context, when(request))),",
    "when,"
  ]),
  mutant("the fallback is not provided for", provides, [
    provided,
    "fallback: fallback && provideStep(fallback, context, undefined)",
    "fallback"
  ]),
  mutant("branches are not provided for", provides, [
    provided,
    "const inner = step!.inner && copies.get(step!.inner)",
    "const inner = step!.inner"
  ]),
  mutant("steps with next are not provided for", provides, [
    provided,
    "      return Effect.provide(reply, context)",
    "      return reply"
  ]),
  mutant("steps without next are not provided for", provides, [
    provided,
    "if (next === undefined) return provideTo(context, run(request))",
    "if (next === undefined) return run(request)"
  ]),
  mutant("a merged chain provides to later steps", provides, [
    provided,
    "return restoreContext === undefined ? this.rest : Effect.mapInputContext(this.rest, restoreContext)",
    "return this.rest"
  ]),
  mutant("a merged chain takes away the service that later steps have", provides, [
    provided,
    "if (around.unsafeMap.has(key)) services.set(key, around.unsafeMap.get(key))\n    else services.delete(key)",
    "services.delete(key)"
  ]),
  mutant("a provided chain gives no warnings", provides, [
    provided,
    "fallback: fallback && provideStep(fallback, context, undefined), ends }",
    "fallback: fallback && provideStep(fallback, context, undefined), ends: false }"
  ]),
  mutant("a provided chain loses its fallback", provides, [
    provided,
    "fallback: fallback && provideStep(fallback, context, undefined), ends }",
    "fallback: undefined, ends }"
  ]),
  mutant(
    "spans belong to where the layer was built",
    "spans of its steps belong to the request, not to where the layer was built",
    ["Chain.ts", "provide(chain, withoutSpan(context))", "provide(chain, context)"]
  ),
  mutant("a layer provides nothing", "Layer<Triage, never, R>, R of the chain", [
    "Chain.ts",
    "provide(chain, withoutSpan(context))",
    "provide(chain, Context.empty() as never)"
  ]),
  mutant("retry does not retry", takes, [
    policy,
    "Effect.retry(lazily(handler, args), schedule)",
    "lazily(handler, args)"
  ]),
  mutant("retry retries defects", takes, [
    policy,
    "Effect.retry(lazily(handler, args), schedule)",
    "Effect.unsandbox(Effect.retry(Effect.sandbox(lazily(handler, args)), schedule as never))"
  ]),
  mutant("recover answers defects", "`Policy.recover(handler, answer)`", [
    policy,
    "Effect.catchAll(lazily(handler, args), (error) => lazily(answer, [error]))",
    "Effect.catchAll(Effect.catchAllDefect(lazily(handler, args), (defect) => Effect.fail(defect as any)), (error) => lazily(answer, [error as any]))"
  ]),
  mutant("recover answers nothing", "`Policy.recover(handler, answer)`", [
    policy,
    "Effect.catchAll(lazily(handler, args), (error) => lazily(answer, [error]))",
    "lazily(handler, args)"
  ]),
  mutant("timeout never ends", "`Policy.timeout(handler, duration)`", [
    policy,
    "Effect.timeout(lazily(handler, args), limit)",
    "lazily(handler, args)"
  ]),
  mutant("timeout waits ten times as long", "`Policy.timeout(handler, duration)`", [
    policy,
    "Effect.timeout(lazily(handler, args), limit)",
    "Effect.timeout(lazily(handler, args), (limit as any) * 10)"
  ]),
  mutant("a policy runs the handler at once", "nothing runs before the Effect runs", [
    policy,
    "Effect.suspend(() => {\n    const reply = handler(...args)\n    return isEffect(reply) ? reply : Effect.succeed(reply as AnswerOf<Ret>)\n  })",
    "{\n    const reply = handler(...args)\n    return isEffect(reply) ? reply : Effect.succeed(reply as AnswerOf<Ret>) as any\n  }"
  ]),
  mutant("a policy with next retries the step alone", includes, [
    policy,
    "Effect.retry(lazily(handler, args), schedule)",
    "args.length > 1 ? lazily(handler, args) : Effect.retry(lazily(handler, args), schedule)"
  ]),
  mutant("a provided chain runs an Option", "An Option or an Either is a plain response.", [
    provided,
    "  isEffect(value) ? Effect.provide(value, context) : value",
    "  Effect.isEffect(value) ? Effect.provide(value as Effect.Effect<unknown>, context) : value"
  ]),
  mutant("a policy runs an Option", "An Option or an Either is a plain response.", [
    policy,
    "return isEffect(reply) ? reply : Effect.succeed(reply as AnswerOf<Ret>)",
    "return Effect.isEffect(reply) ? (reply as never) : Effect.succeed(reply as AnswerOf<Ret>)"
  ]),
  mutant("a policy loses a plain response", takes, [
    policy,
    "return isEffect(reply) ? reply : Effect.succeed(reply as AnswerOf<Ret>)",
    "return isEffect(reply) ? reply : (Effect.void as never)"
  ]),
  mutant("recover is not given the error", "`Policy.recover(handler, answer)`", [
    policy,
    "lazily(answer, [error])",
    "lazily(answer, [undefined as never])"
  ]),
  mutant("retry retries once", takes, [
    policy,
    "Effect.retry(lazily(handler, args), schedule)",
    "Effect.retry(lazily(handler, args), { times: 1 })"
  ]),
  mutant(
    "retry runs the reply again, not the handler",
    "Runs the handler again after a failure, as long as the schedule continues.",
    [
      policy,
      "Effect.retry(lazily(handler, args), schedule)",
      "Effect.suspend(() => { const reply: any = handler(...args); return Effect.retry(isEffect(reply) ? reply : Effect.succeed(reply), schedule as never) }) as never"
    ]
  ),
  mutant("recover answers an interruption", "Defects and interruption are not caught.", [
    policy,
    "Effect.catchAll(lazily(handler, args), (error) => lazily(answer, [error]))",
    "Effect.catchAll(Effect.catchAllCause(lazily(handler, args), (cause: any) => (cause._tag === 'Interrupt' ? Effect.fail(cause) : Effect.failCause(cause))), (error) => lazily(answer, [error as never]))"
  ]),
  mutant("a handler that takes too long goes on", "Interrupts a handler that takes longer", [
    policy,
    "Effect.timeout(lazily(handler, args), limit)",
    "Effect.timeout(Effect.flatMap(Effect.forkDaemon(lazily(handler, args)), (fiber) => fiber.await).pipe(Effect.flatten), limit)"
  ]),
  mutant("a provided chain does not log", provides, [
    provided,
    "    inner,\n    log: step.log\n",
    "    inner,\n    log: step.log && { ...step.log, write: () => undefined }\n"
  ]),
  mutant("a provided chain loses its descriptions", provides, [
    provided,
    "    description: step.description,\n",
    "    description: undefined,\n"
  ]),
  mutant("policy runs an Option", "An Option or an Either is a plain response.", [
    "Policy.ts",
    "return isEffect(reply) ? reply : Effect.succeed",
    "return Effect.isEffect(reply) ? reply : Effect.succeed"
  ])
]

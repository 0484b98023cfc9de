import { mutant } from "../bundled.js"

const run = "internal/Interpreter.ts"
const again = "each call runs the following steps again"
const handsOn = "It refuses a request by returning `next(request)`, and may also pass on a changed request"
const conditions = "**Conditions** return `true`, `false`, or an Effect of one of them."
const notSilent =
  "Any other result, and anything that a condition throws, is a defect of the execution, never a silent refusal."
const lazy = "nothing runs before the Effect runs, and a retry runs the steps again"
const steps = "The steps have a fixed order, and the first step that accepts a request handles it."
const innermost = "the innermost step whose response became part of the response of the chain"
const sync = "the response at once; throws the failure itself."
const waits = "a step that waits is interrupted, and the call ends with an `AsyncStepError`"
const neverThrow = "the same as an `Exit`; never throw"
const stack = "Chains of any length are safe: 100,000 steps, pure or effectful, overflow no stack."
const interruption =
  "Interruption reaches the waiting step and releases the resources that the steps before it acquired."
const wrapped = "Any other response that is itself an Effect must be wrapped in `Effect.succeed`."
const plain = "An Option or an Either is a plain response."
const failures = "The chain's type has the errors and the requirements of all steps"
const verdict = "const verdict = when(request)"

/** Faults of walking through the steps. */
export const executing = [
  mutant("a handler that refuses hands on the original request", handsOn, [
    run,
    "        request = reply.request\n",
    ""
  ]),
  mutant(
    "next ignores the request that it is given",
    handsOn,
    [
      run,
      "step.run!(request, nextAfter(execution, index))",
      "step.run!(request, nextAfter(execution, index, request))"
    ],
    [
      run,
      "const nextAfter = (execution: Execution, index: number) => (request: unknown) =>",
      "const nextAfter = (execution: Execution, index: number, request: unknown) => () =>"
    ]
  ),
  mutant("a step that refuses takes the one after it along", handsOn, [
    run,
    "index = reply.index",
    "index = Math.min(reply.index + 1, program.length - 1)"
  ]),
  mutant("a second next hands on the first request", again, [
    run,
    "const nextAfter = (execution: Execution, index: number) => (request: unknown) =>\n  new Continuation(execution, index + 1, request)",
    "const nextAfter = (execution: Execution, index: number) => { let rest: Continuation | undefined; return (request: unknown) => (rest ??= new Continuation(execution, index + 1, request)) }"
  ]),
  mutant("a second next skips a step", again, [
    run,
    "const nextAfter = (execution: Execution, index: number) => (request: unknown) =>\n  new Continuation(execution, index + 1, request)",
    "const nextAfter = (execution: Execution, index: number) => { let calls = 0; return (request: unknown) => new Continuation(execution, Math.min(index + 1 + (calls++ > 0 ? 1 : 0), execution.program.length - 1), request) }"
  ]),
  mutant("the rest runs once, however often its Effect does", again, [
    run,
    "return interpret(this.execution, this.index, this.request, false)",
    "return this.index > 0 ? ((this as any).memo ??= interpret(this.execution, this.index, this.request, false)) : interpret(this.execution, this.index, this.request, false)"
  ]),
  mutant("a retry runs nothing again", lazy, [
    run,
    "return interpret(this.execution, this.index, this.request, false)",
    "return this.index === 0 ? ((this as any).memo ??= interpret(this.execution, this.index, this.request, false)) : interpret(this.execution, this.index, this.request, false)"
  ]),
  mutant("execute runs at once", lazy, [
    "Chain.ts",
    "return new Continuation(toCompiled(chain).execution, 0, request)",
    "return runToExit(toCompiled(chain).execution as never, request)"
  ]),
  mutant("executeNamed runs at once", lazy, [
    "Chain.ts",
    "return new NamedExecution(program, name, request)",
    "return new NamedExecution(program, name, request).commit()"
  ]),
  mutant("trace runs at once", lazy, [
    "Chain.ts",
    "return traceProgram(program, name, request)",
    "return Effect.runSyncExit(traceProgram(program, name, request) as never) as never"
  ]),
  mutant("a condition is asked twice", conditions, [run, verdict, `when(request)\n        ${verdict}`]),
  mutant("an effectful condition runs twice", conditions, [
    run,
    "Effect.flatMap(verdict, (accepted)",
    "Effect.flatMap(Effect.zipRight(verdict, verdict), (accepted)"
  ]),
  mutant("a throwing condition refuses", notSilent, [
    run,
    verdict,
    "const verdict = (() => { try { return when(request) } catch { return false } })()"
  ]),
  mutant("a condition that fails refuses", failures, [
    run,
    "Effect.flatMap(verdict, (accepted)",
    "Effect.flatMap(Effect.catchAll(verdict, () => Effect.succeed(false)), (accepted)"
  ]),
  mutant("a condition that dies refuses", notSilent, [
    run,
    "Effect.flatMap(verdict, (accepted)",
    "Effect.flatMap(Effect.catchAllDefect(verdict, () => Effect.succeed(false)), (accepted)"
  ]),
  mutant("a truthy condition accepts", notSilent, [
    run,
    verdict,
    "const said = when(request)\n        const verdict = isEffect(said) ? said : Boolean(said)"
  ]),
  mutant("a condition that gives nothing refuses", notSilent, [
    run,
    verdict,
    "const verdict = when(request) ?? false"
  ]),
  mutant("an Effect of a truthy value accepts", notSilent, [
    run,
    'if (typeof accepted !== "boolean") throw notABoolean(step, accepted)',
    ""
  ]),
  mutant("a condition that accepts by an Effect skips its step", steps, [
    run,
    "accepted ? index : index + step.skip, request, accepted)",
    "accepted ? index + 1 : index + step.skip, request, false)"
  ]),
  mutant("the last step is asked first", steps, [
    "internal/Compile.ts",
    "  return program\n}",
    "  if (program.length > 2 && program.every((step) => step.op === 0 || step.op === 4)) program.unshift(program.splice(program.length - 2, 1)[0]!)\n  return program\n}"
  ]),
  mutant("a failure is answered by the fallback", failures, [
    run,
    "return this.defer(step, reply)",
    "return this.defer(step, Effect.catchAll(reply, () => interpret(execution, program.length - 1, request, false)))"
  ]),
  mutant("a defect of a handler is answered by the fallback", failures, [
    run,
    "return this.defer(step, reply)",
    "return this.defer(step, Effect.catchAllDefect(reply, () => interpret(execution, program.length - 1, request, false)))"
  ]),
  mutant("a thrown defect is swallowed", failures, [
    run,
    "      throw defect\n    }\n  }\n\n  // Measured",
    "      return undefined\n    }\n  }\n\n  // Measured"
  ]),
  mutant("a thrown defect is a failure in executeExit", "the same as an `Exit`", [
    run,
    "  } catch (defect) {\n    return Exit.die(defect)\n  }\n}",
    "  } catch (defect) {\n    return Exit.fail(defect)\n  }\n}"
  ]),
  mutant("executeExit throws", neverThrow, [
    run,
    "  } catch (defect) {\n    return Exit.die(defect)\n  }\n}",
    "  } catch (defect) {\n    throw defect\n  }\n}"
  ]),
  mutant("an unhandled request is a defect", "`Effect<Res, E \\| U, R>`", [
    run,
    "const exit = Exit.fail(new UnhandledRequestError",
    "const exit = Exit.die(new UnhandledRequestError"
  ]),
  mutant("executeSync wraps the failure", sync, [
    run,
    "throw Cause.squash(exit.cause)",
    'throw new Error("The execution failed.", { cause: Cause.squash(exit.cause) })'
  ]),
  mutant("executeSync gives undefined after an Effect", sync, [
    run,
    "if (Exit.isSuccess(exit)) return exit.value",
    "if (Exit.isSuccess(exit)) return undefined"
  ]),
  mutant("a step that waits goes on in the background", waits, [
    "internal/RunSync.ts",
    "waiting.value.fiber.unsafeInterruptAsFork(FiberId.none)",
    ""
  ]),
  mutant("a step that waits gives Effect's own error", waits, [
    "internal/RunSync.ts",
    "return Exit.die(new AsyncStepError({ chain }))",
    "return exit"
  ]),
  mutant("a step that waits is a failure", waits, [
    "internal/RunSync.ts",
    "return Exit.die(new AsyncStepError({ chain }))",
    "return Exit.fail(new AsyncStepError({ chain }))"
  ]),
  mutant("the synchronous entries run effectful steps twice", "the response at once", [
    "internal/RunSync.ts",
    "const exit = Effect.runSyncExit(effect)",
    "Effect.runSyncExit(effect)\n  const exit = Effect.runSyncExit(effect)"
  ]),
  mutant("handledBy is the outermost step", innermost, [
    run,
    "if (!execution.isHandled) execution.handle(step)",
    "execution.handle(step)"
  ]),
  mutant("handledBy names a step whose answer was thrown away", innermost, [
    run,
    "    onFailure: (cause) => {\n      execution.isHandled = false",
    "    onFailure: (cause) => {"
  ]),
  mutant(
    "handledBy stays that of the first run of the rest",
    innermost,
    [run, "this.execution.isHandled = false\n    return interpret", "return interpret"],
    [
      run,
      "if (this.execution.tracksHandler) this.execution.handle(step)",
      "if (this.execution.tracksHandler && !this.execution.isHandled) this.execution.handle(step)"
    ]
  ),
  mutant("executeNamedExit names the chain", "`Chain.executeNamedExit`", [
    "Chain.ts",
    "    : Exit.succeed({ response: exit.value, handledBy: execution.handledBy!.name })",
    "    : Exit.succeed({ response: exit.value, handledBy: name })"
  ]),
  mutant("handing on takes a frame of the stack", stack, [
    run,
    "        index = reply.index\n        request = reply.request",
    "        return this.steps(reply.index, reply.request, false)"
  ]),
  mutant("refusing takes a frame of the stack", stack, [
    run,
    "          else index += step.skip\n          continue",
    "          else index += step.skip\n          return this.steps(index, request, false)"
  ]),
  mutant("an effectful condition takes a frame of the stack", stack, [
    run,
    "      Effect.flatMap(verdict, (accepted) => {",
    "      ((_: unknown, go: (accepted: unknown) => any) => { const exit = Effect.runSyncExit(verdict as any); return Exit.isSuccess(exit) ? go(exit.value) : exit })(verdict, (accepted) => {"
  ]),
  mutant("effectful handlers run on the caller's stack", stack, [
    run,
    "    return this.remaining(execution.tracksHandler ? trackHandler(execution, step, effect) : effect)",
    "    return this.remaining(Effect.runSyncExit(effect as any))"
  ]),
  mutant("a waiting step cannot be interrupted", interruption, [
    run,
    "    return this.remaining(execution.tracksHandler ? trackHandler(execution, step, effect) : effect)",
    "    return this.remaining(Effect.uninterruptible(execution.tracksHandler ? trackHandler(execution, step, effect) : effect))"
  ]),
  mutant("a waiting condition cannot be interrupted", interruption, [
    run,
    "Effect.flatMap(verdict, (accepted)",
    "Effect.flatMap(Effect.uninterruptible(verdict), (accepted)"
  ]),
  mutant("interruption is a failure", interruption, [
    run,
    "    return this.remaining(execution.tracksHandler ? trackHandler(execution, step, effect) : effect)",
    '    return this.remaining(Effect.catchAllCause(execution.tracksHandler ? trackHandler(execution, step, effect) : effect, (cause) => Cause.isInterrupted(cause) ? Effect.fail(new Error("interrupted")) : Effect.failCause(cause)))'
  ]),
  mutant("an Option is run", plain, [run, "  !(Option.TypeId in reply) &&\n", ""]),
  mutant("an Either is run", plain, [run, " &&\n  !(Either.TypeId in reply)", ""]),
  mutant("an Option accepts", notSilent, [
    run,
    "if (!isEffect(verdict)) throw notABoolean(step, verdict)",
    "if (!Effect.isEffect(verdict)) throw notABoolean(step, verdict)"
  ]),
  mutant("a Promise accepts", notSilent, [
    run,
    "if (verdict !== true) return this.ask(step, index, request, verdict)",
    "if (verdict !== true && !(verdict instanceof Promise)) return this.ask(step, index, request, verdict)"
  ]),
  mutant("an Effect of an Option accepts", notSilent, [
    run,
    "Effect.flatMap(verdict, (accepted)",
    "Effect.flatMap(Effect.map(verdict, (said) => (Option.isOption(said) ? Option.isSome(said) : said)), (accepted)"
  ]),
  mutant("an Effect inside an Effect is run", wrapped, [
    run,
    "    return this.remaining(execution.tracksHandler ? trackHandler(execution, step, effect) : effect)",
    "    return this.remaining(Effect.flatMap(execution.tracksHandler ? trackHandler(execution, step, effect) : effect, (value) => (isEffect(value) ? value : Effect.succeed(value))))"
  ]),
  mutant("an Effect in a finished Effect is run", wrapped, [
    run,
    "if (Exit.isExit(effect) && Exit.isSuccess(effect)) return this.answer(step, effect.value)",
    "if (Exit.isExit(effect) && Exit.isSuccess(effect)) return isEffect(effect.value) ? this.remaining(effect.value) : this.answer(step, effect.value)"
  ]),
  mutant("executeNamed cannot be interrupted", interruption, [
    "internal/NamedExecution.ts",
    "Effect.map(rest, named)",
    "Effect.uninterruptible(Effect.map(rest, named))"
  ]),
  mutant("a traced execution cannot be interrupted", interruption, [
    "Trace.ts",
    "Effect.exit(Effect.suspend(() => interpret(execution, 0, request, false)))",
    "Effect.exit(Effect.uninterruptible(Effect.suspend(() => interpret(execution, 0, request, false))))"
  ]),
  mutant("a middleware's resource is not released at an interruption", interruption, [
    run,
    "        if (!(reply instanceof Continuation && reply.execution === execution)) return this.defer(step, reply)",
    "        if (!(reply instanceof Continuation && reply.execution === execution)) return this.defer(step, step.op === Op.Handle ? Effect.uninterruptible(reply) : reply)"
  ]),
  mutant(
    "the error of a step that waits names another chain",
    "a step that waits is interrupted, and the call ends with an `AsyncStepError`",
    ["internal/RunSync.ts", "new AsyncStepError({ chain })", 'new AsyncStepError({ chain: "chain" })']
  ),
  mutant(
    "effectful condition of null refuses",
    "Any other result, and anything that a condition throws, is a defect of the execution, never a silent refusal.",
    [
      "internal/Interpreter.ts",
      'if (typeof accepted !== "boolean") throw notABoolean(step, accepted)',
      'if (accepted !== null && typeof accepted !== "boolean") throw notABoolean(step, accepted)'
    ]
  ),
  mutant("continuation runs once", lazy, [
    "internal/Interpreter.ts",
    "return interpret(this.execution, this.index, this.request, false)",
    "return ((this as any).rest ??= interpret(this.execution, this.index, this.request, false))"
  ])
]

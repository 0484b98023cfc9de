import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Chain, UnhandledRequestError } from "../../chain/index.js"
import type { Ticket } from "../../domain/playground/Ticket.js"
import type { ChainBody, HandlerBody, StepBody } from "./ChainDraft.js"
import {
  type Answer,
  type ComposedChain,
  composeChain,
  type RunListener,
  triageChain
} from "./ComposedChain.js"
import type { RunResult, RunResultBody } from "./RunResult.js"
import type { StepVisit } from "./StepReport.js"

/** The input of a run: a chain with its request, or a ticket for the triage chain. */
export type Runnable =
  | { readonly mode: "own"; readonly body: ChainBody }
  | { readonly mode: "triage"; readonly body: Ticket }

type Trace = Effect.Effect.Success<ReturnType<typeof Chain.trace<number, Answer, unknown, never, unknown>>>

const isPure = (step: StepBody): boolean =>
  "steps" in step ? step.steps.every(isPure) : step.work === undefined

/** A chain that reports its steps, prepared for a trace. */
const prepared = (runnable: Runnable) => {
  const log: Array<string> = []
  const tried = new Map<HandlerBody, number>()
  const listener: RunListener = {
    write: (line) => log.push(line),
    tries: (handler) => {
      const tries = (tried.get(handler) ?? 0) + 1
      tried.set(handler, tries)
      return tries
    }
  }
  const tracing = <Req>(chain: ComposedChain<Req>, request: Req) => ({
    trace: Chain.trace(chain, request) as Effect.Effect<Trace>,
    execute: () => Chain.executeExit(chain, request)
  })
  return {
    log,
    tried,
    ...(runnable.mode === "triage"
      ? tracing(triageChain(listener), runnable.body)
      : tracing(composeChain(runnable.body, listener), runnable.body.request))
  }
}

const bodyOf = (
  trace: Trace,
  log: ReadonlyArray<string>
): { readonly status: number; readonly body: RunResultBody } => {
  if (Exit.isSuccess(trace.exit)) {
    const elapsedMilliseconds = Math.round(trace.elapsedMillis * 1000) / 1000
    return { status: 200, body: { ...trace.exit.value, elapsedMilliseconds, log } }
  }
  const error = Cause.squash(trace.exit.cause)
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof UnhandledRequestError) {
    return { status: 422, body: { error: "UnhandledRequestError", message } }
  }
  const name = error instanceof Error && "_tag" in error ? String(error._tag) : "InternalError"
  return {
    status: 500,
    body: { error: name, message: message || "The step took longer than its time limit." }
  }
}

/** The duration of a measurement: shorter than a long task, and not noticeable while typing. */
const measuredMillis = 12

/**
 * The durations of the steps, as means of many runs: a step is ten to a thousand times shorter than a tick of the browser's clock.
 * The duration of the chain is measured without a trace.
 */
const measured = (runnable: Runnable, first: Trace) => {
  const { execute, log, trace } = prepared(runnable)
  const sums = first.steps.map(() => 0)
  let runs = 0
  const begun = performance.now()
  for (let past = 0; past < measuredMillis || runs === 0; past = performance.now() - begun) {
    log.length = 0
    const { steps } = Effect.runSync(trace)
    // The first runs are slower, because the code is not compiled yet.
    if (past < measuredMillis / 3) continue
    runs++
    steps.forEach(({ elapsedMillis }, i) => {
      sums[i] = (sums[i] ?? 0) + elapsedMillis
    })
  }
  let executions = 0
  const started = performance.now()
  for (; performance.now() - started < measuredMillis; executions += 20) {
    for (let i = 0; i < 20; i++) execute()
    log.length = 0
  }
  const micros = ((performance.now() - started) * 1000) / executions
  return { micros, runs: executions, steps: sums.map((sum) => (sum * 1000) / runs) }
}

const handlersIn = (steps: ReadonlyArray<StepBody>): ReadonlyArray<HandlerBody> =>
  steps.flatMap((step) => ("steps" in step ? handlersIn(step.steps) : [step]))

/** Traces one run. With `measuring`, a chain that never waits runs many more times to measure its steps. */
export const execute = (runnable: Runnable, measuring = false): Effect.Effect<RunResult> =>
  Effect.suspend(() => {
    const { log, trace, tried } = prepared(runnable)
    return Effect.map(trace, (first): RunResult => {
      const pure = runnable.mode === "triage" || runnable.body.handlers.every(isPure)
      const times = pure && measuring ? measured(runnable, first) : undefined
      // A handler is visited at most once, and only the last visited one has run its work.
      const worked =
        runnable.mode === "triage"
          ? undefined
          : handlersIn(runnable.body.handlers).find((one) => tried.has(one))
      const visits = first.steps.map(
        ({ elapsedMillis, kind, outcome }, i): StepVisit => ({
          kind,
          outcome,
          micros: pure ? times?.steps[i] : elapsedMillis * 1000,
          tries:
            outcome === "skipped" || worked === undefined || kind !== "handler"
              ? undefined
              : tried.get(worked)
        })
      )
      return {
        ...bodyOf(first, [...log]),
        visits,
        micros: times?.micros ?? first.elapsedMillis * 1000,
        runs: times?.runs ?? 1
      }
    })
  })

const running = <A>(effect: Effect.Effect<A>, done: (value: A) => void, failed: () => void): (() => void) =>
  Effect.runCallback(effect, {
    onExit: (exit) => {
      if (Exit.isSuccess(exit)) done(exit.value)
      else if (!Cause.isInterruptedOnly(exit.cause)) failed()
    }
  })

/** Runs a chain in this page and measures its steps. The returned function stops the run. */
export const start = (runnable: Runnable, done: (ran: RunResult) => void, failed: () => void): (() => void) =>
  running(execute(runnable, true), done, failed)

/** The steps that a request visits, for chains that never wait. */
export const visitsOf = (runnable: Runnable): ReadonlyArray<StepVisit> =>
  Effect.runSync(execute(runnable)).visits

/** Runs many requests, a few at a time. The returned function stops them. */
export const startAll = (
  runnables: ReadonlyArray<Runnable>,
  done: (rans: ReadonlyArray<RunResult>) => void,
  failed: () => void
): (() => void) =>
  running(
    Effect.forEach(runnables, (runnable) => execute(runnable), { concurrency: 16 }),
    done,
    failed
  )

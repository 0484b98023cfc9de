import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { LogEntry, LogOptions } from "../LogEntry.js"

const liveClock = Context.get(DefaultServices.liveServices, Clock.Clock)

const sinceStart: () => number = performance.now.bind(performance)

/** A monotonic clock in milliseconds. A test's clock replaces it if the fiber has one. */
const clock = (): (() => number) => {
  const fiber = Fiber.getCurrentFiber()
  if (Option.isNone(fiber)) return sinceStart
  const own = Context.get(fiber.value.currentDefaultServices, Clock.Clock)
  return own === liveClock ? sinceStart : () => Number(own.unsafeCurrentTimeNanos()) / 1e6
}

/** The current time of that clock. */
export const monotonicMillis = (): number => clock()()

type Named = Omit<LogOptions, "write">

export const startEntry = ({ level, name }: Named): LogEntry => ({
  level,
  message: `Executing chain ${name}.`,
  chain: name,
  phase: "start"
})

export const endEntry = (
  { level, name }: Named,
  elapsedMillis: number,
  exit: Exit.Exit<unknown, unknown>
): LogEntry => {
  const took = `${elapsedMillis.toFixed(3)} ms.`
  if (Exit.isSuccess(exit)) {
    return {
      level,
      message: `Executed chain ${name} in ${took}`,
      chain: name,
      phase: "success",
      elapsedMillis
    }
  }
  if (Cause.isInterruptedOnly(exit.cause)) {
    const message = `Chain ${name} was interrupted after ${took}`
    return { level, message, chain: name, phase: "interruption", elapsedMillis }
  }
  const message = `Chain ${name} failed after ${took}`
  return { level: "Error", message, chain: name, phase: "failure", elapsedMillis, cause: exit.cause }
}

const write = (options: LogOptions, entry: LogEntry) => {
  try {
    options.write(entry)
  } catch {
    // A failing logger must not fail the request.
  }
}

/** The log of a logging middleware that was passed and waits for the outcome. `outer` is the one passed before it. */
export class PendingLog {
  private readonly now = clock()
  private readonly at: number

  constructor(
    private readonly options: LogOptions,
    readonly outer: PendingLog | undefined
  ) {
    write(options, startEntry(options))
    this.at = this.now()
  }

  end(exit: Exit.Exit<unknown, unknown>) {
    write(this.options, endEntry(this.options, this.now() - this.at, exit))
  }
}

/** Reports the outcome to every logging middleware, the innermost first. */
export const end = (innermost: PendingLog | undefined, exit: Exit.Exit<unknown, unknown>) => {
  for (let log = innermost; log !== undefined; log = log.outer) log.end(exit)
}

/** Reports the outcome of an Effect to every logging middleware, also when it is interrupted. */
export const logExit = <A, E, R>(
  innermost: PendingLog | undefined,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  let observed = effect
  for (let log = innermost; log !== undefined; log = log.outer) {
    const waiting = log
    observed = Effect.onExit(observed, (exit) => Effect.sync(() => waiting.end(exit)))
  }
  return observed
}

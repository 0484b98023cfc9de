import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import { endEntry, type LogEntry, type LogOptions, startEntry } from "../Logging.js"
import { monotonicMillis } from "./monotonic.js"

const write = (options: LogOptions, entry: LogEntry) => {
  try {
    options.write(entry)
  } catch {
    // Logging never fails the request.
  }
}

interface Started {
  readonly options: LogOptions
  readonly at: number
  readonly outer: Started | undefined
}

const end = ({ at, options }: Started, exit: Exit.Exit<unknown, unknown>) =>
  write(options, endEntry(options, monotonicMillis() - at, exit))

/** The logging middleware that the walk has passed and that waits for the outcome; the innermost on top. */
export class Logs {
  private innermost: Started | undefined = undefined

  start(options: LogOptions) {
    write(options, startEntry(options))
    this.innermost = { options, at: monotonicMillis(), outer: this.innermost }
  }

  end(exit: Exit.Exit<unknown, unknown>) {
    for (let log = this.innermost; log !== undefined; log = log.outer) end(log, exit)
  }

  /** Reports the outcome of an Effect, interruption included. */
  around<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    let observed = effect
    for (let log = this.innermost; log !== undefined; log = log.outer) {
      const waiting = log
      observed = Effect.onExit(observed, (exit) => Effect.sync(() => end(waiting, exit)))
    }
    return observed
  }
}

import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import { StoreError, ValidationError } from "../../domain/errors/StoreError.js"
import type { CapturedTransactions } from "../internal/transaction/CurrentTransaction.js"
import type { Store } from "../Store.js"
import { CallbackError, callbackReason } from "./Callback.js"
import { readSignalOption, type SignalOptions, withAbort } from "./PromiseOptions.js"
import { layerStandardError } from "./StandardErrorLogger.js"

/** The time that closing the store waits for each call to release its resources. */
const closeTimeout = Duration.seconds(10)

/** The error of calls on a closed store, and of calls that closing the store has interrupted. */
export const storeClosed = () =>
  new ValidationError({
    operation: "AsyncStore",
    message: "this store is closed",
    hint: "close it after the last call, or open another one"
  })

/**
 * Runs effects of the store as promises that reject with the store's errors. Tracks all open calls, so that closing the
 * store ends them.
 */
export class PromiseRunner {
  /** Functions that end one call, iteration or scoped handle each, and wait for its end. */
  private readonly openCalls = new Set<() => Promise<unknown>>()
  private closing: Promise<void> | undefined
  private closed = false

  constructor(
    private readonly runtime: ManagedRuntime.ManagedRuntime<Store, unknown>,
    private readonly dispose: () => Promise<void>,
    private readonly parent?: PromiseRunner,
    private readonly joined?: CapturedTransactions
  ) {}

  /** A runner that closes with this one or earlier. Its calls join the transactions of `joined`. */
  readonly child = (joined = this.joined): PromiseRunner =>
    new PromiseRunner(this.runtime, async () => {}, this, joined)

  private get isClosed(): boolean {
    return this.closed || this.parent?.isClosed === true
  }

  private begin(end: () => Promise<unknown>): void {
    this.openCalls.add(end)
    this.parent?.begin(end)
  }

  private ended(end: () => Promise<unknown>): void {
    this.openCalls.delete(end)
    this.parent?.ended(end)
  }

  /** Runs an effect. Closing the store interrupts it, or waits for it if `finishes` is true. */
  readonly run = async <A, E>(
    effect: Effect.Effect<A, E, Store>,
    options?: SignalOptions,
    finishes = false
  ): Promise<A> =>
    this.runWith(readSignalOption(options), effect, (interrupt, exit) => () => {
      if (!finishes) interrupt()
      return withinCloseTimeout(exit)
    })

  /** Runs an effect that stays open between calls. Closing the store calls `end` and reports its rejection. */
  readonly runOpen = async <A, E>(
    effect: Effect.Effect<A, E, Store>,
    end: () => Promise<unknown>,
    signal: AbortSignal
  ): Promise<A> => this.runWith(signal, effect, () => end)

  /** A stream as an `AsyncIterable`. Leaving the loop ends the stream. */
  readonly iterate = <A, E>(
    stream: Effect.Effect<Stream.Stream<A, E>, E, Store>,
    options?: SignalOptions
  ): AsyncIterable<A> => {
    const iterate = () => this.elements(stream, options)
    return { [Symbol.asyncIterator]: iterate }
  }

  /** Ends all open calls. Only the first call of `close` rejects, with the operations that could not be written. */
  readonly close = (): Promise<void> => {
    if (this.closing !== undefined) return this.closing.catch(() => {})
    this.closed = true
    this.closing = this.endAll()
    return this.closing
  }

  private async endAll(): Promise<void> {
    const ends = await Promise.allSettled(Array.from(this.openCalls, (end) => end()))
    await this.dispose()
    const lost = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []))
    if (lost.length > 1) {
      throw new AggregateError(
        lost,
        `not all queued operations are written: ${lost.map(messageOf).join("; ")}`
      )
    }
    if (lost.length === 1) throw lost[0]
  }

  /** Runs an effect until it ends or the signal interrupts it. */
  private async runWith<A, E>(
    signal: AbortSignal | undefined,
    effect: Effect.Effect<A, E, Store>,
    endOf: (interrupt: () => void, exit: Promise<Exit.Exit<A, unknown>>) => () => Promise<unknown>
  ): Promise<A> {
    if (this.isClosed) throw storeClosed()
    const fiber = this.runtime.runFork(this.joined?.effect(effect) ?? effect)
    const interrupt = () => fiber.unsafeInterruptAsFork(FiberId.none)
    const exit = new Promise<Exit.Exit<A, unknown>>((resolve) => fiber.addObserver(resolve))
    const end = endOf(interrupt, exit)
    this.begin(end)
    try {
      return this.valueOf(await withAbort(signal, interrupt, () => exit), signal)
    } finally {
      this.ended(end)
    }
  }

  private valueOf<A>(exit: Exit.Exit<A, unknown>, signal: AbortSignal | undefined): A {
    if (Exit.isSuccess(exit)) return exit.value
    const isEnded = this.isClosed && Cause.isInterrupted(exit.cause)
    const reason = signal?.aborted === true ? signal.reason : isEnded ? storeClosed() : reasonOf(exit.cause)
    const lost = unwrittenError(exit.cause)
    if (lost === undefined || lost === reason) throw reason
    throw new AggregateError(
      [reason, lost],
      `${messageOf(reason)}; and not all queued operations are written: ${messageOf(lost)}`
    )
  }

  private async *elements<A, E>(
    stream: Effect.Effect<Stream.Stream<A, E>, E, Store>,
    options?: SignalOptions
  ) {
    const signal = readSignalOption(options)
    if (this.isClosed) throw storeClosed()
    const runtime = await this.runtime.runtime()
    // Both may have happened during the await, before the listeners are added.
    if (signal?.aborted === true) throw signal.reason
    if (this.isClosed) throw storeClosed()
    const source = Stream.mapError(Stream.unwrap(stream), (error) => new CallbackError(error))
    const iterator = Stream.toAsyncIterableRuntime(source, this.joined?.runtime(runtime) ?? runtime)[
      Symbol.asyncIterator
    ]()
    let stopped: { readonly reason: unknown } | undefined
    let giveUp: (reason: unknown) => void = () => {}
    const stop = (reason: unknown) => {
      stopped ??= { reason }
      giveUp(reason)
    }
    const abort = () => stop(signal?.reason)
    const end = () => {
      stop(storeClosed())
      return withinCloseTimeout(iterator.return?.())
    }
    this.begin(end)
    signal?.addEventListener("abort", abort, { once: true })
    try {
      while (true) {
        if (stopped !== undefined) throw stopped.reason
        const next = await new Promise<IteratorResult<A>>((resolve, reject) => {
          giveUp = reject
          iterator.next().then(resolve, reject)
        })
        if (next.done === true) return
        yield next.value
      }
    } catch (error) {
      throw callbackReason(error)
    } finally {
      this.ended(end)
      signal?.removeEventListener("abort", abort)
      await iterator.return?.()
    }
  }
}

/** Waits for the end of a call, for a limited time. */
const withinCloseTimeout = (end: Promise<unknown> | undefined): Promise<void> =>
  Effect.runPromise(
    Effect.tryPromise(async () => end).pipe(
      Effect.timeout(closeTimeout),
      Effect.tapErrorTag("TimeoutException", () =>
        Effect.logWarning("a call on a closed store did not end in time and was abandoned")
      ),
      Effect.ignore,
      Effect.provide(layerStandardError)
    )
  )

/** The error of a writer that failed to flush after its body had failed. */
const unwrittenError = (cause: Cause.Cause<unknown>): StoreError | undefined =>
  Array.from(Cause.failures(cause)).find(
    (error): error is StoreError => error instanceof StoreError && error.unwritten !== undefined
  )

const messageOf = (reason: unknown) => (reason instanceof Error ? reason.message : String(reason))

const reasonOf = (cause: Cause.Cause<unknown>) => callbackReason(Cause.squash(cause))

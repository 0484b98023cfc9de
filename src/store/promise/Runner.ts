import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { StoreError, ValidationError } from "../../domain/StoreError.js"
import type { Store } from "../Store.js"
import { Thrown, thrownReason } from "./Callback.js"
import { toStandardError } from "./Logs.js"
import { checked, type SignalOptions } from "./Options.js"

export type { SignalOptions } from "./Options.js"

/** How long a call that is to end may take to give back what it holds, when the store is closed. */
const ending = Duration.seconds(10)

/** What every call on a closed store rejects with, and every call that its closing ended. */
export const storeClosed = () =>
  new ValidationError({
    operation: "AsyncStore",
    message: "this store is closed",
    hint: "close it after the last call, or open another one"
  })

/**
 * Runs the store's effects as promises that reject with the store's own errors, and knows what is under way, so that
 * closing leaves nothing behind.
 */
export class Runner {
  /** Each ends one call, iteration or open bracket, and waits for it. */
  private readonly underWay = new Set<() => Promise<unknown>>()
  private closing: Promise<void> | undefined
  private closed = false

  constructor(
    private readonly runtime: ManagedRuntime.ManagedRuntime<Store, unknown>,
    private readonly dispose: () => Promise<void>,
    private readonly whole?: Runner
  ) {}

  /** One for a part of the work, which ends with this one or before. */
  readonly part = (): Runner => new Runner(this.runtime, async () => {}, this)

  private get isClosed(): boolean {
    return this.closed || this.whole?.isClosed === true
  }

  private begin(end: () => Promise<unknown>): void {
    this.underWay.add(end)
    this.whole?.begin(end)
  }

  private ended(end: () => Promise<unknown>): void {
    this.underWay.delete(end)
    this.whole?.ended(end)
  }

  /** Runs an effect; where the store is closed meanwhile it is interrupted, unless it `finishes`. */
  readonly run = async <A, E>(
    effect: Effect.Effect<A, E, Store>,
    options?: SignalOptions,
    finishes = false
  ): Promise<A> =>
    this.heeding(checked(options), effect, (interrupt, exit) => () => {
      if (!finishes) interrupt()
      return soon(exit)
    })

  /** Runs what stays open between calls. Closing the store calls `end` and waits for it; what it throws is told. */
  readonly hold = async <A, E>(
    effect: Effect.Effect<A, E, Store>,
    end: () => Promise<unknown>,
    signal: AbortSignal
  ): Promise<A> => this.heeding(signal, effect, () => end)

  /** The same as `run`, with null for what is absent. */
  readonly runNullable = <A, E>(
    effect: Effect.Effect<Option.Option<A>, E, Store>,
    options?: SignalOptions
  ): Promise<A | null> => this.run(Effect.map(effect, Option.getOrNull), options)

  /** A stream for `for await`: leaving the loop ends it. */
  readonly iterate = <A, E>(
    stream: Effect.Effect<Stream.Stream<A, E>, E, Store>,
    options?: SignalOptions
  ): AsyncIterable<A> => {
    const iterate = () => this.elements(stream, options)
    return { [Symbol.asyncIterator]: iterate }
  }

  /** Ends everything that is under way; rejects with what is lost by that. Only the first to call it is told. */
  readonly close = (): Promise<void> => {
    if (this.closing !== undefined) return this.closing.catch(() => {})
    this.closed = true
    this.closing = this.endAll()
    return this.closing
  }

  private async endAll(): Promise<void> {
    const ends = await Promise.allSettled(Array.from(this.underWay, (end) => end()))
    await this.dispose()
    const lost = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []))
    if (lost.length > 1) {
      throw new AggregateError(lost, `not everything queued is written: ${lost.map(messageOf).join("; ")}`)
    }
    if (lost.length === 1) throw lost[0]
  }

  /** Runs an effect to its end, or until the signal. */
  private async heeding<A, E>(
    signal: AbortSignal | undefined,
    effect: Effect.Effect<A, E, Store>,
    endOf: (interrupt: () => void, exit: Promise<Exit.Exit<A, unknown>>) => () => Promise<unknown>
  ): Promise<A> {
    if (this.isClosed) throw storeClosed()
    const fiber = this.runtime.runFork(effect)
    const interrupt = () => fiber.unsafeInterruptAsFork(FiberId.none)
    const exit = new Promise<Exit.Exit<A, unknown>>((resolve) => fiber.addObserver(resolve))
    const end = endOf(interrupt, exit)
    this.begin(end)
    if (signal?.aborted === true) interrupt()
    signal?.addEventListener("abort", interrupt, { once: true })
    try {
      return this.answer(await exit, signal)
    } finally {
      signal?.removeEventListener("abort", interrupt)
      this.ended(end)
    }
  }

  private answer<A>(exit: Exit.Exit<A, unknown>, signal: AbortSignal | undefined): A {
    if (Exit.isSuccess(exit)) return exit.value
    const isEnded = this.isClosed && Cause.isInterrupted(exit.cause)
    const reason = signal?.aborted === true ? signal.reason : isEnded ? storeClosed() : reasonOf(exit.cause)
    const lost = lostIn(exit.cause)
    if (lost === undefined || lost === reason) throw reason
    throw new AggregateError(
      [reason, lost],
      `${messageOf(reason)}; and not everything queued is written: ${messageOf(lost)}`
    )
  }

  private async *elements<A, E>(
    stream: Effect.Effect<Stream.Stream<A, E>, E, Store>,
    options?: SignalOptions
  ) {
    const signal = checked(options)
    if (this.isClosed) throw storeClosed()
    const runtime = await this.runtime.runtime()
    if (this.isClosed) throw storeClosed()
    const source = Stream.mapError(Stream.unwrap(stream), (error) => new Thrown(error))
    const iterator = Stream.toAsyncIterableRuntime(source, runtime)[Symbol.asyncIterator]()
    let stopped: { readonly reason: unknown } | undefined
    let giveUp: (reason: unknown) => void = () => {}
    const stop = (reason: unknown) => {
      stopped ??= { reason }
      giveUp(reason)
    }
    const abort = () => stop(signal?.reason)
    const end = () => {
      stop(storeClosed())
      return soon(iterator.return?.())
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
      throw thrownReason(error)
    } finally {
      this.ended(end)
      signal?.removeEventListener("abort", abort)
      await iterator.return?.()
    }
  }
}

/** Waits for what is to end, but not for ever. */
const soon = (end: Promise<unknown> | undefined): Promise<void> =>
  Effect.runPromise(
    Effect.tryPromise(async () => end).pipe(
      Effect.timeout(ending),
      Effect.tapErrorTag("TimeoutException", () =>
        Effect.logWarning("a call on a closed store does not come to its end: it is left behind")
      ),
      Effect.ignore,
      Effect.provide(toStandardError)
    )
  )

/** What a writer could not write before its body failed, which comes on top of that failure. */
const lostIn = (cause: Cause.Cause<unknown>): StoreError | undefined =>
  Array.from(Cause.failures(cause)).find(
    (error): error is StoreError => error instanceof StoreError && error.unwritten !== undefined
  )

const messageOf = (reason: unknown) => (reason instanceof Error ? reason.message : String(reason))

const reasonOf = (cause: Cause.Cause<unknown>) => thrownReason(Cause.squash(cause))

import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { StoreError } from "../../domain/StoreError.js"
import type { Store } from "../Store.js"

export interface SignalOptions {
  /** Ends the call: nothing is written, or the whole write is; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** What a caller's function threw, on its way through the store. */
class Thrown {
  readonly _tag = "chainstore/Thrown"
  constructor(readonly reason: unknown) {}
}

/** Runs the store's effects as promises that reject with the store's own errors. */
export class Runner {
  constructor(readonly runtime: ManagedRuntime.ManagedRuntime<Store, unknown>) {}

  readonly run = async <A, E>(effect: Effect.Effect<A, E, Store>, options?: SignalOptions): Promise<A> => {
    options?.signal?.throwIfAborted()
    const exit = await this.runtime.runPromiseExit(effect, { signal: options?.signal })
    if (Exit.isSuccess(exit)) return exit.value
    const reason = options?.signal?.aborted === true ? options.signal.reason : reasonOf(exit.cause)
    const lost = lostIn(exit.cause)
    if (lost === undefined || lost === reason) throw reason
    throw new AggregateError(
      [reason, lost],
      `${messageOf(reason)}; and not everything queued is written: ${messageOf(lost)}`
    )
  }

  /** The same, with null for what is absent. */
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

  private async *elements<A, E>(
    stream: Effect.Effect<Stream.Stream<A, E>, E, Store>,
    options?: SignalOptions
  ) {
    options?.signal?.throwIfAborted()
    const runtime = await this.runtime.runtime()
    const source = Stream.mapError(Stream.unwrap(stream), (error) => new Thrown(error))
    const iterator = Stream.toAsyncIterableRuntime(source, runtime)[Symbol.asyncIterator]()
    try {
      while (true) {
        options?.signal?.throwIfAborted()
        const next = await this.abortable(iterator.next(), options?.signal)
        if (next.done === true) return
        yield next.value
      }
    } catch (error) {
      throw thrownReason(error)
    } finally {
      await iterator.return?.()
    }
  }

  private abortable<A>(promise: Promise<A>, signal: AbortSignal | undefined): Promise<A> {
    if (signal === undefined) return promise
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal.reason)
      signal.addEventListener("abort", abort, { once: true })
      promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
    })
  }
}

/** A caller's function as an effect; what it throws reaches the caller unchanged. */
export const called = <A>(body: (signal: AbortSignal) => PromiseLike<A> | A): Effect.Effect<A, Thrown> =>
  Effect.tryPromise({ try: async (signal) => body(signal), catch: (reason) => new Thrown(reason) })

/** What a writer could not write before its body failed, which comes on top of that failure. */
const lostIn = (cause: Cause.Cause<unknown>): StoreError | undefined =>
  Array.from(Cause.failures(cause)).find(
    (error): error is StoreError => error instanceof StoreError && error.unwritten !== undefined
  )

const messageOf = (reason: unknown) => (reason instanceof Error ? reason.message : String(reason))

const reasonOf = (cause: Cause.Cause<unknown>) => thrownReason(Cause.squash(cause))

const thrownReason = (error: unknown): unknown => {
  if (error instanceof Thrown) return error.reason
  const inner = error instanceof Error && "cause" in error ? error.cause : undefined
  return inner instanceof Thrown ? inner.reason : error
}

/** A caller's plain function as the store's callback: waited for, and what it throws ends the call unchanged. */
export const callback = <A extends ReadonlyArray<unknown>>(
  tell: ((...told: A) => PromiseLike<void> | void) | undefined
): ((...told: A) => Effect.Effect<void>) | undefined =>
  tell === undefined ? undefined : (...told) => Effect.orDie(called(() => tell(...told)))

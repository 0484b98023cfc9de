import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import { ValidationError } from "../../domain/errors/StoreError.js"
import type { Store } from "../Store.js"
import { CallbackError, runCallback } from "./Callback.js"
import { readSignalOption, type SignalOptions, withAbort } from "./PromiseOptions.js"
import { type PromiseRunner, storeClosed } from "./PromiseRunner.js"

type BodyFailure = CallbackError | ValidationError

/** An operation of the store that runs a body with a handle, such as a writer or a transaction. */
export type Bracket<Handle, Result, E> = (
  body: (handle: Handle) => Effect.Effect<void, BodyFailure>
) => Effect.Effect<Result, E | BodyFailure, Store>

/** The handle of a bracket whose body ends when the handle is closed or abandoned. */
export class ScopedHandle<Handle, Result> {
  private readonly end = Deferred.unsafeMake<void, BodyFailure>(FiberId.none)
  private readonly abandoned = new ValidationError({
    operation: "AsyncTransaction.commit",
    message: "this transaction was rolled back: there is nothing to commit",
    hint: "open another transaction"
  })
  /** Whether a caller of `close` receives the result, so that a failure is reported once. */
  private reported = false
  private endedByCaller = false
  private bodyEnded = false

  private constructor(
    readonly handle: Handle,
    private readonly result: () => Promise<Result>,
    /** Interrupts the bracket. */
    private readonly stop: AbortController
  ) {}

  /** Opens a bracket that the caller ends, or the store when it closes. */
  static open<Handle, Result, E>(
    runner: PromiseRunner,
    bracket: Bracket<Handle, Result, E>,
    whenStoreCloses: "close" | "abandon",
    options?: SignalOptions
  ): Promise<ScopedHandle<Handle, Result>> {
    const stop = new AbortController()
    const opening = () =>
      new Promise<ScopedHandle<Handle, Result>>((resolve, reject) => {
        let scoped: ScopedHandle<Handle, Result> | undefined
        let isTooLate = false
        const result: Promise<Result> = runner.runOpen(
          bracket((handle) => {
            if (isTooLate) return storeClosed()
            scoped = new ScopedHandle(handle, () => result, stop)
            resolve(scoped)
            return scoped.body
          }),
          async () => {
            isTooLate = true
            if (scoped === undefined) await result.catch(() => {})
            else await (whenStoreCloses === "close" ? scoped.leave() : scoped.abandon())
          },
          stop.signal
        )
        result.catch(reject)
      })
    return interruptedBy(options, stop, opening)
  }

  /** Runs a function inside a bracket. The function may end the bracket; `ended` is null if it abandoned the bracket. */
  static during<Handle, Result, A, E>(
    runner: PromiseRunner,
    bracket: Bracket<Handle, Result, E>,
    body: (scoped: ScopedHandle<Handle, Result>) => PromiseLike<A> | A,
    options?: SignalOptions
  ): Promise<{ readonly result: A; readonly ended: Result | null }> {
    const stop = new AbortController()
    return interruptedBy(options, stop, () => ScopedHandle.bodyOf(runner, bracket, body, stop, options))
  }

  private static async bodyOf<Handle, Result, A, E>(
    runner: PromiseRunner,
    bracket: Bracket<Handle, Result, E>,
    body: (scoped: ScopedHandle<Handle, Result>) => PromiseLike<A> | A,
    stop: AbortController,
    options: SignalOptions | undefined
  ): Promise<{ readonly result: A; readonly ended: Result | null }> {
    const started: Array<{ readonly scoped: ScopedHandle<Handle, Result>; readonly running: Promise<A> }> = []
    const result: Promise<Result> = runner.run(
      bracket((handle) => {
        const scoped = new ScopedHandle(handle, () => result, stop)
        const running = Promise.resolve(scoped).then(body)
        started.push({ scoped, running })
        running.then(
          () => scoped.finish(Exit.void),
          (reason) => scoped.finish(Exit.fail(new CallbackError(reason)))
        )
        return scoped.body
      }),
      { signal: stop.signal }
    )
    const failure = await result.then(
      () => undefined,
      (error: unknown) => error
    )
    const [inside] = started
    if (inside?.scoped.endedByCaller !== true) {
      const ended = await result
      return { result: await inside!.running, ended }
    }
    // A function that has ended the bracket itself may still be running.
    const value = await runner.run(
      runCallback(() => inside.running),
      options
    )
    if (failure === inside.scoped.abandoned) return { result: value, ended: null }
    return { result: value, ended: await result }
  }

  /** Whether it has ended, or is about to. */
  get isOver(): boolean {
    return this.endedByCaller || this.bodyEnded
  }

  /** Ends the bracket with success. Its writes are durable when the promise resolves. */
  close(options?: SignalOptions): Promise<Result> {
    return interruptedBy(options, this.stop, () => {
      this.endedByCaller = true
      this.reported = true
      this.finish(Exit.void)
      return this.result()
    })
  }

  /** Closes the bracket unless it is closed. Only the first call of `close` reports a failure. */
  async leave(): Promise<void> {
    if (this.reported) await this.result().catch(() => {})
    else await this.close()
  }

  /** Ends the bracket with a failure. Closing or abandoning it again has no effect. */
  async abandon(): Promise<void> {
    this.endedByCaller = true
    this.finish(Exit.fail(this.abandoned))
    await this.result().catch((error) => {
      if (error !== this.abandoned && !this.reported) throw error
    })
  }

  private finish(exit: Exit.Exit<void, BodyFailure>): void {
    Deferred.unsafeDone(this.end, exit)
  }

  private get body(): Effect.Effect<void, BodyFailure> {
    return Effect.ensuring(
      Deferred.await(this.end),
      Effect.sync(() => {
        this.bodyEnded = true
      })
    )
  }
}

/** Runs a call. Its signal interrupts the bracket during the call. */
const interruptedBy = async <A>(
  options: SignalOptions | undefined,
  stop: AbortController,
  call: () => Promise<A>
): Promise<A> => {
  const signal = readSignalOption(options)
  return withAbort(signal, () => stop.abort(signal?.reason), call)
}

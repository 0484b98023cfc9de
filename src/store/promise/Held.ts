import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import { ValidationError } from "../../domain/StoreError.js"
import type { Store } from "../Store.js"
import { called, Thrown } from "./Callback.js"
import { checked, type SignalOptions } from "./Options.js"
import { type Runner, storeClosed } from "./Runner.js"

type Failure = Thrown | ValidationError

/** A bracket of the store, as a function of what goes on inside it. */
export type Bracket<Handle, Result, E> = (
  body: (handle: Handle) => Effect.Effect<void, Failure>
) => Effect.Effect<Result, E | Failure, Store>

/** A bracket of the store that is open until it is closed or abandoned. */
export class Held<Handle, Result> {
  private readonly end = Deferred.unsafeMake<void, Failure>(FiberId.none)
  private readonly abandoned = new ValidationError({
    operation: "AsyncTransaction.commit",
    message: "this transaction was rolled back: there is nothing to commit",
    hint: "open another one"
  })
  private told = false
  private byHand = false
  private over = false

  private constructor(
    readonly handle: Handle,
    private readonly result: () => Promise<Result>,
    /** Ends what goes on in the bracket. */
    private readonly stop: AbortController
  ) {}

  /** Opens a bracket that its holder ends, or the store when it is closed. */
  static open<Handle, Result, E>(
    runner: Runner,
    bracket: Bracket<Handle, Result, E>,
    whenStoreCloses: "close" | "abandon",
    options?: SignalOptions
  ): Promise<Held<Handle, Result>> {
    const stop = new AbortController()
    const opening = () =>
      new Promise<Held<Handle, Result>>((resolve, reject) => {
        let held: Held<Handle, Result> | undefined
        let isTooLate = false
        const result: Promise<Result> = runner.hold(
          bracket((handle) => {
            if (isTooLate) return storeClosed()
            held = new Held(handle, () => result, stop)
            resolve(held)
            return held.untilEnd
          }),
          async () => {
            isTooLate = true
            if (held === undefined) await result.catch(() => {})
            else await (whenStoreCloses === "close" ? held.leave() : held.abandon())
          },
          stop.signal
        )
        result.catch(reject)
      })
    return heeding(options, stop, opening)
  }

  /** Runs a function inside a bracket, which it may end before it returns; `ended` is null where it abandoned it. */
  static during<Handle, Result, A, E>(
    runner: Runner,
    bracket: Bracket<Handle, Result, E>,
    body: (held: Held<Handle, Result>) => PromiseLike<A> | A,
    options?: SignalOptions
  ): Promise<{ readonly result: A; readonly ended: Result | null }> {
    const stop = new AbortController()
    return heeding(options, stop, () => Held.bodyOf(runner, bracket, body, stop, options))
  }

  private static async bodyOf<Handle, Result, A, E>(
    runner: Runner,
    bracket: Bracket<Handle, Result, E>,
    body: (held: Held<Handle, Result>) => PromiseLike<A> | A,
    stop: AbortController,
    options: SignalOptions | undefined
  ): Promise<{ readonly result: A; readonly ended: Result | null }> {
    const started: Array<{ readonly held: Held<Handle, Result>; readonly running: Promise<A> }> = []
    const result: Promise<Result> = runner.run(
      bracket((handle) => {
        const held = new Held(handle, () => result, stop)
        const running = Promise.resolve(held).then(body)
        started.push({ held, running })
        running.then(
          () => held.finish(Exit.void),
          (reason) => held.finish(Exit.fail(new Thrown(reason)))
        )
        return held.untilEnd
      }),
      { signal: stop.signal }
    )
    const failure = await result.then(
      () => undefined,
      (error: unknown) => error
    )
    const [inside] = started
    if (inside?.held.byHand !== true) {
      const ended = await result
      return { result: await inside!.running, ended }
    }
    // A body that ended the bracket itself goes on after that.
    const value = await runner.run(
      called(() => inside.running),
      options
    )
    if (failure === inside.held.abandoned) return { result: value, ended: null }
    return { result: value, ended: await result }
  }

  /** Whether it has ended, or is about to. */
  get isOver(): boolean {
    return this.byHand || this.over
  }

  /** Ends the bracket well; what it then writes is durable when this resolves. */
  close(options?: SignalOptions): Promise<Result> {
    return heeding(options, this.stop, () => {
      this.byHand = true
      this.told = true
      this.finish(Exit.void)
      return this.result()
    })
  }

  /** Closes it, unless somebody did: who closed it is told of what failed, and nobody else. */
  async leave(): Promise<void> {
    if (this.told) await this.result().catch(() => {})
    else await this.close()
  }

  /** Ends the bracket as a failure does; closing or abandoning it again changes nothing. */
  async abandon(): Promise<void> {
    this.byHand = true
    this.finish(Exit.fail(this.abandoned))
    await this.result().catch((error) => {
      if (error !== this.abandoned && !this.told) throw error
    })
  }

  private finish(exit: Exit.Exit<void, Failure>): void {
    Deferred.unsafeDone(this.end, exit)
  }

  private get untilEnd(): Effect.Effect<void, Failure> {
    return Effect.ensuring(
      Deferred.await(this.end),
      Effect.sync(() => {
        this.over = true
      })
    )
  }
}

/** Makes a call, whose signal ends what goes on in the bracket for as long as the call lasts. */
const heeding = async <A>(
  options: SignalOptions | undefined,
  stop: AbortController,
  call: () => Promise<A>
): Promise<A> => {
  const signal = checked(options)
  const abort = () => stop.abort(signal?.reason)
  signal?.addEventListener("abort", abort, { once: true })
  try {
    return await call()
  } finally {
    signal?.removeEventListener("abort", abort)
  }
}

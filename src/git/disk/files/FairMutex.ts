import * as Effect from "effect/Effect"

/**
 * A mutex for code in an uninterruptible region: only the waiting can be interrupted. Waiters acquire it in the order of their
 * arrival; Effect's semaphore lets a new fiber overtake them.
 */
export class FairMutex {
  private readonly waiters: Array<{ readonly start: () => void }> = []

  /** Runs `body` while it holds the mutex. `restore` makes the waiting interruptible. */
  run<A, E, R>(
    restore: <A2, E2, R2>(effect: Effect.Effect<A2, E2, R2>) => Effect.Effect<A2, E2, R2>,
    body: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      let ready = false
      let resume: (() => void) | undefined
      const waiter = {
        start: () => {
          ready = true
          resume?.()
        }
      }
      this.waiters.push(waiter)
      if (this.waiters.length === 1) waiter.start()
      const wait = Effect.async<void>((done) => {
        if (ready) return done(Effect.void)
        resume = () => done(Effect.void)
      })
      const release = Effect.sync(() => {
        const at = this.waiters.indexOf(waiter)
        this.waiters.splice(at, 1)
        if (at === 0) this.waiters[0]?.start()
      })
      return Effect.ensuring(Effect.zipRight(restore(wait), body), release)
    })
  }
}

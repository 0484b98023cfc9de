import * as Effect from "effect/Effect"

/** A line of waiting effects: one runs at a time, first come, first served. */
export class FairMutex {
  private readonly line: Array<{ readonly start: () => void }> = []

  /** Runs `body` when its turn has come; only the waiting is interruptible here, by `restore`. */
  run<A, E, R>(
    restore: <A2, E2, R2>(effect: Effect.Effect<A2, E2, R2>) => Effect.Effect<A2, E2, R2>,
    body: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      let ready = false
      let resume: (() => void) | undefined
      const ticket = {
        start: () => {
          ready = true
          resume?.()
        }
      }
      this.line.push(ticket)
      if (this.line.length === 1) ticket.start()
      const wait = Effect.async<void>((done) => {
        if (ready) return done(Effect.void)
        resume = () => done(Effect.void)
      })
      const leave = Effect.sync(() => {
        const place = this.line.indexOf(ticket)
        this.line.splice(place, 1)
        if (place === 0) this.line[0]?.start()
      })
      return Effect.ensuring(Effect.zipRight(restore(wait), body), leave)
    })
  }
}

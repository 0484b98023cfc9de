/** Counts events. Replies arrive in any order, so an event is compared with the time at which a request was sent. */
export class LogicalClock {
  #now = 0

  get now(): number {
    return this.#now
  }

  tick(): number {
    return ++this.#now
  }
}

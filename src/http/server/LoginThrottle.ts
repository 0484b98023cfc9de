import { LruCache } from "../../domain/runtime/LruCache.js"

/** How often one client may be wrong. */
export interface LoginThrottleOptions {
  /** Failures within a window. */
  readonly maxFailures: number
  readonly windowMillis: number
}

const maxClients = 1000
const maxAccepted = 10_000

interface Failures {
  recent: ReadonlyArray<{ readonly at: number }>
}

/** How many times the limit a client may go on guessing before nobody is let through from there. */
const floodFactor = 100

/**
 * Limits how often a client presents credentials that are wrong. Credentials that were right from the same client are not
 * held up: whoever shares an address with somebody who guesses goes on with a token that worked before. Since the one who
 * guesses could find such a token in that way, this ends for the rest of a window with a hundred times as many guesses.
 */
export class LoginThrottle {
  private readonly failures = new LruCache<Failures>(maxClients)
  private readonly accepted = new LruCache<true>(maxAccepted)
  /** Guesses of clients that were held up already, and when the first of a window was made. */
  private readonly refusals = new LruCache<{ readonly since: number; count: number }>(maxClients)

  constructor(private readonly limits: LoginThrottleOptions) {}

  private recent(client: string, now: number) {
    return (this.failures.peek(client)?.recent ?? []).filter(({ at }) => now - at < this.limits.windowMillis)
  }

  private refused(client: string, now: number) {
    const known = this.refusals.peek(client)
    if (known !== undefined && now - known.since < this.limits.windowMillis) return known
    return this.refusals.set(client, { since: now, count: 0 })
  }

  /** Seconds until the client may present these credentials; 0 where it may at once. */
  retryAfter(client: string, credentials: string, now: number): number {
    const [first, ...rest] = this.recent(client, now)
    if (first === undefined || rest.length + 1 < this.limits.maxFailures) return 0
    const refused = this.refused(client, now)
    const isFlood = refused.count >= this.limits.maxFailures * floodFactor
    if (!isFlood && this.accepted.peek(`${client} ${credentials}`)) return 0
    refused.count++
    const until = isFlood ? Math.max(first.at, refused.since) : first.at
    return Math.max(1, Math.ceil((until + this.limits.windowMillis - now) / 1000))
  }

  /** Counts a failure; what is returned takes it back. */
  recordFailure(client: string, now: number): () => void {
    const failure = { at: now }
    this.failures.set(client, { recent: [...this.recent(client, now), failure] })
    return () => {
      const failures = this.failures.peek(client)
      if (failures === undefined) return
      failures.recent = failures.recent.filter((one) => one !== failure)
      if (failures.recent.length === 0) this.failures.delete(client)
    }
  }

  recordSuccess(client: string, credentials: string): void {
    const key = `${client} ${credentials}`
    if (!this.accepted.peek(key)) this.accepted.set(key, true)
  }
}

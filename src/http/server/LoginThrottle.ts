import { LruCache } from "../../domain/runtime/LruCache.js"

/** The number of failed logins that one client may make in a period. */
export interface LoginThrottleOptions {
  /** The maximum number of failures within a window. */
  readonly maxFailures: number
  readonly windowMillis: number
}

const maxClients = 1000
const maxAccepted = 10_000

interface Failures {
  recent: ReadonlyArray<{ readonly at: number }>
}

/** The multiple of the limit after which known credentials are refused from that client, too. */
const floodFactor = 100

/**
 * Limits failed logins per client address. Credentials that were accepted from the same address before are exempt, so
 * that users behind one proxy are not locked out by an attacker there. The attacker could find such credentials by
 * guessing, so the exemption ends for the rest of the window after a hundred times the limit.
 */
export class LoginThrottle {
  private readonly failures = new LruCache<Failures>(maxClients)
  private readonly accepted = new LruCache<true>(maxAccepted)
  /** The number of refused attempts per client, and the time of the first one in the window. */
  private readonly refusals = new LruCache<{ readonly since: number; count: number }>(maxClients)

  constructor(private readonly limits: LoginThrottleOptions) {}

  private recent(client: string, now: number) {
    return (this.failures.peek(client)?.recent ?? []).filter(({ at }) => now - at < this.limits.windowMillis)
  }

  private refused(client: string, now: number) {
    const recorded = this.refusals.peek(client)
    if (recorded !== undefined && now - recorded.since < this.limits.windowMillis) return recorded
    return this.refusals.set(client, { since: now, count: 0 })
  }

  /** The seconds until the client may try these credentials; 0 if it may try now. */
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

  /** Counts a failure. The returned function removes it again. */
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

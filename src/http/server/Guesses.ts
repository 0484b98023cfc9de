/** How often one client may be wrong. */
export interface GuessLimits {
  /** Failures within a window. */
  readonly most: number
  readonly windowMillis: number
}

const clients = 1000
const remembered = 10_000

/** The entry becomes the youngest of a map that holds no more than so many. */
const put = <A>(map: Map<string, A>, key: string, value: A, most: number): void => {
  map.delete(key)
  map.set(key, value)
  if (map.size > most) map.delete(map.keys().next().value!)
}

/**
 * Limits how often a client presents credentials that are wrong. Credentials that were right from the same client are
 * never held up: whoever shares an address with somebody who guesses goes on with a token that worked before.
 */
export class Guesses {
  private readonly failures = new Map<string, ReadonlyArray<object & { readonly at: number }>>()
  private readonly accepted = new Map<string, true>()

  constructor(private readonly limits: GuessLimits) {}

  private recent(client: string, now: number) {
    return (this.failures.get(client) ?? []).filter(({ at }) => now - at < this.limits.windowMillis)
  }

  /** Seconds until the client may present these credentials; 0 where it may at once. */
  wait(client: string, credentials: string, now: number): number {
    const [first, ...rest] = this.failures.has(client) ? this.recent(client, now) : []
    if (first === undefined || rest.length + 1 < this.limits.most) return 0
    if (this.accepted.has(`${client} ${credentials}`)) return 0
    return Math.max(1, Math.ceil((first.at + this.limits.windowMillis - now) / 1000))
  }

  /** Counts a failure; what is returned takes it back. */
  fail(client: string, now: number): () => void {
    const failure = { at: now }
    put(this.failures, client, [...this.recent(client, now), failure], clients)
    return () => {
      const kept = (this.failures.get(client) ?? []).filter((one) => one !== failure)
      if (kept.length > 0) this.failures.set(client, kept)
      else this.failures.delete(client)
    }
  }

  succeed(client: string, credentials: string): void {
    const key = `${client} ${credentials}`
    if (!this.accepted.has(key)) put(this.accepted, key, true, remembered)
  }
}

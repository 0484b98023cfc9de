/** Remembers values by key, least recently used first to go, bounded by the sum of their weights. */
export class ByteCache<A, K = string> {
  private readonly values = new Map<K, { readonly value: A; readonly weight: number }>()
  private total = 0

  constructor(private readonly limit: number) {}

  get(key: K): A | undefined {
    const found = this.values.get(key)
    if (found === undefined) return undefined
    this.values.delete(key)
    this.values.set(key, found)
    return found.value
  }

  set(key: K, value: A, weight: number): void {
    const before = this.values.get(key)
    if (before !== undefined) {
      this.total -= before.weight
      this.values.delete(key)
    }
    if (weight > this.limit) return
    this.values.set(key, { value, weight })
    this.total += weight
    if (this.total > this.limit) this.evict(this.limit * 0.9)
  }

  /** Makes room for several values at once: a map steps over all it has lost to reach its oldest key. */
  private evict(limit: number): void {
    for (const [oldest, entry] of this.values) {
      if (this.total <= limit) break
      this.values.delete(oldest)
      this.total -= entry.weight
    }
  }

  clear(): void {
    this.values.clear()
    this.total = 0
  }
}

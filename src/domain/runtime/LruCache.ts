/** Limits in addition to the total weight. */
export interface LruCacheOptions<V> {
  /** The maximum number of values, whatever their weight. */
  readonly entries?: number | undefined
  /** The maximum weight of one value. Without this limit the newest value is kept whatever its weight. */
  readonly largest?: number | undefined
  /** Called with each value that is removed, for example to close it. */
  readonly dispose?: ((value: V) => void) | undefined
}

interface Entry<V, K> {
  readonly key: K
  readonly value: V
  readonly weight: number
  older: Entry<V, K> | undefined
  newer: Entry<V, K> | undefined
}

/**
 * A cache that evicts the least recently used values when their total weight exceeds `limit`. A value has the weight 1,
 * unless `weigh` or an argument of `set` gives another.
 */
export class LruCache<V, K extends string | number = string> {
  readonly #entries = new Map<K, Entry<V, K>>()
  // A linked list keeps the order of use. Finding the oldest key of a `Map` steps over all deleted keys before it.
  #oldest: Entry<V, K> | undefined
  #newest: Entry<V, K> | undefined
  #weight = 0

  constructor(
    readonly limit: number,
    private readonly weigh: (value: V) => number = () => 1,
    private readonly options: LruCacheOptions<V> = {}
  ) {}

  get size(): number {
    return this.#entries.size
  }

  /** The total weight of all values. */
  get weight(): number {
    return this.#weight
  }

  /** Returns the value and marks it as used. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry !== this.#newest) {
      this.#unlink(entry)
      this.#append(entry)
    }
    return entry.value
  }

  /** Returns the value without marking it as used. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value
  }

  set(key: K, value: V, weight: number = this.weigh(value)): V {
    const { entries = Number.POSITIVE_INFINITY, largest = Number.POSITIVE_INFINITY } = this.options
    this.delete(key)
    if (weight > largest) return value
    const entry: Entry<V, K> = { key, value, weight, older: undefined, newer: undefined }
    this.#entries.set(key, entry)
    this.#weight += weight
    this.#append(entry)
    for (let oldest = this.#oldest; oldest !== undefined; oldest = this.#oldest) {
      const fits = this.#weight <= this.limit || oldest === entry
      if (fits && this.#entries.size <= entries) break
      this.#remove(oldest)
    }
    return value
  }

  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#remove(entry)
  }

  clear(): void {
    for (const entry of [...this.#entries.values()]) this.#remove(entry)
  }

  #remove(entry: Entry<V, K>): void {
    this.#entries.delete(entry.key)
    this.#unlink(entry)
    this.#weight -= entry.weight
    this.options.dispose?.(entry.value)
  }

  #append(entry: Entry<V, K>): void {
    entry.older = this.#newest
    entry.newer = undefined
    if (this.#newest === undefined) this.#oldest = entry
    else this.#newest.newer = entry
    this.#newest = entry
  }

  #unlink(entry: Entry<V, K>): void {
    if (entry.older === undefined) this.#oldest = entry.newer
    else entry.older.newer = entry.newer
    if (entry.newer === undefined) this.#newest = entry.older
    else entry.newer.older = entry.older
  }
}

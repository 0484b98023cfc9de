/** Bounds beside the sum of the weights. */
export interface LruCacheOptions<V> {
  /** At most this many values, whatever they weigh. */
  readonly entries?: number | undefined
  /** A value that weighs more is not kept. Without this bound the value set last is kept, whatever it weighs. */
  readonly largest?: number | undefined
  /** Told of each value that is no longer kept, for those that have to be closed. */
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
 * A map that keeps what was used last: values that can be made again. They weigh `limit` together at most. A value
 * weighs 1, unless `weigh` or the caller of `set` says otherwise.
 */
export class LruCache<V, K extends string | number = string> {
  readonly #entries = new Map<K, Entry<V, K>>()
  // The order of use is a list of its own: a `Map` steps over all the keys it has lost to reach its oldest one.
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

  /** What all values weigh together. */
  get weight(): number {
    return this.#weight
  }

  /** The value, which counts as used. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry !== this.#newest) {
      this.#unlink(entry)
      this.#append(entry)
    }
    return entry.value
  }

  /** The value, which keeps its place in the order of use. */
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

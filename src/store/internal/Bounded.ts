/**
 * A map that keeps what was used last: values that can be made again. They weigh `limit` together at most, but for the
 * last one, which is kept whatever it weighs.
 */
export class Bounded<V> {
  readonly #values = new Map<string, V>()
  #weight = 0

  constructor(
    readonly limit: number,
    private readonly weigh: (value: V) => number = () => 1
  ) {}

  get(key: string): V | undefined {
    const value = this.#values.get(key)
    if (value !== undefined) {
      this.#values.delete(key)
      this.#values.set(key, value)
    }
    return value
  }

  set(key: string, value: V): V {
    this.delete(key)
    this.#values.set(key, value)
    this.#weight += this.weigh(value)
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.limit || this.#values.size === 1) break
      this.delete(oldest)
    }
    return value
  }

  clear(): void {
    this.#values.clear()
    this.#weight = 0
  }

  delete(key: string): void {
    const value = this.#values.get(key)
    if (value !== undefined && this.#values.delete(key)) this.#weight -= this.weigh(value)
  }
}

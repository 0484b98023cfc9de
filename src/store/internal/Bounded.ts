/** A map that keeps what was used last: values that can be made again. */
export class Bounded<V> {
  readonly #values = new Map<string, V>()

  constructor(readonly limit: number) {}

  get(key: string): V | undefined {
    const value = this.#values.get(key)
    if (value !== undefined) {
      this.#values.delete(key)
      this.#values.set(key, value)
    }
    return value
  }

  set(key: string, value: V): V {
    this.#values.delete(key)
    this.#values.set(key, value)
    if (this.#values.size > this.limit) {
      for (const oldest of this.#values.keys()) {
        this.#values.delete(oldest)
        break
      }
    }
    return value
  }

  clear(): void {
    this.#values.clear()
  }
}

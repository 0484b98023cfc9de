/** The values before and after the current one. The oldest values are dropped. */
export class History<A> {
  private past: ReadonlyArray<A> = []
  private future: ReadonlyArray<A> = []
  private typing: string | undefined = undefined

  constructor(private readonly limit: number) {}

  get canUndo(): boolean {
    return this.past.length > 0
  }

  get canRedo(): boolean {
    return this.future.length > 0
  }

  /** Stores a value that is about to be replaced, once for consecutive changes with the same `typing`. */
  record(before: A, typing?: string): void {
    if (typing === undefined || typing !== this.typing) this.past = [...this.past, before].slice(-this.limit)
    this.typing = typing
    this.future = []
  }

  undo(now: A): A | undefined {
    const before = this.past.at(-1)
    if (before === undefined) return undefined
    this.past = this.past.slice(0, -1)
    this.future = [now, ...this.future]
    this.typing = undefined
    return before
  }

  redo(now: A): A | undefined {
    const [next, ...rest] = this.future
    if (next === undefined) return undefined
    this.past = [...this.past, now]
    this.future = rest
    this.typing = undefined
    return next
  }
}

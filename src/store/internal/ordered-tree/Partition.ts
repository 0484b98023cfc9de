import { least, type Separator } from "./Separator.js"

/*
 * Divides sorted entries into files and directories. Every entry has a strength, the hash of its key. A sequence that
 * is too heavy for one group is cut before its strongest entry, and so are both parts, until each part is light enough
 * or has one entry. In other words, an entry begins a group exactly if the entries around it, up to the next stronger
 * ones on both sides, weigh more than a group may. So the groups depend only on the set of entries. Inserting or
 * removing an entry moves at most the boundaries of the groups beside it, because groups further away are delimited by
 * entries with unchanged surroundings.
 *
 * Alternatives: a boundary wherever a hash has certain bits (a geometric distribution) does not depend on neighbours,
 * but its groups have no maximum size: with 64 entries on average, the largest of a million entries has about 600, and
 * a random insert falls into one of 128. A boundary that depends on the size so far (Dolt's) moves the boundaries after
 * it without limit.
 */

/** An item that is divided into groups. */
export interface Item {
  readonly separator: Separator
  readonly weight: number
}

export interface Group<A> {
  readonly separator: Separator
  readonly items: ReadonlyArray<A>
}

/**
 * Whether an item begins a group regardless of weights: it is stronger than the beginning of an earlier group. No item
 * is stronger than the least separator, and comparing with that one computes no hash.
 */
export const isStrongerThanEarlier = (item: Separator, earlier: Separator): boolean =>
  earlier !== least && item.strength < earlier.strength

/** The same for the beginning of a later group. */
export const isStrongerThanLater = (item: Separator, later: Separator): boolean =>
  item.strength <= later.strength

/** Groups a sorted sequence item by item; keeps one group in memory. */
export class Partition<A extends Item> {
  #start: Separator
  #items: Array<A> = []
  #weight = 0
  #done: Array<Group<A>> = []

  constructor(
    readonly capacity: number,
    start: Separator
  ) {
    this.#start = start
  }

  push(item: A): void {
    if (item.separator.name !== this.#start.name && isStrongerThanEarlier(item.separator, this.#start)) {
      this.#cut(this.#items.length, item.separator)
    }
    this.#items.push(item)
    this.#weight += item.weight
    while (this.#weight > this.capacity) {
      const at = this.#strongest()
      if (at === undefined) return
      this.#cut(at, this.#items[at]!.separator)
    }
  }

  /** The groups that are complete and not taken yet. */
  take(): ReadonlyArray<Group<A>> {
    if (this.#done.length === 0) return this.#done
    const done = this.#done
    this.#done = []
    return done
  }

  /** All remaining groups. `next` is the beginning of the group after the sequence. */
  end(next?: Separator): ReadonlyArray<Group<A>> {
    for (;;) {
      const at = next === undefined ? undefined : this.#strongest()
      if (at === undefined || !isStrongerThanLater(this.#items[at]!.separator, next!)) break
      this.#cut(at, this.#items[at]!.separator)
    }
    this.#done.push({ separator: this.#start, items: this.#items })
    return this.take()
  }

  #cut(at: number, separator: Separator): void {
    const after = this.#items.splice(at)
    this.#done.push({ separator: this.#start, items: this.#items })
    this.#start = separator
    this.#items = after
    this.#weight = after.reduce((sum, { weight }) => sum + weight, 0)
  }

  /** The position of the strongest item except the first one. */
  #strongest(): number | undefined {
    let found: number | undefined
    for (
      let at = this.#items[0]?.separator.name === this.#start.name ? 1 : 0;
      at < this.#items.length;
      at++
    ) {
      if (
        found === undefined ||
        isStrongerThanEarlier(this.#items[at]!.separator, this.#items[found]!.separator)
      ) {
        found = at
      }
    }
    return found
  }
}

/** The groups of a whole sequence between two boundaries. */
export const partition = <A extends Item>(
  items: Iterable<A>,
  capacity: number,
  start: Separator,
  next?: Separator
): ReadonlyArray<Group<A>> => {
  const groups = new Partition<A>(capacity, start)
  for (const item of items) groups.push(item)
  return groups.end(next)
}

import { least, type Separator } from "./Separator.js"

/*
 * Where files and directories begin. Every entry has a strength, the hash of its key. A sequence that is too heavy for
 * one group is cut before its strongest entry, and so are both parts, until each part is light enough or one entry. In
 * other words, entry E begins a group exactly if the entries around E, up to the next stronger ones, weigh more than a
 * group may. So the groups depend on the set of entries alone. An entry that comes or goes moves the boundaries of
 * the groups beside it at most, since groups further off are delimited by entries whose surroundings are the same.
 *
 * A boundary wherever a hash has some bits (a geometric distribution) needs no look at neighbours, but its groups have no
 * greatest size: with 64 entries on average, the largest among a million entries has some 600, and a random insert meets one of 128. A
 * boundary that depends on the size so far (Dolt's) moves the boundaries behind it without limit.
 */

/** What is put into groups. */
export interface Item {
  readonly separator: Separator
  readonly weight: number
}

export interface Group<A> {
  readonly separator: Separator
  readonly items: ReadonlyArray<A>
}

/**
 * Whether an item begins a group although the weights do not tell: it is stronger than a group's beginning before it.
 * Nothing is stronger than the least separator, and a comparison with it takes no hash.
 */
export const isStrongerThanEarlier = (item: Separator, earlier: Separator): boolean =>
  earlier !== least && item.strength < earlier.strength

/** The same beside a group's beginning that comes later. */
export const isStrongerThanLater = (item: Separator, later: Separator): boolean =>
  item.strength <= later.strength

/** Groups a sorted sequence, item by item, and holds one group at a time. */
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

  /** The groups that are complete and were not taken yet. */
  take(): ReadonlyArray<Group<A>> {
    if (this.#done.length === 0) return this.#done
    const done = this.#done
    this.#done = []
    return done
  }

  /** All groups that are left. `next` is the beginning of the group that follows the sequence. */
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

  /** The place of the strongest item that does not begin the group already. */
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

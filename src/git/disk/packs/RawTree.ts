import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { TreeEntry } from "../../Tree.js"
import type { EntryEdit } from "../../TreeEdit.js"
import type { TreeNode } from "../../TreeReading.js"
import { EngineError } from "../files/EngineError.js"
import { asBuffer } from "./ObjectParsing.js"

type Mode = TreeEntry["mode"]

/** The replacement of a range of bytes. Deltas consist of them. */
export interface Splice {
  readonly at: number
  readonly remove: number
  readonly insert: Uint8Array | undefined
}

export interface EditedTree {
  readonly tree: RawTree
  readonly splices: ReadonlyArray<Splice>
}

const slash = 0x2f

/**
 * The stored bytes of a tree, with the offsets of its entries. A name is found by binary search, and an edit copies the unchanged
 * entries without decoding them. A flat directory of 100,000 entries is a single buffer.
 */
export class RawTree implements TreeNode<RawTree> {
  readonly length: number
  /** Its size in memory, in bytes. */
  readonly weight: number

  private constructor(
    readonly bytes: Buffer,
    /** The offset of each entry, and the end of the last one. */
    private readonly starts: Uint32Array
  ) {
    this.length = starts.length - 1
    this.weight = bytes.length + starts.length * 4 + 200
  }

  static readonly empty = new RawTree(Buffer.alloc(0), new Uint32Array(1))

  static parse(content: Uint8Array): RawTree {
    const bytes = asBuffer(content)
    let starts = new Uint32Array(Math.max(16, Math.ceil(bytes.length / 32)))
    let count = 0
    let at = 0
    while (at < bytes.length) {
      if (count + 1 >= starts.length) {
        const larger = new Uint32Array(starts.length * 2)
        larger.set(starts)
        starts = larger
      }
      starts[count++] = at
      const end = bytes.indexOf(0, at + 6)
      if (end < 0 || end + 21 > bytes.length)
        throw new EngineError("Corrupt", "A tree ends in the middle of an entry")
      at = end + 21
    }
    starts[count] = at
    return new RawTree(bytes, starts.slice(0, count + 1))
  }

  private nameStart(index: number): number {
    const at = this.starts[index]!
    return this.bytes[at + 5] === 0x20 ? at + 6 : at + 7
  }

  private nameEnd(index: number): number {
    return this.starts[index + 1]! - 21
  }

  isTree(index: number): boolean {
    const at = this.starts[index]!
    return this.bytes[at] === 0x34 || this.bytes[at] === 0x30
  }

  name(index: number): string {
    return this.bytes.toString("utf8", this.nameStart(index), this.nameEnd(index))
  }

  private nameBytes(index: number): Buffer {
    return this.bytes.subarray(this.nameStart(index), this.nameEnd(index))
  }

  oid(index: number): Oid {
    const end = this.starts[index + 1]!
    return this.bytes.toString("hex", end - 20, end) as Oid
  }

  /** Whether two entries have the same object and mode. */
  sameEntry(index: number, other: RawTree, otherIndex: number): boolean {
    const end = this.starts[index + 1]!
    const otherEnd = other.starts[otherIndex + 1]!
    return (
      this.bytes.compare(other.bytes, otherEnd - 20, otherEnd, end - 20, end) === 0 &&
      this.mode(index) === other.mode(otherIndex)
    )
  }

  mode(index: number): Mode {
    const at = this.starts[index]!
    if (this.isTree(index)) return "040000"
    switch (this.bytes[at + 1]! * 256 + this.bytes[at + 2]!) {
      case 0x3230:
        return "120000"
      case 0x3630:
        return "160000"
      default:
        return (this.bytes[at + 3]! & 1) === 1 ? "100755" : "100644"
    }
  }

  compareTo(index: number, other: RawTree, otherIndex: number): number {
    return this.compare(index, other.nameBytes(otherIndex), other.isTree(otherIndex))
  }

  /** Negative if the entry sorts before `name`. A directory sorts as if its name ended in a slash. */
  private compare(index: number, name: Buffer, isTree: boolean): number {
    const bytes = this.bytes
    const start = this.nameStart(index)
    const size = this.nameEnd(index) - start
    const shared = Math.min(size, name.length)
    for (let i = 0; i < shared; i++) {
      const difference = bytes[start + i]! - name[i]!
      if (difference !== 0) return difference
    }
    const mine = size > shared ? bytes[start + shared]! : this.isTree(index) ? slash : 0
    const theirs = name.length > shared ? name[shared]! : isTree ? slash : 0
    return mine - theirs || size - name.length
  }

  /** The index of `name`, or `-1 - index` of the position where it would be inserted. */
  private search(name: Buffer, isTree: boolean): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const order = this.compare(middle, name, isTree)
      if (order === 0) return middle
      if (order < 0) low = middle + 1
      else high = middle
    }
    return -1 - low
  }

  /** The entry called `name`, of any kind. */
  entryNamed(name: string): Pick<TreeEntry, "mode" | "oid"> | undefined {
    const index = this.find(Buffer.from(name, "utf8"))
    return index < 0 ? undefined : { mode: this.mode(index), oid: this.oid(index) }
  }

  /** The index of the entry called `name`, or -1. */
  private find(name: Buffer): number {
    const file = this.search(name, false)
    if (file >= 0) return file
    const tree = this.search(name, true)
    return tree >= 0 ? tree : -1
  }

  /** Applies edits with unique names. Removing a missing entry changes nothing. */
  edit(edits: ReadonlyArray<EntryEdit>): EditedTree {
    const steps: Array<{ key: Buffer; index: number; removes: boolean; insert: Buffer | undefined }> = []
    for (const edit of edits) {
      const name = Buffer.from(edit.name, "utf8")
      const isTree = edit.mode === "040000"
      const insert = edit.oid === undefined ? undefined : encodeEntry(name, edit.mode, edit.oid)
      const existing = this.find(name)
      if (existing >= 0 && this.isTree(existing) === isTree) {
        steps.push({ key: sortKey(name, isTree), index: existing, removes: true, insert })
        continue
      }
      if (existing >= 0) {
        const key = sortKey(name, !isTree)
        steps.push({ key, index: existing, removes: true, insert: undefined })
      }
      if (insert !== undefined) {
        const index = -1 - this.search(name, isTree)
        steps.push({ key: sortKey(name, isTree), index, removes: false, insert })
      }
    }
    if (steps.length > 1) steps.sort((a, b) => a.index - b.index || Buffer.compare(a.key, b.key))
    return this.splice(steps)
  }

  private splice(
    steps: ReadonlyArray<{
      readonly index: number
      readonly removes: boolean
      readonly insert: Buffer | undefined
    }>
  ): EditedTree {
    let size = this.bytes.length
    let count = this.length
    for (const step of steps) {
      if (step.removes) {
        size -= this.starts[step.index + 1]! - this.starts[step.index]!
        count--
      }
      if (step.insert !== undefined) {
        size += step.insert.length
        count++
      }
    }
    const bytes = Buffer.allocUnsafeSlow(size)
    const starts = new Uint32Array(count + 1)
    const splices: Array<Splice> = []
    let from = 0
    let entry = 0
    let at = 0
    const keepUntil = (index: number) => {
      const begin = this.starts[from]!
      const end = this.starts[index]!
      this.bytes.copy(bytes, at, begin, end)
      const shift = at - begin
      for (let i = from; i < index; i++) starts[entry++] = this.starts[i]! + shift
      at += end - begin
      from = index
    }
    for (const step of steps) {
      keepUntil(step.index)
      const begin = this.starts[step.index]!
      if (step.insert !== undefined) {
        starts[entry++] = at
        bytes.set(step.insert, at)
        at += step.insert.length
      }
      if (step.removes) from = step.index + 1
      splices.push({ at: begin, remove: this.starts[from]! - begin, insert: step.insert })
    }
    keepUntil(this.length)
    starts[count] = at
    return { tree: new RawTree(bytes, starts), splices }
  }
}

const sortKey = (name: Buffer, isTree: boolean) => (isTree ? Buffer.concat([name, Buffer.of(slash)]) : name)

const encodeEntry = (name: Buffer, mode: Mode, oid: Oid): Buffer => {
  const modeText = mode === "040000" ? "40000" : mode
  const out = Buffer.allocUnsafe(modeText.length + name.length + 22)
  let at = out.write(modeText, 0, "latin1")
  out[at++] = 0x20
  out.set(name, at)
  at += name.length
  out[at++] = 0
  out.write(oid, at, 20, "hex")
  return out
}

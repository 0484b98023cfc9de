import * as fs from "node:fs"
import * as path from "node:path"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { LruCache } from "../../../domain/runtime/LruCache.js"
import type { RawObject } from "../../GitObject.js"
import { hasHead } from "../files/Directories.js"
import { EngineError } from "../files/EngineError.js"
import { hasErrorCode } from "../files/FileOperations.js"
import { PackDescriptors } from "./PackDescriptors.js"
import { PackFile } from "./PackFile.js"
import { PackIndex } from "./PackIndex.js"

/** Packs, and indexes that are read in parts. */
const maxOpenFiles = 64

const stampOf = ({ ctimeNs, ino, mtimeNs, size }: fs.BigIntStats): string =>
  `${ino}:${size}:${mtimeNs}:${ctimeNs}`

/** Objects of packs whose ids are kept together. */
const mostNamed = 1 << 16
/** The most objects of such a pack. */
const mostInNamed = 1 << 10

/** The packs of one repository, and of those that it borrows from. */
export class PackSet {
  /** Packs in which objects are looked for one after the other. Those that held what was looked for come first. */
  private inOrder: Array<PackFile> = []
  /**
   * The objects of small packs. A writer makes a pack with every commit, hundreds between two maintenances, and looks for most
   * objects in none of them.
   */
  private readonly named = new Map<Oid, PackFile>()
  /** By their paths, without an ending. */
  private readonly known = new Map<string, PackFile>()
  /** Those whose index cannot be used, with the version of the file that was looked at. */
  private readonly broken = new Map<string, { readonly stamp: string; readonly cause: EngineError }>()
  private readonly files = new PackDescriptors(maxOpenFiles)
  private readonly objects: string
  private readonly packDirectory: string
  private borrowed = 0

  constructor(
    private readonly directory: string,
    private readonly bases: LruCache<RawObject, number>,
    /** Indexes of so many bytes are read in parts. */
    private readonly partsFrom: number
  ) {
    this.objects = path.join(directory, "objects")
    this.packDirectory = path.join(this.objects, "pack")
  }

  close(): void {
    this.files.closeAll()
  }

  /** How many of them are the repository's own. */
  get ownCount(): number {
    return this.known.size - this.borrowed
  }

  /** Makes sure of every index that was read in parts; those that turn out to be damaged are not used any more. */
  verify(): void {
    for (const pack of [...this.known.values()]) this.using(pack, () => pack.index.verify())
  }

  /** Uses an index. One damaged index takes the objects of its pack away, and those alone. */
  private using<A>(pack: PackFile, use: () => A): A | undefined {
    try {
      return use()
    } catch (cause) {
      return this.failed(pack, cause)
    }
  }

  private failed(pack: PackFile, cause: unknown): undefined {
    // Others have removed the pack: the next look at the directory finds where its objects went.
    if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return
    if (!(cause instanceof EngineError)) throw cause
    this.forget(pack)
    const stat = fs.statSync(`${pack.stem}.idx`, { bigint: true, throwIfNoEntry: false })
    if (stat !== undefined) this.broken.set(pack.stem, { stamp: stampOf(stat), cause })
  }

  private forget(pack: PackFile): void {
    this.known.delete(pack.stem)
    const rest = this.inOrder.filter((other) => other !== pack)
    if (rest.length < this.inOrder.length) this.inOrder = rest
    else for (const oid of pack.index.all()) this.named.delete(oid)
    pack.close()
  }

  /** The repository's own packs whose index is damaged, by their paths without an ending. */
  get damaged(): ReadonlyArray<string> {
    return [...this.broken.keys()].filter((stem) => path.dirname(stem) === this.packDirectory)
  }

  /** Why an object that was not found may be in a pack all the same. */
  get damage(): string | undefined {
    for (const { cause } of this.broken.values()) return cause.message
    return undefined
  }

  has(stem: string): boolean {
    return this.known.has(stem)
  }

  /** The packs that have an object, and where in them it is. */
  *holding(oid: Oid): Generator<readonly [pack: PackFile, offset: number]> {
    const bytes = Buffer.from(oid, "hex")
    const small = this.named.get(oid)
    if (small !== undefined) yield [small, small.find(bytes)]
    const packs = this.inOrder
    for (let i = 0; i < packs.length; i++) {
      const pack = packs[i]!
      let offset: number
      try {
        offset = pack.find(bytes)
      } catch (cause) {
        this.failed(pack, cause)
        continue
      }
      if (offset < 0) continue
      if (i > 0 && packs === this.inOrder) {
        packs.splice(i, 1)
        packs.unshift(pack)
      }
      yield [pack, offset]
    }
  }

  *startingWith(prefix: string): Generator<Oid> {
    for (const pack of [...this.known.values()]) {
      yield* this.using(pack, () => pack.index.startingWith(prefix)) ?? []
    }
  }

  /** Looks at the directories of packs again; these are the other ones than the repository's own. */
  rescan(alternates: ReadonlyArray<string>): void {
    const present = new Set<string>()
    for (const objects of [this.objects, ...alternates]) this.scan(path.join(objects, "pack"), present)
    for (const stem of this.broken.keys()) if (!present.has(stem)) this.broken.delete(stem)
    this.borrowed = 0
    for (const [stem, pack] of this.known) {
      if (present.has(stem)) {
        if (path.dirname(stem) !== this.packDirectory) this.borrowed++
        continue
      }
      this.forget(pack)
    }
  }

  /** Reads what is new in one directory of packs, and adds the paths of all its packs, without an ending. */
  private scan(directory: string, present: Set<string>): void {
    const names = new Set(this.namesIn(directory))
    for (const name of names) {
      if (!name.endsWith(".idx") || !names.has(`${name.slice(0, -4)}.pack`)) continue
      const stem = path.join(directory, name.slice(0, -4))
      present.add(stem)
      if (!this.known.has(stem)) this.load(stem)
    }
  }

  /** Reads an index, or as much of it as says that it may be one. */
  private load(stem: string): void {
    try {
      const stat = fs.statSync(`${stem}.idx`, { bigint: true })
      const stamp = stampOf(stat)
      if (this.broken.get(stem)?.stamp === stamp) return
      this.broken.delete(stem)
      try {
        this.add(stem, PackIndex.open(stem, Number(stat.size), this.partsFrom, this.files))
      } catch (cause) {
        if (!(cause instanceof EngineError)) throw cause
        this.broken.set(stem, { stamp, cause })
      }
    } catch (cause) {
      if (!hasErrorCode(cause, "ENOENT", "ENOTDIR")) throw cause
    }
  }

  private namesIn(directory: string): ReadonlyArray<string> {
    try {
      return fs.readdirSync(directory)
    } catch (cause) {
      if (!hasErrorCode(cause, "ENOENT", "ENOTDIR")) throw cause
      if (directory !== this.packDirectory || fs.existsSync(this.objects)) return []
      if (!hasHead(this.directory)) throw cause
      throw new EngineError(
        "Corrupt",
        `${this.directory} has no objects directory`,
        "Restore it from a clone"
      )
    }
  }

  /** Adds a pack that this process has written. */
  register(stem: string, index: Buffer): void {
    this.add(stem, PackIndex.written(stem, index))
  }

  private add(stem: string, index: PackIndex): void {
    const pack = new PackFile(stem, index, this.files, this.bases)
    this.known.set(stem, pack)
    if (!this.name(pack)) this.inOrder.unshift(pack)
  }

  /** Keeps the ids of a small pack, unless another pack has one of them: copies of an object serve where one is damaged. */
  private name(pack: PackFile): boolean {
    const { index } = pack
    if (!index.isVerified || index.count > mostInNamed || this.named.size + index.count > mostNamed)
      return false
    const ids = [...index.all()]
    if (ids.some((oid) => this.named.has(oid))) return false
    for (const oid of ids) this.named.set(oid, pack)
    return true
  }
}

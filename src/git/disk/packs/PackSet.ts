import * as fs from "node:fs"
import * as path from "node:path"
import type { Steps } from "../../../domain/concurrency/Steps.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { LruCache } from "../../../domain/runtime/LruCache.js"
import type { RawObject } from "../../GitObject.js"
import { hasHead } from "../files/Directories.js"
import { damageAt, damageOf, EngineError } from "../files/EngineError.js"
import { hasErrorCode, stampOf } from "../files/FileOperations.js"
import { PackDescriptors } from "./PackDescriptors.js"
import { PackFile } from "./PackFile.js"
import { PackIndex } from "./PackIndex.js"

/** The largest number of open packs and partially read indexes. */
const maxOpenFiles = 64

/** As `stampOf`; empty if the file cannot be looked at. */
const stampAt = (file: string): string | undefined => {
  try {
    return stampOf(file)
  } catch (cause) {
    if (damageOf(cause) === undefined) throw cause
    return ""
  }
}

/** A text that changes when a pack or its index is replaced. */
export const stampOfPack = (stem: string): string => `${stampAt(`${stem}.idx`)} ${stampAt(`${stem}.pack`)}`

/** The largest number of objects of small packs whose ids are kept in one map. */
const maxSmallPackObjects = 1 << 16
/** The largest number of objects of a small pack. */
const maxObjectsPerSmallPack = 1 << 10

/** The names, without extension, of the packs that are complete. Those of a running `git repack` begin with a dot. */
export const completePacks = (files: Iterable<string>): ReadonlyArray<string> => {
  const present = new Set(files)
  return [...present].flatMap((file) => {
    const name = file.slice(0, -".pack".length)
    const isComplete = file.endsWith(".pack") && present.has(`${name}.idx`) && !file.startsWith(".")
    return isComplete ? [name] : []
  })
}

/** The reason why a pack or its index cannot be opened; undefined if they can, or if they are gone. */
export const damageOfPack = (stem: string): EngineError | undefined =>
  damageAt(`${stem}.idx`) ?? damageAt(`${stem}.pack`)

/** The packs without an index, by their names. */
export const packsWithoutIndex = (files: Iterable<string>): ReadonlyArray<string> => {
  const present = new Set(files)
  return [...present].flatMap((file) =>
    /^pack-.*\.pack$/.test(file) && !present.has(file.replace(/pack$/, "idx"))
      ? [file.slice(0, -".pack".length)]
      : []
  )
}

/** The packs of a repository and of its alternates. */
export class PackSet {
  /** The packs that are searched one after the other. Those with the last found objects come first. */
  private searchOrder: Array<PackFile> = []
  /**
   * The objects of small packs. A writer makes a pack with every flush, hundreds between two maintenance runs, and most lookups find
   * nothing in them.
   */
  private readonly smallPackObjects = new Map<Oid, PackFile>()
  /** All packs by their paths without extension. */
  private readonly packs = new Map<string, PackFile>()
  /** The packs whose index file is damaged or may not be read, and the version of that file. */
  private readonly unusable = new Map<string, { readonly stamp: string; readonly cause: EngineError }>()
  /** The directories of packs that cannot be listed. The packs that were loaded from them are kept. */
  private readonly unlisted = new Map<string, EngineError>()
  /** The packs of which an object could not be read. Their files may have been replaced since they were loaded. */
  private readonly suspected = new Set<PackFile>()
  /** The versions of the files of each pack when it was loaded. */
  private readonly loaded = new WeakMap<PackFile, string>()
  private readonly files = new PackDescriptors(maxOpenFiles)
  private readonly objects: string
  private readonly packDirectory: string
  private alternateCount = 0

  constructor(
    private readonly directory: string,
    private readonly bases: LruCache<RawObject, number>,
    /** The size in bytes from which an index is read in parts. */
    private readonly partsFrom: number
  ) {
    this.objects = path.join(directory, "objects")
    this.packDirectory = path.join(this.objects, "pack")
  }

  close(): void {
    this.files.closeAll()
  }

  /** The number of packs of the repository itself. */
  get ownCount(): number {
    return this.packs.size - this.alternateCount
  }

  /** Verifies every partially read index. Packs with a damaged index are not used any more. */
  verify(): void {
    for (const pack of [...this.packs.values()]) this.using(pack, () => pack.index.verify())
  }

  /** Verifies the file of every index of the repository itself, as it is on the disk now. */
  *verifyFiles(): Steps<void> {
    for (const pack of [...this.packs.values()]) {
      if (!this.isOwn(pack.stem) || this.packs.get(pack.stem) !== pack) continue
      try {
        yield* pack.index.verifyFile()
      } catch (cause) {
        // An index in memory is intact, and is used until the maintenance has rebuilt the file.
        const damage = damageOf(cause)
        if (this.packs.get(pack.stem) !== pack) continue
        if (damage === undefined || !pack.index.isVerified) this.failed(pack, cause)
        else if (!this.reloadIfReplaced(pack)) this.markUnusable(pack.stem, cause)
      }
    }
  }

  /** Uses an index. A damaged index only makes the objects of its own pack unavailable. */
  private using<A>(pack: PackFile, use: () => A): A | undefined {
    try {
      return use()
    } catch (cause) {
      return this.failed(pack, cause)
    }
  }

  private failed(pack: PackFile, cause: unknown): undefined {
    // Another process removed the pack. The next scan of the directory finds the pack with its objects.
    if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return
    if (damageOf(cause) === undefined) throw cause
    // Another reader has found the damage, and the index may have been rebuilt since.
    if (this.packs.get(pack.stem) !== pack || this.reloadIfReplaced(pack)) return
    this.forget(pack)
    this.markUnusable(pack.stem, cause)
  }

  private markUnusable(stem: string, cause: unknown): void {
    const stamp = stampAt(`${stem}.idx`)
    const damage = damageOf(cause)
    if (stamp === undefined || damage === undefined) return
    // A disk that could not read may read the same file later, and the rights of a process may change.
    const isLasting = cause instanceof EngineError || !hasErrorCode(cause, "EIO", "EACCES", "EPERM")
    this.unusable.set(stem, { stamp: isLasting ? stamp : "", cause: damage })
  }

  /** Notes that an object of a pack could not be read. The next scan reads the pack again if its files are others now. */
  suspect(pack: PackFile): void {
    this.suspected.add(pack)
  }

  /** Loads a pack again if its files are others than those that were loaded, and the index is intact. */
  private reloadIfReplaced(pack: PackFile): boolean {
    const { stem } = pack
    const versions = stampOfPack(stem)
    if (this.loaded.get(pack) === versions) return false
    // The descriptors are of the old files.
    pack.close()
    let index: PackIndex
    try {
      index = PackIndex.open(stem, fs.statSync(`${stem}.idx`).size, this.partsFrom, this.files)
      index.verify()
    } catch (cause) {
      if (hasErrorCode(cause, "ENOENT", "ENOTDIR") || damageOf(cause) !== undefined) return false
      throw cause
    }
    this.forget(pack)
    this.add(stem, index, versions)
    return true
  }

  private forget(pack: PackFile): void {
    this.packs.delete(pack.stem)
    this.suspected.delete(pack)
    const rest = this.searchOrder.filter((other) => other !== pack)
    if (rest.length < this.searchOrder.length) this.searchOrder = rest
    else {
      for (const oid of pack.index.all()) {
        if (this.smallPackObjects.get(oid) === pack) this.smallPackObjects.delete(oid)
      }
    }
    pack.close()
  }

  private isOwn(stem: string): boolean {
    return path.dirname(stem) === this.packDirectory
  }

  /** The packs of the repository itself that have a damaged index, by their paths without extension. */
  get damaged(): ReadonlyArray<string> {
    return [...this.unusable].flatMap(([stem, { cause }]) =>
      this.isOwn(stem) && cause.reason !== "Denied" ? [stem] : []
    )
  }

  /** The paths, without extension, of the packs that the last scan found. */
  private get stems(): ReadonlyArray<string> {
    return [...new Set([...this.packs.keys(), ...this.unusable.keys()])]
  }

  /** The packs of the repository itself whose files cannot be opened, by their paths without extension. */
  *hidden(): Steps<ReadonlyArray<string>> {
    const found: Array<string> = []
    for (const stem of this.stems) {
      if (this.isOwn(stem) && damageOfPack(stem) !== undefined) found.push(stem)
      yield
    }
    return found
  }

  /**
   * Why packs of a repository or alternate, by its `objects` directory, cannot be read; undefined if all can be. Packs of the repository
   * itself are left out: see `damaged` and `hidden`.
   */
  *damageBelow(objects: string): Steps<EngineError | undefined> {
    const directory = path.join(objects, "pack")
    const unlisted = this.unlisted.get(directory)
    if (unlisted !== undefined || directory === this.packDirectory) return unlisted
    for (const stem of this.stems) {
      const damage =
        path.dirname(stem) === directory ? (this.unusable.get(stem)?.cause ?? damageOfPack(stem)) : undefined
      if (damage !== undefined) return damage
      yield
    }
    return undefined
  }

  /** The reason why an object that was not found may exist in a pack. */
  get damage(): EngineError | undefined {
    for (const cause of this.unlisted.values()) return cause
    for (const { cause } of this.unusable.values()) return cause
    return undefined
  }

  /** Whether an index lists an object. The pack is not read. */
  contains(oid: Oid): boolean {
    for (const _ of this.holding(oid)) return true
    return false
  }

  /** The packs that contain an object, with its offset. */
  *holding(oid: Oid): Generator<readonly [pack: PackFile, offset: number]> {
    const bytes = Buffer.from(oid, "hex")
    const small = this.smallPackObjects.get(oid)
    if (small !== undefined) yield [small, small.find(bytes)]
    const packs = this.searchOrder
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
      if (i > 0 && packs === this.searchOrder) {
        packs.splice(i, 1)
        packs.unshift(pack)
      }
      yield [pack, offset]
    }
  }

  *startingWith(prefix: string): Generator<Oid> {
    for (const pack of [...this.packs.values()]) {
      const found = this.using(pack, () => pack.index.startingWith(prefix))
      // The pack may have been loaded again.
      const again = found === undefined ? this.packs.get(pack.stem) : undefined
      yield* found ?? (again && this.using(again, () => again.index.startingWith(prefix))) ?? []
    }
  }

  /** Scans the directories of packs, including those of the alternates. */
  rescan(alternates: ReadonlyArray<string>): void {
    const present = new Set<string>()
    const suspected = [...this.suspected]
    this.suspected.clear()
    for (const pack of suspected) if (this.packs.get(pack.stem) === pack) this.reloadIfReplaced(pack)
    this.unlisted.clear()
    for (const objects of [this.objects, ...alternates]) this.scan(path.join(objects, "pack"), present)
    const isPresent = (stem: string) => present.has(stem) || this.unlisted.has(path.dirname(stem))
    for (const stem of this.unusable.keys()) if (!isPresent(stem)) this.unusable.delete(stem)
    this.alternateCount = 0
    for (const [stem, pack] of this.packs) {
      if (isPresent(stem)) {
        if (!this.isOwn(stem)) this.alternateCount++
        continue
      }
      this.forget(pack)
    }
  }

  /** Loads the new packs of a directory, and adds the paths of all its packs, without extension, to `present`. */
  private scan(directory: string, present: Set<string>): void {
    for (const name of completePacks(this.namesIn(directory))) {
      const stem = path.join(directory, name)
      present.add(stem)
      if (!this.packs.has(stem)) this.load(stem)
      else if (this.unusable.has(stem)) this.clearRebuilt(stem)
    }
  }

  /** Marks a pack as usable whose index is in memory, if its file is another one now. */
  private clearRebuilt(stem: string): void {
    const stamp = stampAt(`${stem}.idx`)
    if (stamp !== undefined && stamp !== this.unusable.get(stem)?.stamp) this.unusable.delete(stem)
  }

  /** Loads an index, or its header if it is read in parts. */
  private load(stem: string): void {
    try {
      const stamp = stampOf(`${stem}.idx`)
      if (stamp === undefined || this.unusable.get(stem)?.stamp === stamp) return
      this.unusable.delete(stem)
      // The files may be replaced while they are read, so their versions are those from before.
      const versions = stampOfPack(stem)
      const { size } = fs.statSync(`${stem}.idx`)
      this.add(stem, PackIndex.open(stem, size, this.partsFrom, this.files), versions)
    } catch (cause) {
      if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return
      if (damageOf(cause) === undefined) throw cause
      this.markUnusable(stem, cause)
    }
  }

  private namesIn(directory: string): ReadonlyArray<string> {
    try {
      return fs.readdirSync(directory)
    } catch (cause) {
      if (!hasErrorCode(cause, "ENOENT", "ENOTDIR")) {
        const damage = damageOf(cause)
        if (damage === undefined) throw cause
        this.unlisted.set(directory, damage)
        return []
      }
      if (directory !== this.packDirectory || fs.existsSync(this.objects)) return []
      if (!hasHead(this.directory)) throw cause
      throw new EngineError(
        "Corrupt",
        `${this.directory} has no objects directory`,
        "Restore it from a clone"
      )
    }
  }

  /** Adds a pack that this process wrote. */
  register(stem: string, index: Buffer): void {
    this.add(stem, PackIndex.written(stem, index), stampOfPack(stem))
  }

  private add(stem: string, index: PackIndex, versions: string): void {
    const pack = new PackFile(stem, index, this.files, this.bases)
    this.loaded.set(pack, versions)
    this.packs.set(stem, pack)
    if (!this.addSmallPack(pack)) this.searchOrder.unshift(pack)
  }

  /**
   * Adds the ids of a small pack to the map. Not if another pack has one of them: both packs are then searched, because one copy of an
   * object replaces a damaged other one.
   */
  private addSmallPack(pack: PackFile): boolean {
    const { index } = pack
    if (
      !index.isVerified ||
      index.count > maxObjectsPerSmallPack ||
      this.smallPackObjects.size + index.count > maxSmallPackObjects
    )
      return false
    const ids = [...index.all()]
    if (ids.some((oid) => this.smallPackObjects.has(oid))) return false
    for (const oid of ids) this.smallPackObjects.set(oid, pack)
    return true
  }
}

import { statSync } from "node:fs"
import * as path from "node:path"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { emptyTree } from "../../../domain/identifiers/Oid.js"
import { LruCache } from "../../../domain/runtime/LruCache.js"
import type { CommitInfo } from "../../Commit.js"
import type { RawObject } from "../../GitObject.js"
import { pathExists } from "../files/Directories.js"
import { EngineError, isCorruption, MissingObject } from "../files/EngineError.js"
import { hasErrorCode } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import { parseCommit, tagTarget } from "../packs/ObjectParsing.js"
import { type DeflatedObject, ObjectStream } from "../packs/ObjectStream.js"
import type { BuiltPack } from "../packs/PackBuilder.js"
import type { PackFile } from "../packs/PackFile.js"
import { PackSet } from "../packs/PackSet.js"
import { writePack } from "../packs/PackWriter.js"
import { RawTree } from "../packs/RawTree.js"
import type { NewTree } from "../packs/TreeRewriter.js"
import type { ObjectType } from "../port/GitRepository.js"
import { alternatesOf } from "./Alternates.js"
import { LooseObjects } from "./LooseObjects.js"

export interface CacheSizes {
  /** The size of the cache of parsed trees, in bytes. Default 64 MiB. */
  readonly trees?: number | undefined
  /** The size of the cache of commits and delta bases, in bytes. Default 64 MiB. */
  readonly objects?: number | undefined
  /** The size in bytes from which the index of a pack is read in parts. Default 1 MiB. */
  readonly packIndex?: number | undefined
}

/** A cache limited in bytes. The caller of `set` passes the size of the value. A value above the limit is not cached. */
const cacheOfBytes = <A, K extends string | number = string>(limit: number) =>
  new LruCache<A, K>(limit, undefined, { largest: limit })

/** All copies of an object are damaged. `cause` is the error of the first one. */
class DamagedCopies {
  constructor(readonly cause: unknown) {}
}

const timeOf = (directory: string): number | undefined =>
  statSync(directory, { throwIfNoEntry: false })?.mtimeMs

/**
 * The objects of a repository: those of staged commits, then packs, then loose files. Reads are synchronous, because the files are
 * usually in the page cache.
 */
export class ObjectDatabase {
  private readonly packs: PackSet
  /** The loose objects of the alternates. */
  private alternates: ReadonlyArray<LooseObjects> = []
  /** The directory of an alternate that is missing. */
  private missingAlternate: string | undefined
  private readonly trees: LruCache<RawTree>
  private readonly commits: LruCache<CommitInfo>
  /** Cache of objects that only stock Git could find. */
  private readonly foreign = cacheOfBytes<RawObject>(64 * 1024 * 1024)
  readonly memo = cacheOfBytes<NewTree>(32 * 1024 * 1024)
  /** Objects of commits that are not yet on the disk. */
  readonly staged = new Map<Oid, { readonly object: RawObject; users: number }>()
  readonly loose: LooseObjects
  /** The mtime of the directory of packs at the last scan. */
  private scannedAt: number | undefined
  private readonly objects: string
  private readonly packDirectory: string

  constructor(
    directory: string,
    private readonly lease: Lease,
    caches: CacheSizes
  ) {
    this.objects = path.join(directory, "objects")
    this.packDirectory = path.join(this.objects, "pack")
    this.loose = new LooseObjects(this.objects, lease)
    this.loose.estimate()
    this.trees = cacheOfBytes(caches.trees ?? 64 * 1024 * 1024)
    this.packs = new PackSet(
      directory,
      cacheOfBytes((caches.objects ?? 64 * 1024 * 1024) * 0.75),
      caches.packIndex ?? 1024 * 1024
    )
    this.commits = cacheOfBytes((caches.objects ?? 64 * 1024 * 1024) * 0.25)
    this.rescan()
  }

  close(): void {
    this.packs.close()
  }

  /** The number of packs of the repository itself at the last scan. */
  get packCount(): number {
    return this.packs.ownCount
  }

  /** Scans the directories of packs again, because other processes add and remove packs. */
  rescan(): void {
    const directories = alternatesOf(this.objects)
    this.scannedAt = timeOf(this.packDirectory)
    this.missingAlternate = directories.find((directory) => !pathExists(directory))
    this.alternates = directories.map((directory) => new LooseObjects(directory, this.lease))
    this.packs.rescan(directories)
  }

  /** Reads the first intact copy of an object. */
  private lookUp<A>(
    oid: Oid,
    packed: (pack: PackFile, offset: number) => A,
    loose: (objects: LooseObjects) => A | undefined
  ): A | DamagedCopies | undefined {
    let damaged: DamagedCopies | undefined
    const tried = (use: () => A | undefined): A | undefined => {
      try {
        return use()
      } catch (cause) {
        // The pack was replaced meanwhile: the object is in a newer pack.
        if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return undefined
        if (!isCorruption(cause)) throw cause
        damaged ??= new DamagedCopies(cause)
        return undefined
      }
    }
    for (const [pack, offset] of this.packs.holding(oid)) {
      const found = tried(() => packed(pack, offset))
      if (found !== undefined) return found
    }
    for (const objects of [this.loose, ...this.alternates]) {
      const found = tried(() => loose(objects))
      if (found !== undefined) return found
    }
    return damaged
  }

  /** Reads an object, and repeats the lookup after a scan of the packs. */
  private lookUpAgain<A>(
    oid: Oid,
    packed: (pack: PackFile, offset: number) => A,
    loose: (objects: LooseObjects) => A | undefined
  ): A | undefined {
    const found = this.lookUp(oid, packed, loose)
    if (found !== undefined && !(found instanceof DamagedCopies)) return found
    // An id may be missing from a partially read index because of damage.
    this.packs.verify()
    this.rescan()
    // The loose objects are searched again, too: an object may move between packs and loose files.
    const again = this.lookUp(oid, packed, loose)
    if (again instanceof DamagedCopies) throw again.cause
    return again
  }

  /** Finds an object; undefined if it is missing. */
  find(oid: Oid): RawObject | undefined {
    const staged = this.staged.get(oid)
    if (staged !== undefined) return staged.object
    const found = this.lookUpAgain(
      oid,
      (pack, offset) => pack.readNamed(oid, offset),
      (loose) => loose.read(oid)
    )
    if (found !== undefined) return found
    const foreign = this.foreign.get(oid)
    if (foreign !== undefined) return foreign
    if (oid === emptyTree) return { type: "tree", content: new Uint8Array(0) }
    if (this.damage !== undefined) throw new MissingObject(oid, this.damage)
    return undefined
  }

  /** The reason why an object that was not found may exist: a part of the repository cannot be read. */
  private get damage(): string | undefined {
    return this.missingAlternate === undefined
      ? this.packs.damage
      : `the alternate ${this.missingAlternate} is missing`
  }

  /** Scans the directories of packs, and verifies every index. */
  examine(): void {
    this.rescan()
    this.packs.verify()
  }

  /** The packs of the repository itself that have a damaged index, by their paths without extension. */
  get damagedPacks(): ReadonlyArray<string> {
    return this.packs.damaged
  }

  /** The type and size of an object, without reading the content if possible. */
  info(oid: Oid): { readonly type: ObjectType; readonly size: number } | undefined {
    if (!this.staged.has(oid)) {
      const found = this.lookUp<{ readonly type: ObjectType; readonly size: number }>(
        oid,
        (pack, offset) => pack.info(oid, offset),
        (loose) => loose.deflated(oid)
      )
      if (found !== undefined && !(found instanceof DamagedCopies))
        return { type: found.type, size: found.size }
    }
    const object = this.find(oid)
    return object === undefined ? undefined : { type: object.type, size: object.content.length }
  }

  /** Opens an object of at least `size` bytes as a stream; undefined if it must be read as a whole. */
  open(oid: Oid, size: number): ObjectStream | undefined {
    if (this.staged.has(oid)) return undefined
    return this.lookUpAgain(
      oid,
      (pack, offset) => ({ stream: openStream(pack.deflated(offset, size), size) }),
      (loose) => {
        const found = loose.deflated(oid)
        return found === undefined ? undefined : { stream: openStream(found, size) }
      }
    )?.stream
  }

  /** Reads an object. Throws if it is missing. */
  read(oid: Oid): RawObject {
    const found = this.find(oid)
    if (found === undefined) throw new MissingObject(oid)
    return found
  }

  /** Caches an object that only stock Git could find. */
  cacheForeign(oid: Oid, object: RawObject): void {
    this.foreign.set(oid, object, object.content.length + 100)
  }

  tree(oid: Oid): RawTree {
    const known = this.trees.get(oid)
    if (known !== undefined) return known
    const object = this.read(oid)
    if (object.type !== "tree")
      throw new EngineError("Corrupt", `Object ${oid} is a ${object.type}, not a tree`)
    const tree = RawTree.parse(object.content)
    this.cacheTree(oid, tree)
    return tree
  }

  cacheTree(oid: Oid, tree: RawTree): void {
    this.trees.set(oid, tree, tree.weight)
  }

  /** Removes a cached commit if another process has pruned it. */
  private evictPruned(oid: Oid): void {
    if (this.commits.get(oid) === undefined) return
    // An open pack stays readable after its deletion.
    if (this.scannedAt !== timeOf(this.packDirectory)) this.rescan()
    if (!this.packs.contains(oid) && this.info(oid) === undefined) this.commits.delete(oid)
  }

  /** A commit that a caller names. Unlike the parents of a commit, it may have been pruned since it was cached. */
  namedCommit(oid: Oid): CommitInfo | undefined {
    this.evictPruned(oid)
    return this.commit(oid)
  }

  commit(oid: Oid): CommitInfo | undefined {
    const known = this.commits.get(oid)
    if (known !== undefined) return known
    const object = this.find(oid)
    return object?.type === "commit" ? this.cacheCommit(oid, object.content) : undefined
  }

  cacheCommit(oid: Oid, content: Uint8Array): CommitInfo {
    const commit = parseCommit(oid, content)
    this.commits.set(oid, commit, content.length + 400)
    return commit
  }

  /** Dereferences tags. */
  peel(oid: Oid): Oid | undefined {
    this.evictPruned(oid)
    let at = oid
    for (let steps = 0; steps < 20; steps++) {
      if (this.commits.get(at) !== undefined) return at
      const info = this.info(at)
      if (info?.type !== "tag") return info === undefined ? undefined : at
      const target = tagTarget(this.read(at).content)
      if (target === undefined)
        throw new EngineError("Corrupt", `Tag ${at} names no object`, "Run `git fsck`")
      at = target
    }
    throw new EngineError("Corrupt", `Tag ${oid} is nested too deeply`)
  }

  /** The tree of a commit, tag or tree; undefined if the object is missing. */
  rootOf(oid: Oid): Oid | undefined {
    this.evictPruned(oid)
    const known = this.commits.get(oid)
    if (known !== undefined) return known.tree
    if (this.trees.get(oid) !== undefined || oid === emptyTree) return oid
    const peeled = this.peel(oid)
    if (peeled === undefined) return undefined
    const commit = this.commit(peeled)
    return commit === undefined ? (this.info(peeled)?.type === "tree" ? peeled : undefined) : commit.tree
  }

  /** The ids that begin with `prefix` (at least four digits). */
  startingWith(prefix: string): Array<Oid> {
    this.rescan()
    const found = new Set<Oid>()
    for (const oid of this.packs.startingWith(prefix)) found.add(oid)
    for (const oid of this.staged.keys()) if (oid.startsWith(prefix)) found.add(oid)
    for (const loose of [this.loose, ...this.alternates])
      for (const oid of loose.startingWith(prefix)) found.add(oid)
    if (found.size === 0 && this.damage !== undefined) {
      throw new EngineError(
        "Corrupt",
        `No object begins with ${prefix}: ${this.damage}`,
        "Run the maintenance"
      )
    }
    return [...found]
  }

  /** Writes a pack, and adds it to the packs of the repository. */
  writePack(
    pack: BuiltPack,
    durable: boolean,
    beside: ReadonlyArray<number>,
    keepSource: string
  ): Promise<() => void> {
    return writePack({
      pack,
      durable,
      beside,
      keepSource,
      objects: this.objects,
      lease: this.lease,
      register: (stem) => this.packs.register(stem, pack.index),
      isRegistered: (stem) => this.packs.has(stem)
    })
  }
}

const openStream = (object: DeflatedObject | undefined, size: number): ObjectStream | undefined =>
  object === undefined || object.size < size ? undefined : new ObjectStream(object)

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
import { type Deflated, ObjectStream } from "../packs/ObjectStream.js"
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
  /** Bytes of parsed trees kept. Default 64 MiB. */
  readonly trees?: number | undefined
  /** Bytes of commits and delta bases kept. Default 64 MiB. */
  readonly objects?: number | undefined
  /** Bytes of a pack's index from which on it is read in parts, as it is needed. Default 1 MiB. */
  readonly packIndex?: number | undefined
}

/** What weighs more than all of the limit is not kept. Who sets a value says how many bytes it takes. */
const ofBytes = <A, K extends string | number = string>(limit: number) =>
  new LruCache<A, K>(limit, undefined, { largest: limit })

/** All copies of an object that there are, and what is wrong with the first of them. */
class DamagedCopies {
  constructor(readonly cause: unknown) {}
}

const timeOf = (directory: string): number | undefined =>
  statSync(directory, { throwIfNoEntry: false })?.mtimeMs

/** The objects of one repository: staged ones first, then packs, then loose files. Synchronous, as page cache is. */
export class ObjectDatabase {
  private readonly packs: PackSet
  /** The loose objects of repositories that this one borrows from. */
  private lenders: ReadonlyArray<LooseObjects> = []
  /** A directory that objects are borrowed from and that is not there. */
  private lost: string | undefined
  private readonly trees: LruCache<RawTree>
  private readonly commits: LruCache<CommitInfo>
  /** Objects that only stock Git could find. */
  private readonly foreign = ofBytes<RawObject>(64 * 1024 * 1024)
  readonly memo = ofBytes<NewTree>(32 * 1024 * 1024)
  /** Objects of commits that are not yet on disk. */
  readonly staged = new Map<Oid, { readonly object: RawObject; users: number }>()
  readonly loose: LooseObjects
  /** When packs were last added or removed, as of the last look. */
  private packed: number | undefined
  private readonly objects: string

  constructor(
    directory: string,
    private readonly owner: Lease,
    caches: CacheSizes
  ) {
    this.objects = path.join(directory, "objects")
    this.loose = new LooseObjects(this.objects, owner)
    this.loose.estimate()
    this.trees = ofBytes(caches.trees ?? 64 * 1024 * 1024)
    this.packs = new PackSet(
      directory,
      ofBytes((caches.objects ?? 64 * 1024 * 1024) * 0.75),
      caches.packIndex ?? 1024 * 1024
    )
    this.commits = ofBytes((caches.objects ?? 64 * 1024 * 1024) * 0.25)
    this.rescan()
  }

  close(): void {
    this.packs.close()
  }

  /** How many packs of its own the repository has, as of the last look. */
  get packCount(): number {
    return this.packs.ownCount
  }

  /** Looks at the directories of packs again: others add and remove them. */
  rescan(): void {
    const alternates = alternatesOf(this.objects)
    this.packed = timeOf(path.join(this.objects, "pack"))
    this.lost = alternates.find((directory) => !pathExists(directory))
    this.lenders = alternates.map((directory) => new LooseObjects(directory, this.owner))
    this.packs.rescan(alternates)
  }

  /** What is known of an object by the first place that has a sound copy of it. */
  private look<A>(
    oid: Oid,
    packed: (pack: PackFile, offset: number) => A,
    loose: (objects: LooseObjects) => A | undefined
  ): A | DamagedCopies | undefined {
    let broken: DamagedCopies | undefined
    const tried = (use: () => A | undefined): A | undefined => {
      try {
        return use()
      } catch (cause) {
        // Repacked meanwhile: the object is in a newer pack.
        if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return undefined
        if (!isCorruption(cause)) throw cause
        broken ??= new DamagedCopies(cause)
        return undefined
      }
    }
    for (const [pack, offset] of this.packs.holding(oid)) {
      const found = tried(() => packed(pack, offset))
      if (found !== undefined) return found
    }
    for (const place of [this.loose, ...this.lenders]) {
      const found = tried(() => loose(place))
      if (found !== undefined) return found
    }
    return broken
  }

  /** The same, with a second look at what packs there are by now. */
  private lookTwice<A>(
    oid: Oid,
    packed: (pack: PackFile, offset: number) => A,
    loose: (objects: LooseObjects) => A | undefined
  ): A | undefined {
    const found = this.look(oid, packed, loose)
    if (found !== undefined && !(found instanceof DamagedCopies)) return found
    // What an index that was read in parts does not have, it may lack by damage.
    this.packs.verify()
    this.rescan()
    // The loose ones too: an object is never in neither place, but may move between two looks.
    const again = this.look(oid, packed, loose)
    if (again instanceof DamagedCopies) throw again.cause
    return again
  }

  /** An object, or undefined where neither packs nor loose files have it. */
  find(oid: Oid): RawObject | undefined {
    const staged = this.staged.get(oid)
    if (staged !== undefined) return staged.object
    const found = this.lookTwice(
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

  /** Why an object that was not found may exist all the same: a part of the repository cannot be read. */
  private get damage(): string | undefined {
    return this.lost === undefined
      ? this.packs.damage
      : `objects are borrowed from ${this.lost}, which is not there`
  }

  /** Looks at the directories of packs again, and reads every index as a whole. */
  examine(): void {
    this.rescan()
    this.packs.verify()
  }

  /** The repository's own packs whose index is known to be damaged, by their paths without an ending. */
  get damagedPacks(): ReadonlyArray<string> {
    return this.packs.damaged
  }

  /** Type and size, without the content where that can be avoided. */
  info(oid: Oid): { readonly type: ObjectType; readonly size: number } | undefined {
    if (!this.staged.has(oid)) {
      const found = this.look<{ readonly type: ObjectType; readonly size: number }>(
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

  /** An object of at least `size` bytes to be read piece by piece; undefined where it has to be read as a whole. */
  open(oid: Oid, size: number): ObjectStream | undefined {
    if (this.staged.has(oid)) return undefined
    return this.lookTwice(
      oid,
      (pack, offset) => ({ stream: opened(pack.deflated(offset, size), size) }),
      (loose) => {
        const found = loose.deflated(oid)
        return found === undefined ? undefined : { stream: opened(found, size) }
      }
    )?.stream
  }

  /** An object that must be there. */
  read(oid: Oid): RawObject {
    const found = this.find(oid)
    if (found === undefined) throw new MissingObject(oid)
    return found
  }

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
    this.rememberTree(oid, tree)
    return tree
  }

  rememberTree(oid: Oid, tree: RawTree): void {
    this.trees.set(oid, tree, tree.weight)
  }

  /** What is remembered of an object is forgotten where others have pruned it since. */
  private prune(oid: Oid): void {
    if (this.commits.get(oid) === undefined) return
    // A pack that was deleted is readable for as long as it is open.
    if (this.packed !== timeOf(path.join(this.objects, "pack"))) this.rescan()
    if (this.info(oid) === undefined) this.commits.delete(oid)
  }

  /** A commit that somebody names: unlike those that a history leads to, it may have been pruned since it was read. */
  namedCommit(oid: Oid): CommitInfo | undefined {
    this.prune(oid)
    return this.commit(oid)
  }

  commit(oid: Oid): CommitInfo | undefined {
    const known = this.commits.get(oid)
    if (known !== undefined) return known
    const object = this.find(oid)
    return object?.type === "commit" ? this.rememberCommit(oid, object.content) : undefined
  }

  rememberCommit(oid: Oid, content: Uint8Array): CommitInfo {
    const commit = parseCommit(oid, content)
    this.commits.set(oid, commit, content.length + 400)
    return commit
  }

  /** What a tag, or a tag of a tag, is of. */
  peel(oid: Oid): Oid | undefined {
    this.prune(oid)
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

  /** The tree that a commit, tag or tree stands for; undefined when there is no such object. */
  rootOf(oid: Oid): Oid | undefined {
    this.prune(oid)
    const known = this.commits.get(oid)
    if (known !== undefined) return known.tree
    if (this.trees.get(oid) !== undefined || oid === emptyTree) return oid
    const peeled = this.peel(oid)
    if (peeled === undefined) return undefined
    const commit = this.commit(peeled)
    return commit === undefined ? (this.info(peeled)?.type === "tree" ? peeled : undefined) : commit.tree
  }

  /** Ids that begin with `prefix` (at least four digits). */
  startingWith(prefix: string): Array<Oid> {
    this.rescan()
    const found = new Set<Oid>()
    for (const oid of this.packs.startingWith(prefix)) found.add(oid)
    for (const oid of this.staged.keys()) if (oid.startsWith(prefix)) found.add(oid)
    for (const loose of [this.loose, ...this.lenders])
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

  /** Writes a pack and makes it visible; see `placePack`. */
  writePack(
    pack: BuiltPack,
    durable: boolean,
    beside: ReadonlyArray<number>,
    mark: string
  ): Promise<() => void> {
    return writePack({
      pack,
      durable,
      beside,
      mark,
      objects: this.objects,
      owner: this.owner,
      register: (stem) => this.packs.register(stem, pack.index),
      isRegistered: (stem) => this.packs.has(stem)
    })
  }
}

const opened = (object: Deflated | undefined, size: number): ObjectStream | undefined =>
  object === undefined || object.size < size ? undefined : new ObjectStream(object)

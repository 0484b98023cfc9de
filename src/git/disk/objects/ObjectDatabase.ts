import type { Oid } from "../../../domain/identifiers/Oid.js"
import { emptyTree } from "../../../domain/identifiers/Oid.js"
import { LruCache } from "../../../domain/runtime/LruCache.js"
import type { CommitInfo } from "../../Commit.js"
import type { RawObject } from "../../GitObject.js"
import { EngineError, MissingObject } from "../files/EngineError.js"
import type { Lease } from "../lease/Lease.js"
import { parseCommit, tagTarget } from "../packs/ObjectParsing.js"
import type { ObjectStream } from "../packs/ObjectStream.js"
import { RawTree } from "../packs/RawTree.js"
import type { NewTree } from "../packs/TreeRewriter.js"
import { ObjectFiles, type ObjectInfo } from "./ObjectFiles.js"

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

/**
 * The objects of a repository: those of staged commits, then those in files, with caches of parsed ones. Reads are synchronous,
 * because the files are usually in the page cache.
 */
export class ObjectDatabase {
  readonly files: ObjectFiles
  private readonly trees: LruCache<RawTree>
  private readonly commits: LruCache<CommitInfo>
  /** Cache of objects that only stock Git could find. */
  private readonly foreign = cacheOfBytes<RawObject>(64 * 1024 * 1024)
  readonly memo = cacheOfBytes<NewTree>(32 * 1024 * 1024)
  /** Objects of commits that are not yet on the disk. */
  readonly staged = new Map<Oid, { readonly object: RawObject; users: number }>()

  constructor(directory: string, lease: Lease, caches: CacheSizes) {
    const objects = caches.objects ?? 64 * 1024 * 1024
    this.trees = cacheOfBytes(caches.trees ?? 64 * 1024 * 1024)
    this.commits = cacheOfBytes(objects * 0.25)
    this.files = new ObjectFiles(directory, lease, {
      deltaBases: cacheOfBytes(objects * 0.75),
      packIndex: caches.packIndex ?? 1024 * 1024
    })
  }

  close(): void {
    this.files.close()
  }

  /** Finds an object; undefined if it is missing. */
  find(oid: Oid): RawObject | undefined {
    const staged = this.staged.get(oid)
    if (staged !== undefined) return staged.object
    const found = this.files.read(oid)
    if (found !== undefined) return found
    const foreign = this.foreign.get(oid)
    if (foreign !== undefined) return foreign
    if (oid === emptyTree) return { type: "tree", content: new Uint8Array(0) }
    const { damage } = this.files
    if (damage !== undefined) throw new MissingObject(oid, damage)
    return undefined
  }

  /** The type and size of an object, without reading the content if possible. */
  info(oid: Oid): ObjectInfo | undefined {
    const found = this.staged.has(oid) ? undefined : this.files.info(oid)
    if (found !== undefined) return found
    const object = this.find(oid)
    return object === undefined ? undefined : { type: object.type, size: object.content.length }
  }

  /** Opens an object of at least `size` bytes as a stream; undefined if it must be read as a whole. */
  open(oid: Oid, size: number): ObjectStream | undefined {
    return this.staged.has(oid) ? undefined : this.files.open(oid, size)
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
    const cached = this.trees.get(oid)
    if (cached !== undefined) return cached
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
    if (this.commits.get(oid) === undefined || this.files.isPacked(oid)) return
    if (this.info(oid) === undefined) this.commits.delete(oid)
  }

  /** A commit that a caller names. Unlike the parents of a commit, it may have been pruned since it was cached. */
  namedCommit(oid: Oid): CommitInfo | undefined {
    this.evictPruned(oid)
    return this.commit(oid)
  }

  commit(oid: Oid): CommitInfo | undefined {
    const cached = this.commits.get(oid)
    if (cached !== undefined) return cached
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
    let at = oid
    for (let steps = 0; steps < 20; steps++) {
      this.evictPruned(at)
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
    const cached = this.commits.get(oid)
    if (cached !== undefined) return cached.tree
    if (this.trees.get(oid) !== undefined || oid === emptyTree) return oid
    const peeled = this.peel(oid)
    if (peeled === undefined) return undefined
    const commit = this.commit(peeled)
    return commit === undefined ? (this.info(peeled)?.type === "tree" ? peeled : undefined) : commit.tree
  }

  /** The ids that begin with `prefix` (at least four digits). */
  startingWith(prefix: string): Array<Oid> {
    const found = new Set(this.files.startingWith(prefix))
    for (const oid of this.staged.keys()) if (oid.startsWith(prefix)) found.add(oid)
    const { damage } = this.files
    if (found.size === 0 && damage !== undefined) {
      throw new EngineError(damage.reason, `No object begins with ${prefix}: ${damage.message}`, damage.hint)
    }
    return [...found]
  }
}

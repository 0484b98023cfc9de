import { statSync } from "node:fs"
import * as path from "node:path"
import type { Steps } from "../../../domain/concurrency/Steps.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { LruCache } from "../../../domain/runtime/LruCache.js"
import type { RawObject } from "../../GitObject.js"
import { type EngineError, isUnreadable, TooLargeObject } from "../files/EngineError.js"
import { hasErrorCode } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import { type DeflatedObject, ObjectStream } from "../packs/ObjectStream.js"
import type { BuiltPack } from "../packs/PackBuilder.js"
import type { PackFile } from "../packs/PackFile.js"
import { PackSet } from "../packs/PackSet.js"
import { writePack } from "../packs/PackWriter.js"
import type { ObjectType } from "../port/GitRepository.js"
import { alternatesOf } from "./Alternates.js"
import { LooseObjects } from "./LooseObjects.js"

/** The type of an object, and the size of its content in bytes. */
export interface ObjectInfo {
  readonly type: ObjectType
  readonly size: number
}

/** All copies of an object are damaged. `cause` is the error of the first one. */
class DamagedCopies {
  constructor(readonly cause: unknown) {}
}

const timeOf = (directory: string): number | undefined =>
  statSync(directory, { throwIfNoEntry: false })?.mtimeMs

/**
 * The objects in the files of a repository: those of packs, then loose ones, each of the repository itself and of its alternates.
 * Other processes add and remove these files, so a lookup that fails is repeated after a scan of the directories.
 */
export class ObjectFiles {
  readonly loose: LooseObjects
  private readonly packs: PackSet
  /** The loose objects of the alternates. */
  private alternates: ReadonlyArray<LooseObjects> = []
  /** See `Alternates.damage`. */
  private alternateDamage: ReadonlyMap<string, EngineError> = new Map()
  /** The mtime of the directory of packs at the last scan. */
  private scannedAt: number | undefined
  private readonly objects: string
  private readonly packDirectory: string

  constructor(
    directory: string,
    private readonly lease: Lease,
    caches: {
      readonly deltaBases: LruCache<RawObject, number>
      /** The size in bytes from which the index of a pack is read in parts. */
      readonly packIndex: number
    }
  ) {
    this.objects = path.join(directory, "objects")
    this.packDirectory = path.join(this.objects, "pack")
    this.loose = new LooseObjects(this.objects, lease)
    this.loose.estimate()
    this.packs = new PackSet(directory, caches.deltaBases, caches.packIndex)
    this.rescan()
  }

  close(): void {
    this.packs.close()
  }

  /** The number of packs of the repository itself at the last scan. */
  get packCount(): number {
    return this.packs.ownCount
  }

  /** The packs of the repository itself that have a damaged index, by their paths without extension. */
  get damagedPacks(): ReadonlyArray<string> {
    return this.packs.damaged
  }

  /** The packs of the repository itself whose files cannot be opened, by their paths without extension. */
  hiddenPacks(): Steps<ReadonlyArray<string>> {
    return this.packs.hidden()
  }

  /** The reason why an object that was not found may exist: a part of the repository cannot be read. */
  get damage(): EngineError | undefined {
    for (const damage of this.alternateDamage.values()) return damage
    return this.packs.damage
  }

  /** Scans the directories of packs again. */
  rescan(): void {
    const { damage, directories } = alternatesOf(this.objects)
    this.scannedAt = timeOf(this.packDirectory)
    this.alternateDamage = damage
    this.alternates = directories.map((directory) => new LooseObjects(directory, this.lease))
    this.packs.rescan(directories)
  }

  /** Counts the packs and loose objects again, after Git may have written some. */
  recount(): void {
    this.rescanChanged()
    this.loose.estimate()
  }

  private rescanChanged(): void {
    if (this.scannedAt !== timeOf(this.packDirectory)) this.rescan()
  }

  /** Scans the directories of packs, and verifies every index as it is on the disk now. */
  *examine(): Steps<void> {
    this.rescan()
    yield* this.packs.verifyFiles()
  }

  /**
   * Why objects cannot be read, other than those in `damagedPacks` and `hiddenPacks`: at most one reason for the repository, and one for
   * each alternate. Every loose object is opened.
   */
  *hiddenObjects(): Steps<ReadonlyArray<EngineError>> {
    const found: Array<EngineError> = []
    for (const loose of [this.loose, ...this.alternates]) {
      const { directory } = loose
      const damage =
        this.alternateDamage.get(directory) ??
        (yield* this.packs.damageBelow(directory)) ??
        (yield* loose.damage())
      if (damage !== undefined) found.push(damage)
    }
    return found
  }

  /** Whether a pack contains an object. A changed directory is scanned first, because an open pack stays readable after its deletion. */
  isPacked(oid: Oid): boolean {
    this.rescanChanged()
    return this.packs.contains(oid)
  }

  /** Reads the first intact copy of an object. */
  private lookUp<A>(
    oid: Oid,
    packed: (pack: PackFile, offset: number) => A,
    loose: (objects: LooseObjects) => A | undefined
  ): A | DamagedCopies | undefined {
    let damaged: DamagedCopies | undefined
    const tried = (use: () => A | undefined, onDamage?: () => void): A | undefined => {
      try {
        return use()
      } catch (cause) {
        // The pack was replaced meanwhile: the object is in a newer pack.
        if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return undefined
        if (cause instanceof TooLargeObject) throw new TooLargeObject(cause.size, oid)
        if (!isUnreadable(cause)) throw cause
        onDamage?.()
        damaged ??= new DamagedCopies(cause)
        return undefined
      }
    }
    for (const [pack, offset] of this.packs.holding(oid)) {
      const found = tried(
        () => packed(pack, offset),
        () => this.packs.suspect(pack)
      )
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

  /** Reads an object; undefined if it is missing. */
  read(oid: Oid): RawObject | undefined {
    return this.lookUpAgain(
      oid,
      (pack, offset) => pack.readNamed(oid, offset),
      (loose) => loose.read(oid)
    )
  }

  /** The type and size of an object; undefined if they cannot be read without its content, or the object is missing. */
  info(oid: Oid): ObjectInfo | undefined {
    const found = this.lookUp<ObjectInfo>(
      oid,
      (pack, offset) => pack.info(oid, offset),
      (loose) => loose.deflated(oid)
    )
    return found === undefined || found instanceof DamagedCopies
      ? undefined
      : { type: found.type, size: found.size }
  }

  /** Opens an object of at least `size` bytes as a stream; undefined if it must be read as a whole. */
  open(oid: Oid, size: number): ObjectStream | undefined {
    return this.lookUpAgain(
      oid,
      (pack, offset) => ({ stream: openStream(pack.deflated(offset, size), size) }),
      (loose) => {
        const found = loose.deflated(oid)
        return found === undefined ? undefined : { stream: openStream(found, size) }
      }
    )?.stream
  }

  /** The ids that begin with `prefix` (at least four digits), after a scan. An id may occur more than once. */
  startingWith(prefix: string): ReadonlyArray<Oid> {
    this.rescan()
    return [this.packs, this.loose, ...this.alternates].flatMap((source) => [...source.startingWith(prefix)])
  }

  /** Writes a pack, and adds it to the packs of the repository. */
  writePack(pack: BuiltPack, durable: boolean, beside: ReadonlyArray<number>): Promise<() => void> {
    return writePack({
      pack,
      durable,
      beside,
      keepSource: this.lease.keepSource(),
      objects: this.objects,
      lease: this.lease,
      register: (stem) => this.packs.register(stem, pack.index)
    })
  }
}

const openStream = (object: DeflatedObject | undefined, size: number): ObjectStream | undefined =>
  object === undefined || object.size < size ? undefined : new ObjectStream(object)

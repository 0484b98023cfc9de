import * as fs from "node:fs"
import * as path from "node:path"
import type { Oid } from "../../domain/Oid.js"
import type { ByteCache } from "./ByteCache.js"
import { hasCode } from "./Disk.js"
import { Fault } from "./Fault.js"
import type { RawObject } from "./GitObjects.js"
import { OpenPacks } from "./OpenPacks.js"
import { PackFile } from "./PackFile.js"

const maxOpenPacks = 64

/** The packs of one repository, and of those that it borrows from. */
export class Packs {
  /** Those that held what was looked for come first. */
  private inOrder: Array<PackFile> = []
  /** By their paths, without an ending. */
  private readonly known = new Map<string, PackFile>()
  private readonly files = new OpenPacks(maxOpenPacks)
  private readonly objects: string
  private readonly packDirectory: string
  private borrowed = 0

  constructor(
    private readonly directory: string,
    private readonly bases: ByteCache<RawObject, number>
  ) {
    this.objects = path.join(directory, "objects")
    this.packDirectory = path.join(this.objects, "pack")
  }

  close(): void {
    this.files.closeAll()
  }

  /** How many of them are the repository's own. */
  get ownCount(): number {
    return this.inOrder.length - this.borrowed
  }

  has(stem: string): boolean {
    return this.known.has(stem)
  }

  /** The packs that have an object, and where in them it is. */
  *holding(oid: Buffer): Generator<readonly [pack: PackFile, offset: number]> {
    for (let i = 0; i < this.inOrder.length; i++) {
      const pack = this.inOrder[i]!
      const offset = pack.find(oid)
      if (offset < 0) continue
      if (i > 0) {
        this.inOrder.splice(i, 1)
        this.inOrder.unshift(pack)
      }
      yield [pack, offset]
    }
  }

  *startingWith(prefix: string): Generator<Oid> {
    for (const pack of this.inOrder) yield* pack.startingWith(prefix)
  }

  /** Looks at the directories of packs again; these are the other ones than the repository's own. */
  rescan(alternates: ReadonlyArray<string>): void {
    const present = new Set<string>()
    for (const objects of [this.objects, ...alternates]) this.scan(path.join(objects, "pack"), present)
    this.borrowed = 0
    for (const [stem, pack] of this.known) {
      if (present.has(stem)) {
        if (path.dirname(stem) !== this.packDirectory) this.borrowed++
        continue
      }
      this.known.delete(stem)
      this.inOrder = this.inOrder.filter((other) => other !== pack)
      pack.close()
    }
  }

  /** Reads what is new in one directory of packs, and adds the paths of all its packs, without an ending. */
  private scan(directory: string, present: Set<string>): void {
    const names = new Set(this.namesIn(directory))
    for (const name of names) {
      if (!name.endsWith(".idx") || !names.has(`${name.slice(0, -4)}.pack`)) continue
      const stem = path.join(directory, name.slice(0, -4))
      present.add(stem)
      if (this.known.has(stem)) continue
      try {
        this.register(stem, fs.readFileSync(`${stem}.idx`))
      } catch (cause) {
        if (!hasCode(cause, "ENOENT", "ENOTDIR")) throw cause
      }
    }
  }

  private namesIn(directory: string): ReadonlyArray<string> {
    try {
      return fs.readdirSync(directory)
    } catch (cause) {
      if (!hasCode(cause, "ENOENT", "ENOTDIR")) throw cause
      if (directory !== this.packDirectory || fs.existsSync(this.objects)) return []
      if (!fs.existsSync(path.join(this.directory, "HEAD"))) throw cause
      throw new Fault("Corrupt", `${this.directory} has no objects directory`, "Restore it from a clone")
    }
  }

  register(stem: string, index: Buffer): void {
    const pack = new PackFile(stem, index, this.files, this.bases)
    this.known.set(stem, pack)
    this.inOrder.unshift(pack)
  }
}

import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { makeDirectorySync } from "../files/Directories.js"
import { fsyncFile, fsyncPath, hasErrorCode, unlink } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import { asBuffer } from "./ObjectParsing.js"
import type { BuiltPack } from "./PackBuilder.js"

export interface PackPlacement {
  /** The files of the pack by their extensions. */
  readonly files: Readonly<Record<"pack" | "idx", string>>
  /** A file that is hard-linked as the `.keep` file, which protects the pack from garbage collection. */
  readonly keepSource: string
  /** The `objects` directory of the repository. */
  readonly objects: string
  readonly lease: Lease
}

export interface PlacedPack {
  /** The path of the pack without extension. */
  readonly stem: string
  /** The directories that must be synced. */
  readonly directories: ReadonlyArray<string>
  readonly unprotect: () => void
}

/** Moves a complete pack to the packs of the repository, where it is protected from garbage collection until `unprotect`. */
export const placePack = ({ files, keepSource, lease, objects }: PackPlacement): PlacedPack => {
  const directory = path.join(objects, "pack")
  // The name is random, because another process that writes or removes a pack of the same objects must not touch this one.
  const stem = path.join(directory, `pack-${randomBytes(20).toString("hex")}`)
  const keep = `${stem}.keep`
  try {
    const createdDirectory = linkKeep(objects, directory, keepSource, keep)
    fs.renameSync(files.pack, `${stem}.pack`)
    fs.renameSync(files.idx, `${stem}.idx`)
    return {
      stem,
      directories: createdDirectory ? [directory, objects] : [directory],
      unprotect: () => void lease.remove(keep)
    }
  } catch (cause) {
    for (const file of [`${stem}.pack`, keep]) unlink(file)
    throw cause
  }
}

export interface PackWriterOptions {
  readonly pack: BuiltPack
  readonly durable: boolean
  /** Open files that are synced together with the pack. */
  readonly beside: ReadonlyArray<number>
  readonly keepSource: string
  readonly objects: string
  readonly lease: Lease
  /** Called with the path of the pack, without extension, when the pack is complete. */
  readonly register: (stem: string) => void
}

/** Writes a pack, makes it visible, and syncs it if `durable`. The returned function removes its protection. */
export const writePack = async ({
  beside,
  durable,
  keepSource,
  objects,
  lease,
  pack,
  register
}: PackWriterOptions): Promise<() => void> => {
  const files = { pack: lease.temporaryPath("pack"), idx: lease.temporaryPath("index") }
  const descriptors: Array<number> = []
  let placed: PlacedPack
  try {
    try {
      descriptors.push(fs.openSync(files.pack, "wx", 0o444))
      writeAll(descriptors[0]!, pack.chunks)
      descriptors.push(fs.openSync(files.idx, "wx", 0o444))
      writeAll(descriptors[1]!, [pack.index])
      if (durable) await Promise.all([...descriptors, ...beside].map(fsyncFile))
    } finally {
      for (const fd of descriptors) fs.closeSync(fd)
    }
    placed = placePack({ files, keepSource, lease, objects })
  } catch (cause) {
    for (const file of Object.values(files)) unlink(file)
    throw cause
  }
  try {
    register(placed.stem)
    if (durable) await Promise.all(placed.directories.map(fsyncPath))
  } catch (cause) {
    // The complete pack stays, and is collected as garbage.
    placed.unprotect()
    throw cause
  }
  return placed.unprotect
}

/** Creates the `.keep` file. Returns whether the directory of packs had to be created. */
const linkKeep = (objects: string, directory: string, keepSource: string, keep: string): boolean => {
  try {
    fs.linkSync(keepSource, keep)
    return false
  } catch (cause) {
    if (!hasErrorCode(cause, "ENOENT", "ENOTDIR") || !fs.existsSync(objects)) throw cause
    makeDirectorySync(directory, false)
    fs.linkSync(keepSource, keep)
    return true
  }
}

const writeAll = (fd: number, chunks: ReadonlyArray<Buffer>): void => {
  const whole = chunks.length > 1 && chunks.length < 1024 ? [Buffer.concat(chunks)] : chunks
  for (let i = 0; i < whole.length; i += 512) {
    let part = whole.slice(i, i + 512)
    while (part.length > 0) {
      let written = fs.writevSync(fd, part)
      while (part.length > 0 && written >= part[0]!.length) {
        written -= part[0]!.length
        part = part.slice(1)
      }
      if (written > 0) part = [asBuffer(part[0]!).subarray(written), ...part.slice(1)]
    }
  }
}

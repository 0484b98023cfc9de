import * as fs from "node:fs"
import * as path from "node:path"
import { makeDirectorySync } from "../files/Directories.js"
import { fsyncFile, fsyncPath, hasErrorCode, tryUnlink, unlink } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import { asBuffer } from "./ObjectParsing.js"
import type { BuiltPack } from "./PackBuilder.js"

export interface PackWriterOptions {
  readonly pack: BuiltPack
  readonly durable: boolean
  /** Open files that are synced together with the pack. */
  readonly beside: ReadonlyArray<number>
  /** A file that is hard-linked as the `.keep` file, which protects the pack from garbage collection. */
  readonly keepSource: string
  /** The `objects` directory of the repository. */
  readonly objects: string
  readonly lease: Lease
  /** Called with the path of the pack, without extension, when the pack is complete. */
  readonly register: (stem: string) => void
  /** Whether a pack at this path is complete. */
  readonly isRegistered: (stem: string) => boolean
}

/** Writes a pack, makes it visible, and syncs it if `durable`. The returned function removes its protection. */
export const writePack = async ({
  beside,
  durable,
  isRegistered,
  keepSource,
  objects,
  lease,
  pack,
  register
}: PackWriterOptions): Promise<() => void> => {
  const directory = path.join(objects, "pack")
  const target = path.join(directory, `pack-${pack.name}`)
  const packFile = lease.temporaryPath("pack")
  const indexFile = lease.temporaryPath("index")
  const descriptors: Array<number> = []
  try {
    descriptors.push(fs.openSync(packFile, "wx", 0o444))
    writeAll(descriptors[0]!, pack.chunks)
    descriptors.push(fs.openSync(indexFile, "wx", 0o444))
    writeAll(descriptors[1]!, [pack.index])
    if (durable) await Promise.all([...descriptors, ...beside].map(fsyncFile))
  } catch (cause) {
    unlink(packFile)
    unlink(indexFile)
    throw cause
  } finally {
    for (const fd of descriptors) fs.closeSync(fd)
  }
  const keep = `${target}.keep`
  try {
    const createdDirectory = linkKeep(objects, directory, keepSource, keep)
    fs.renameSync(packFile, `${target}.pack`)
    fs.renameSync(indexFile, `${target}.idx`)
    register(target)
    if (durable) await Promise.all((createdDirectory ? [directory, objects] : [directory]).map(fsyncPath))
  } catch (cause) {
    // A complete pack stays, and is collected as garbage. A pack without an index is removed.
    if (!isRegistered(target)) for (const file of [packFile, indexFile, `${target}.pack`]) unlink(file)
    unlink(keep)
    throw cause
  }
  return () => tryUnlink(keep)
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

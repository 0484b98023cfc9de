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
  /** Open files that are made durable together with the pack. */
  readonly beside: ReadonlyArray<number>
  /** A link to this file protects the pack from every collection of garbage. */
  readonly mark: string
  /** The repository's directory of objects. */
  readonly objects: string
  readonly owner: Lease
  /** Told the pack's path, without an ending, once it is whole. */
  readonly register: (stem: string) => void
  /** Whether a pack at this path is whole, be it this one or one of the same objects before it. */
  readonly isRegistered: (stem: string) => boolean
}

/** Writes a pack and makes it visible, and durable if asked for. The answer ends its protection. */
export const writePack = async ({
  beside,
  durable,
  isRegistered,
  mark,
  objects,
  owner,
  pack,
  register
}: PackWriterOptions): Promise<() => void> => {
  const directory = path.join(objects, "pack")
  const target = path.join(directory, `pack-${pack.name}`)
  const packFile = owner.temporaryPath("pack")
  const indexFile = owner.temporaryPath("index")
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
    const made = linkKeep(objects, directory, mark, keep)
    fs.renameSync(packFile, `${target}.pack`)
    fs.renameSync(indexFile, `${target}.idx`)
    register(target)
    if (durable) await Promise.all((made ? [directory, objects] : [directory]).map(fsyncPath))
  } catch (cause) {
    // A pack that is whole stays as garbage; one without its index is nobody's.
    if (!isRegistered(target)) for (const file of [packFile, indexFile, `${target}.pack`]) unlink(file)
    unlink(keep)
    throw cause
  }
  return () => tryUnlink(keep)
}

/** Answers whether the directory of packs had to be made. */
const linkKeep = (objects: string, directory: string, mark: string, keep: string): boolean => {
  try {
    fs.linkSync(mark, keep)
    return false
  } catch (cause) {
    if (!hasErrorCode(cause, "ENOENT", "ENOTDIR") || !fs.existsSync(objects)) throw cause
    makeDirectorySync(directory, false)
    fs.linkSync(mark, keep)
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

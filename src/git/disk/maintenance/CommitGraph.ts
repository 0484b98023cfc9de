import * as fs from "node:fs"
import * as Effect from "effect/Effect"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { ObjectFiles } from "../objects/ObjectFiles.js"
import { graphFiles } from "./Accelerators.js"

/*
 * A commit-graph lists commits in the order of their ids, with the positions of their parents. It may have several files: the
 * positions of a file begin after those of its predecessors. Git's documentation: gitformat-commit-graph.
 */

const oidBytes = 20
/** The bytes of an entry in the chunk CDAT: the id of the tree, two parents, and the date. */
const entryBytes = 36
/** The number of entries that are read at a time. */
const sliceEntries = 16_384
/** The value of a missing parent. */
const noParent = 0x7000_0000
/** Marks a position in the chunk EDGE, which lists the further parents of a commit, and the last one there. */
const flag = 0x8000_0000

type File = fs.promises.FileHandle

const bytesAt = async (file: File, start: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start)
  if (bytesRead < length) throw new RangeError("the commit-graph is too short")
  return buffer
}

/** The offsets of the chunks of a file, and their sizes. A table of them follows the header of 8 bytes. */
const chunksOf = async (file: File) => {
  const count = (await bytesAt(file, 0, 8))[6]!
  const table = await bytesAt(file, 8, 12 * (count + 1))
  const offsetOf = (entry: number) => Number(table.readBigUInt64BE(12 * entry + 4))
  const chunks = new Map<string, { readonly start: number; readonly size: number }>()
  for (let entry = 0; entry < count; entry++) {
    const start = offsetOf(entry)
    chunks.set(table.toString("latin1", 12 * entry, 12 * entry + 4), {
      start,
      size: offsetOf(entry + 1) - start
    })
  }
  const chunk = (name: string) => chunks.get(name) ?? { start: 0, size: 0 }
  return { ids: chunk("OIDL"), entries: chunk("CDAT"), edges: chunk("EDGE") }
}

/** Marks the parents that a file names. */
const markParents = async (file: File, marks: Uint8Array): Promise<void> => {
  const { edges, entries } = await chunksOf(file)
  const furtherParents = await bytesAt(file, edges.start, edges.size)
  for (let at = 0; at < entries.size; at += sliceEntries * entryBytes) {
    const slice = await bytesAt(
      file,
      entries.start + at,
      Math.min(sliceEntries * entryBytes, entries.size - at)
    )
    for (let entry = 0; entry < slice.length; entry += entryBytes) {
      const first = slice.readUInt32BE(entry + oidBytes)
      const second = slice.readUInt32BE(entry + oidBytes + 4)
      if (first !== noParent) marks[first] = 1
      if (second < flag) {
        if (second !== noParent) marks[second] = 1
        continue
      }
      for (let edge = second - flag; ; edge++) {
        const parent = furtherParents.readUInt32BE(4 * edge)
        marks[parent % flag] = 1
        if (parent >= flag) break
      }
    }
  }
}

/** Whether a commit without a mark is missing, of those in a file. `before` is the number of commits in its predecessors. */
const lacksUnmarked = async (
  file: File,
  before: number,
  marks: Uint8Array,
  exists: (oid: Oid) => boolean
): Promise<boolean> => {
  const { ids } = await chunksOf(file)
  const timeSlice = TimeSlice.make()
  for (let at = 0; at < ids.size; at += sliceEntries * oidBytes) {
    const slice = await bytesAt(file, ids.start + at, Math.min(sliceEntries * oidBytes, ids.size - at))
    for (let i = 0; i < slice.length; i += oidBytes) {
      if (marks[before + (at + i) / oidBytes] === 1) continue
      if (!exists(slice.toString("hex", i, i + oidBytes) as Oid)) return true
      if (timeSlice.isSpent()) await Effect.runPromise(timeSlice.pause)
    }
  }
  return false
}

/** Whether commits without descendants are missing. `graphs` are lists of files, each after its predecessors. */
const lacksCommits = async (
  graphs: ReadonlyArray<ReadonlyArray<string>>,
  exists: (oid: Oid) => boolean
): Promise<boolean> => {
  for (const names of graphs) {
    const files: Array<File> = []
    try {
      for (const name of names) files.push(await fs.promises.open(name, "r"))
      const counts: Array<number> = []
      for (const file of files) counts.push((await chunksOf(file)).ids.size / oidBytes)
      const marks = new Uint8Array(counts.reduce((sum, count) => sum + count, 0))
      for (const file of files) await markParents(file, marks)
      let before = 0
      for (const [at, file] of files.entries()) {
        if (await lacksUnmarked(file, before, marks, exists)) return true
        before += counts[at]!
      }
    } finally {
      for (const file of files) await file.close()
    }
  }
  return false
}

/**
 * Whether the commit-graph of a repository names a commit that Git has deleted since, so that `git fsck` would report it. False if
 * that cannot be said, because files are damaged or just replaced. Only commits without descendants in the graph are looked up: if a
 * commit was deleted, no ref reaches it, and so no ref reaches its descendants, which Git deletes with it.
 */
export const namesDeletedCommits = async (repository: string, files: ObjectFiles): Promise<boolean> => {
  const exists = (oid: Oid) => files.isPacked(oid) || files.info(oid) !== undefined
  try {
    return (await lacksCommits(graphFiles(repository), exists)) && files.damage === undefined
  } catch {
    return false
  }
}

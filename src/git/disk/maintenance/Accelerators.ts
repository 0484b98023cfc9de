import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { damageOf } from "../files/EngineError.js"
import { hasErrorCode, unlink } from "../files/FileOperations.js"
import { alternatesOf } from "../objects/Alternates.js"
import { syncPath } from "./Syncing.js"

/*
 * Files that Git derives from packs and history for speed: multi-pack index, reachability bitmaps, reverse indexes, commit-graphs.
 * Git does not verify their checksums, and fails or returns wrong results if a power cut or a disk damaged one. They can be removed
 * without loss. So one that cannot be read counts as damaged, unless this process lacks descriptors or memory.
 */

const packFile = /^(multi-pack-index(-[0-9a-f]{40}\.(bitmap|rev))?|pack-.*\.(bitmap|rev))$/
const packs = "objects/pack"
const multiPackIndex = `${packs}/multi-pack-index`
const graph = "objects/info/commit-graph"
const graphs = "objects/info/commit-graphs"
const chain = "commit-graph-chain"

/** The names in a directory. None if it cannot be listed. */
const namesIn = (directory: string): ReadonlyArray<string> => {
  try {
    return fs.readdirSync(directory)
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT", "ENOTDIR") || damageOf(cause) !== undefined) return []
    throw cause
  }
}

/** Whether a file that could not be read is intact: true if it is missing. Throws if the file is not the cause. */
const isIntactAfter = (cause: unknown): boolean => {
  if (hasErrorCode(cause, "EMFILE", "ENFILE", "ENOMEM")) throw cause
  return hasErrorCode(cause, "ENOENT", "ENOTDIR")
}

/** Whether a file ends with the SHA-1 of its other bytes. True for a missing file. */
const isIntact = async (file: string): Promise<boolean> => {
  const hash = createHash("sha1")
  let rest = Buffer.alloc(0)
  try {
    for await (const piece of fs.createReadStream(file, { highWaterMark: 1024 * 1024 })) {
      const bytes = Buffer.concat([rest, piece])
      hash.update(bytes.subarray(0, -20))
      rest = bytes.subarray(-20)
    }
  } catch (cause) {
    return isIntactAfter(cause)
  }
  return rest.length === 20 && hash.digest().equals(rest)
}

/** The file of a commit-graph in a chain. The first ones may be in an alternate; undefined if there is none. */
const graphFile = (repository: string, hash: string): string | undefined => {
  const objects = path.join(repository, "objects")
  return [objects, ...alternatesOf(objects).directories]
    .map((directory) => path.join(directory, "info", "commit-graphs", `graph-${hash}.graph`))
    .find((file) => fs.existsSync(file))
}

/** Whether the chain of commit-graphs and each of its files are intact. `before` is the text of the chain that was found damaged. */
const isIntactChain = async (repository: string, before?: string): Promise<boolean> => {
  let text: string
  try {
    text = fs.readFileSync(path.join(repository, graphs, chain), "utf8")
  } catch (cause) {
    return isIntactAfter(cause)
  }
  if (text === before || !/^([0-9a-f]{40}\n)+$/.test(text)) return false
  for (const name of text.trimEnd().split("\n")) {
    const file = graphFile(repository, name)
    // Git removes the files of a chain that it has replaced.
    if (file === undefined || !(await isIntact(file))) return isIntactChain(repository, text)
  }
  return true
}

/**
 * The packs that a multi-pack index names. The header has 12 bytes, the number of chunks in byte 6. A table follows with 12 bytes
 * for each chunk, its name and offset, and the end of the last one. Git's documentation: gitformat-pack.
 */
const packsIn = (fd: number): ReadonlyArray<string> => {
  const read = (at: number, length: number) => {
    const bytes = Buffer.alloc(length)
    fs.readSync(fd, bytes, 0, length, at)
    return bytes
  }
  const table = read(12, 12 * (read(0, 12)[6]! + 1))
  for (let entry = 0; entry + 12 < table.length; entry += 12) {
    if (table.toString("latin1", entry, entry + 4) !== "PNAM") continue
    const [start, end] = [Number(table.readBigUInt64BE(entry + 4)), Number(table.readBigUInt64BE(entry + 16))]
    const names = read(start, end - start)
      .toString("utf8")
      .split("\0")
    return names.filter((name) => name !== "").map((name) => name.replace(/\.idx$/, ".pack"))
  }
  return []
}

/** Whether the packs of an intact multi-pack index exist. Otherwise Git does not find objects that other packs have. */
const hasItsPacks = (repository: string): boolean => {
  let fd: number
  try {
    fd = fs.openSync(path.join(repository, multiPackIndex), "r")
  } catch (cause) {
    return isIntactAfter(cause)
  }
  try {
    return packsIn(fd).every((name) => fs.existsSync(path.join(repository, packs, name)))
  } catch (cause) {
    return isIntactAfter(cause)
  } finally {
    fs.closeSync(fd)
  }
}

/** The paths of the derived files in a repository. A chain of commit-graphs is listed as one file. */
const present = (repository: string): ReadonlyArray<string> => [
  ...namesIn(path.join(repository, packs))
    .filter((name) => packFile.test(name))
    .map((name) => `${packs}/${name}`),
  ...[graph, `${graphs}/${chain}`].filter((name) => fs.existsSync(path.join(repository, name)))
]

/** The damaged files, and a multi-pack index of packs that were removed. */
export const damaged = async (repository: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const name of present(repository)) {
    const intact = name.endsWith(chain)
      ? await isIntactChain(repository)
      : (await isIntact(path.join(repository, name))) && (name !== multiPackIndex || hasItsPacks(repository))
    if (!intact) found.push(name)
  }
  return found
}

/** Removes a file, and those that belong to it. Git works without them. */
export const drop = (repository: string, name: string): void => {
  unlink(path.join(repository, name))
  if (name === multiPackIndex) {
    for (const other of present(repository)) if (other.startsWith(name)) unlink(path.join(repository, other))
  }
  // Git refuses to write a graph file that exists, even if it is damaged.
  if (!name.endsWith(chain)) return
  for (const other of namesIn(path.join(repository, graphs))) {
    if (other.endsWith(".graph")) unlink(path.join(repository, graphs, other))
  }
}

/** Removes a damaged file if possible. Returns whether it is removed. */
export const tryDrop = (repository: string, name: string): boolean => {
  try {
    drop(repository, name)
    return true
  } catch {
    return false
  }
}

/** The files of the commit-graph, each with those on which its positions are based, which come first. */
export const graphFiles = (repository: string): ReadonlyArray<ReadonlyArray<string>> => {
  const [single, list] = [graph, `${graphs}/${chain}`].map((name) => path.join(repository, name))
  const names = fs.existsSync(list!) ? fs.readFileSync(list!, "latin1").trimEnd().split("\n") : []
  return [
    ...(fs.existsSync(single!) ? [[single!]] : []),
    names.flatMap((name) => graphFile(repository, name) ?? [])
  ]
}

/** Removes the multi-pack index, because packs that it names are removed. */
export const dropMultiPackIndex = (repository: string): void => drop(repository, multiPackIndex)

/** Syncs the files that Git has written, and their directories. It has not written what this process may not open. */
export const settle = async (repository: string, durable: boolean): Promise<void> => {
  const files = present(repository).map((name) => path.join(repository, name))
  const directories = [packs, "objects/info", graphs].map((name) => path.join(repository, name))
  for (const at of [...files, ...directories]) {
    try {
      await syncPath(at, durable)
    } catch (cause) {
      if (!hasErrorCode(cause, "ENOENT", "ENOTDIR", "EACCES", "EPERM")) throw cause
    }
  }
}

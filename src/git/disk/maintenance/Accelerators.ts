import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { fsyncPath, hasErrorCode, unlink } from "../files/FileOperations.js"

/*
 * Files that Git derives from packs and history to be faster: multi-pack index, reachability bitmaps, reverse indexes,
 * commit-graphs. Git trusts them without a look at their checksums, and fails or misreads where a power cut or a disk
 * damaged one. Nothing is lost by dropping them.
 */

const packFile = /^(multi-pack-index(-[0-9a-f]{40}\.(bitmap|rev))?|pack-.*\.(bitmap|rev))$/
const packs = "objects/pack"
const graph = "objects/info/commit-graph"
const graphs = "objects/info/commit-graphs"
const chain = "commit-graph-chain"

const namesIn = (directory: string): ReadonlyArray<string> => {
  try {
    return fs.readdirSync(directory)
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return []
    throw cause
  }
}

/** Whether a file ends with the SHA-1 of what comes before it; one that is gone does. */
const isWhole = async (file: string): Promise<boolean> => {
  const hash = createHash("sha1")
  let rest = Buffer.alloc(0)
  try {
    for await (const piece of fs.createReadStream(file, { highWaterMark: 1024 * 1024 })) {
      const bytes = Buffer.concat([rest, piece])
      hash.update(bytes.subarray(0, -20))
      rest = bytes.subarray(-20)
    }
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return true
    throw cause
  }
  return rest.length === 20 && hash.digest().equals(rest)
}

/** Whether the list of a chain of commit-graphs can be read, and each of them. */
const isWholeChain = async (directory: string): Promise<boolean> => {
  let text: string
  try {
    text = fs.readFileSync(path.join(directory, chain), "utf8")
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return true
    throw cause
  }
  if (!/^([0-9a-f]{40}\n)+$/.test(text)) return false
  for (const name of text.trimEnd().split("\n")) {
    const file = path.join(directory, `graph-${name}.graph`)
    if (!fs.existsSync(file) || !(await isWhole(file))) return false
  }
  return true
}

/** The accelerators of a repository by their paths in it; a chain of commit-graphs stands for all its files. */
const present = (repository: string): ReadonlyArray<string> => [
  ...namesIn(path.join(repository, packs))
    .filter((name) => packFile.test(name))
    .map((name) => `${packs}/${name}`),
  ...[graph, `${graphs}/${chain}`].filter((name) => fs.existsSync(path.join(repository, name)))
]

/** Those that are damaged. */
export const damaged = async (repository: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const name of present(repository)) {
    const isSound = name.endsWith(chain)
      ? await isWholeChain(path.join(repository, graphs))
      : await isWhole(path.join(repository, name))
    if (!isSound) found.push(name)
  }
  return found
}

/** Removes one; Git works without it and writes a new one. */
export const drop = (repository: string, name: string): void => {
  unlink(path.join(repository, name))
  // Git refuses a graph file that is there already, whole or not.
  if (!name.endsWith(chain)) return
  for (const other of namesIn(path.join(repository, graphs))) {
    if (other.endsWith(".graph")) unlink(path.join(repository, graphs, other))
  }
}

/** Makes the accelerators that Git has written, and the packs' names beside them, durable. */
export const settle = async (repository: string): Promise<void> => {
  const files = present(repository).map((name) => path.join(repository, name))
  const directories = [packs, "objects/info", graphs].map((name) => path.join(repository, name))
  for (const at of [...files, ...directories]) {
    try {
      await fsyncPath(at)
    } catch (cause) {
      if (!hasErrorCode(cause, "ENOENT", "ENOTDIR")) throw cause
    }
  }
}

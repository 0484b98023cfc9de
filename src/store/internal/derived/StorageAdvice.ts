import { type DerivedFormat, type Layout, plainLayout } from "../../../domain/settings/Settings.js"
import type { StorageAdvice, WriteCost } from "../../CollectionEstimate.js"
import type { GitRemoteService } from "../../remote/GitRemote.js"
import { formatLimits } from "../ordered-tree/TreeLimits.js"

/** Up to this number of documents every layout is fast, and no change is recommended. */
const adviceThreshold = 2_000

/** The recommended maximum of documents in a directory: each commit writes the directory's list again. */
const maxInDirectory = 1_000

/** Up to this number of documents one directory has a shorter list than 256 directories. */
const maxFlat = 256

/** The recommended format and layout for a number of documents. */
export const recommendedStorage = (documents: number): Layout & { readonly format: DerivedFormat } => {
  let shardDepth = documents <= maxFlat ? 0 : 1
  while (documents > maxInDirectory * 256 ** shardDepth && shardDepth < 8) shardDepth++
  return {
    ...plainLayout,
    ...(shardDepth === 0 ? {} : { shardBy: "hash", shardDepth }),
    format: documents < adviceThreshold ? 1 : 2
  }
}

/** The number of entries of each directory from a collection to one of its documents, if ids are spread evenly. */
const directoriesOf = (documents: number, { shardDepth, shardWidth }: Layout): ReadonlyArray<number> => {
  const lists: Array<number> = []
  let below = documents
  for (let level = 0; level < shardDepth; level++) {
    const entries = Math.min(16 ** shardWidth, Math.ceil(below))
    lists.push(entries)
    below /= entries === 0 ? 1 : entries
  }
  return [...lists, Math.ceil(below)]
}

/** The properties of a collection that determine its cost. */
export interface Size {
  readonly documents: number
  readonly indexes: number
  readonly manifest: boolean
  /** The number of documents in its fullest directory, if it is known. */
  readonly fullest?: number | undefined
}

const grouped = (count: number) => count.toLocaleString("en-US")

const shardingAdvice = ({ documents, fullest }: Size, layout: Layout): ReadonlyArray<StorageAdvice> => {
  const { shardDepth } = recommendedStorage(documents)
  const evenly = Math.max(...directoriesOf(documents, layout))
  // Sharding by leading characters spreads documents only as evenly as their ids are spread.
  const entries = fullest ?? (layout.shardBy === "hash" || layout.shardDepth === 0 ? evenly : documents)
  if (entries <= maxInDirectory) return []
  const where =
    fullest === undefined && layout.shardBy === "leading" && layout.shardDepth > 0
      ? `the leading characters of generated ids, which begin with the time, put up to ${grouped(entries)} documents into one directory`
      : `a directory holds about ${grouped(entries)} entries`
  return [
    {
      setting: "sharding",
      reason: `${where}, and each write writes the list of its directory: at most ${grouped(maxInDirectory)} are recommended`,
      hint: `copy the collection by export and import into a new root (--root) with --shard-by hash --shard-depth ${shardDepth}; a new store takes shardBy: "hash", shardDepth: ${shardDepth}`
    }
  ]
}

const formatAdvice = ({ documents, indexes, manifest }: Size, format: DerivedFormat) => {
  if (format === 2 || (indexes === 0 && !manifest)) return []
  return [
    {
      setting: "format" as const,
      reason: `each write writes the index and manifest files of ${grouped(documents)} documents whole`,
      hint: "reindex --format 2, or store.reindex({ format: 2 }), keeps them as trees of small files; a new store takes format: 2"
    }
  ]
}

/** The recommended changes of a collection's storage. */
export const storageAdvice = (
  size: Size,
  stored: Layout & { readonly format: DerivedFormat }
): ReadonlyArray<StorageAdvice> =>
  size.documents < adviceThreshold
    ? []
    : [...formatAdvice(size, stored.format), ...shardingAdvice(size, stored)]

// Average sizes in bytes of the parts of a commit; a generated id has 26 characters.
const documentBytes = 500
const headerBytes = 300
const fileEntry = 59
const directoryEntry = (width: number) => 27 + width
/** The bytes of one row of an index and of a manifest, by format. */
const rowBytes = { 1: { index: 80, manifest: 125 }, 2: { index: 50, manifest: 80 } }
const treeEntry = 90
/** The leaf or directory in which a random write falls is two thirds full on average. */
const met = (most: number, whole: number) => Math.min(whole, (most * 2) / 3)

const { directory, leaf } = formatLimits

/** The bytes of the leaf and the directories that change with one row of a tree. */
const treeBytes = (rows: number, each: number): number => {
  let bytes = headerBytes + met(leaf, rows * each)
  for (
    let entries = (rows * each) / (leaf / 2);
    entries > 1;
    entries = entries <= directory ? 1 : entries / (directory / 2)
  ) {
    bytes += met(directory, entries) * treeEntry
  }
  return bytes
}

/** The cost of one insert into a collection. */
export const insertCost = (
  { documents, indexes, manifest }: Size,
  stored: Layout & { readonly format: DerivedFormat },
  remote: Pick<GitRemoteService, "estimate">
): WriteCost => {
  const lists = directoriesOf(documents + 1, stored)
  const listBytes = lists.reduce(
    (sum, entries, at) =>
      sum + entries * (at === lists.length - 1 ? fileEntry : directoryEntry(stored.shardWidth)),
    0
  )
  const row = rowBytes[stored.format]
  const trees = [...Array.from({ length: indexes }, () => row.index), ...(manifest ? [row.manifest] : [])]
  const derived = trees.reduce(
    (sum, each) => sum + (stored.format === 2 ? treeBytes(documents, each) : documents * each),
    0
  )
  const files = 1 + trees.length * (stored.format === 2 ? 2 : 1)
  const sent = Math.round(documentBytes + derived)
  return {
    files,
    bytes: Math.round(sent + listBytes),
    requests: remote.estimate(
      files === 1
        ? { _tag: "PutFile", bytes: sent, warm: true }
        : { _tag: "Commit", changes: files, bytes: sent, warm: true }
    )
  }
}

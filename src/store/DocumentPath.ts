import { isDocumentId } from "../domain/identifiers/DocumentId.js"
import type { Layout } from "../domain/settings/Settings.js"
import { trim } from "../domain/text/TrimText.js"
import { sha256 } from "../git/Digest.js"
import { pathProblem } from "../git/Names.js"

const suffix = ".json"

/** Removes the slashes at both ends of a root. */
export const normaliseRoot = (root: string): string => trim(root, /\//)

/** A path below the root; the root itself may be empty. */
export const under = (root: string, ...segments: ReadonlyArray<string>): string =>
  root === "" ? segments.join("/") : [root, ...segments].join("/")

/** Why a root is not valid; undefined if it is. */
export const rootProblem = (root: string): string | undefined => {
  const clean = normaliseRoot(root)
  if (clean === "") return undefined
  if (/[\0-\x1f\x7f\\]/.test(clean)) return "holds control characters or a backslash"
  const problem = pathProblem(clean)
  return problem === undefined ? undefined : `is ${problem}`
}

const slices = (text: string, { shardDepth, shardWidth }: Layout): Array<string> => {
  const found: Array<string> = []
  for (let level = 0; level < shardDepth; level++) {
    const slice = text.slice(level * shardWidth, (level + 1) * shardWidth)
    if (slice !== "") found.push(slice)
  }
  return found
}

/** The directories between a collection and a document. */
export const shardsOf = (layout: Layout, id: string): ReadonlyArray<string> => {
  if (layout.shardDepth === 0) return []
  return slices(layout.shardBy === "hash" ? sha256(id) : id, layout)
}

/** Why a layout has no path for an id: a directory cannot be named `.` or `.git`. */
export const placeProblem = (layout: Layout, id: string): string | undefined =>
  layout.shardBy === "leading" &&
  shardsOf(layout, id).some((shard) => shard === "." || shard.toLowerCase() === ".git")
    ? `${id} cannot be sharded by its leading characters: a directory would be named '.' or '.git'`
    : undefined

/** The path of a document relative to its collection's directory. */
export const placeOf = (layout: Layout, id: string): string =>
  layout.shardDepth === 0 ? id + suffix : [...shardsOf(layout, id), id + suffix].join("/")

/**
 * The path of a document in the repository.
 *
 * @since 0.1.0
 * @category utilities
 */
export const documentPath = (root: string, layout: Layout, collection: string, id: string): string =>
  under(root, collection, placeOf(layout, id))

/**
 * The id of the document at a path relative to a collection's directory; undefined if the layout allows no document
 * there. Directories of the hash layout are checked only for their form.
 *
 * @since 0.1.0
 * @category utilities
 */
export const idAt = (layout: Layout, path: string): string | undefined => {
  if (!path.endsWith(suffix)) return undefined
  const slash = path.lastIndexOf("/")
  const id = path.slice(slash + 1, -suffix.length)
  if (!isDocumentId(id)) return undefined
  if (layout.shardDepth === 0) return slash === -1 ? id : undefined
  if (layout.shardBy === "leading") return placeOf(layout, id) === path ? id : undefined
  const shards = path.slice(0, Math.max(slash, 0)).split("/")
  return shards.length === Math.min(layout.shardDepth, Math.ceil(64 / layout.shardWidth)) &&
    shards.every((shard) => /^[0-9a-f]+$/.test(shard) && shard.length === layout.shardWidth)
    ? id
    : undefined
}

/**
 * The collection and id of the document at a path of the repository; undefined if the layout allows no document there.
 *
 * @since 0.1.0
 * @category utilities
 */
export const locate = (
  root: string,
  layout: Layout,
  path: string
): { readonly collection: string; readonly id: string } | undefined => {
  if (root !== "" && !path.startsWith(`${root}/`)) return undefined
  const inside = root === "" ? path : path.slice(root.length + 1)
  const slash = inside.indexOf("/")
  if (slash <= 0) return undefined
  const collection = inside.slice(0, slash)
  const id = idAt(layout, inside.slice(slash + 1))
  return id === undefined || !isDocumentId(collection) ? undefined : { collection, id }
}

import * as Option from "effect/Option"
import type { Oid } from "../domain/identifiers/Oid.js"
import type { FileMode } from "./Commit.js"

/**
 * What an entry of a tree names: a file, a directory, or the commit of a submodule.
 *
 * @since 0.1.0
 * @category models
 */
export type EntryKind = "blob" | "tree" | "commit"

/**
 * One entry of a tree. `path` is relative to the tree that was asked for; `size` is known for blobs where the remote
 * tells it.
 *
 * @since 0.1.0
 * @category models
 */
export interface TreeEntry {
  /** The path relative to the tree that was read, without a slash at its ends. */
  readonly path: string
  /** The mode as Git writes it, six octal digits. */
  readonly mode: "100644" | "100755" | "120000" | "040000" | "160000"
  /** What the entry names. */
  readonly kind: EntryKind
  /** The id of the blob, tree or commit. */
  readonly oid: Oid
  /** The bytes of a file, where the remote tells. */
  readonly size?: number | undefined
}

/**
 * A directory: its own id and its entries, complete.
 *
 * @since 0.1.0
 * @category models
 */
export interface Tree {
  /** The id of the tree. */
  readonly oid: Oid
  /** Its entries; below directories too where it was read recursively. */
  readonly entries: ReadonlyArray<TreeEntry>
}

/**
 * One path that differs between two trees, by its content or by its mode; `before` and `after` are the ids of blobs, or of
 * the commits of submodules, absent where the path is missing. Renames are a removal and an addition.
 *
 * @since 0.1.0
 * @category models
 */
export interface PathChange {
  /** The path of the file. */
  readonly path: string
  /** Its blob in the first commit; none where it was added. */
  readonly before: Option.Option<Oid>
  /** Its blob in the second commit; none where it was deleted. */
  readonly after: Option.Option<Oid>
  /** Its modes, undefined where it is missing; absent where none is another one than 100644. */
  readonly modes?: { readonly before: FileMode | undefined; readonly after: FileMode | undefined } | undefined
}

/** A file of a tree: its blob and its mode. */
export interface FileEntry {
  readonly oid: Oid
  readonly mode: FileMode
}

const isPlain = (file: FileEntry | undefined): boolean => file === undefined || file.mode === "100644"

/** The difference of two files of one path. */
export const pathChange = (
  path: string,
  before: FileEntry | undefined,
  after: FileEntry | undefined
): PathChange => ({
  path,
  before: Option.fromNullable(before?.oid),
  after: Option.fromNullable(after?.oid),
  ...(isPlain(before) && isPlain(after) ? {} : { modes: { before: before?.mode, after: after?.mode } })
})

/** The blobs of a difference. A submodule has none: its commit lies in another repository. */
export const blobSides = ({ after, before, modes }: PathChange): Pick<PathChange, "before" | "after"> => ({
  before: modes?.before === "160000" ? Option.none() : before,
  after: modes?.after === "160000" ? Option.none() : after
})

/** A difference without its blobs: undefined where neither side is a submodule. */
export const submodulesOf = ({ after, before, modes, path }: PathChange): PathChange | undefined => {
  const side = (oid: Option.Option<Oid>, mode: FileMode | undefined): FileEntry | undefined =>
    mode === "160000" && Option.isSome(oid) ? { oid: oid.value, mode } : undefined
  const was = side(before, modes?.before)
  const is = side(after, modes?.after)
  return was === undefined && is === undefined ? undefined : pathChange(path, was, is)
}

/**
 * A file that was read by its blob's id.
 *
 * @since 0.1.0
 * @category models
 */
export interface Blob {
  /** The path that it was asked for by. */
  readonly path: string
  /** The id of the blob. */
  readonly oid: Oid
  /** Its bytes, not to be changed. */
  readonly content: Uint8Array
}

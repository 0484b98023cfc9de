import * as Option from "effect/Option"
import type { Oid } from "../domain/identifiers/Oid.js"
import type { FileMode } from "./Commit.js"

/**
 * The type of a tree entry: a file, a directory, or the commit of a submodule.
 *
 * @since 0.1.0
 * @category models
 */
export type EntryKind = "blob" | "tree" | "commit"

/**
 * An entry of a tree. `path` is relative to the tree that was read. `size` is present for blobs if the remote knows it.
 *
 * @since 0.1.0
 * @category models
 */
export interface TreeEntry {
  /** The path relative to the tree that was read, without leading and trailing slashes. */
  readonly path: string
  /** The mode, in six octal digits. */
  readonly mode: "100644" | "100755" | "120000" | "040000" | "160000"
  /** The type of the entry. */
  readonly kind: EntryKind
  /** The id of the blob, tree or commit. */
  readonly oid: Oid
  /** The size of a file in bytes, if the remote knows it. */
  readonly size?: number | undefined
}

/**
 * A directory with all of its entries.
 *
 * @since 0.1.0
 * @category models
 */
export interface Tree {
  /** The id of the tree. */
  readonly oid: Oid
  /** Its entries, including those of its subdirectories if it was read recursively. */
  readonly entries: ReadonlyArray<TreeEntry>
}

/**
 * A path whose content or mode differs between two trees. `before` and `after` are the ids of blobs or of the commits of
 * submodules; none if the path is missing. A rename is a removal and an addition.
 *
 * @since 0.1.0
 * @category models
 */
export interface PathChange {
  /** The path of the file. */
  readonly path: string
  /** The blob in the first commit; none if the path was added. */
  readonly before: Option.Option<Oid>
  /** The blob in the second commit; none if the path was deleted. */
  readonly after: Option.Option<Oid>
  /** The modes, each undefined if the path is missing there. Absent if no mode differs from 100644. */
  readonly modes?: { readonly before: FileMode | undefined; readonly after: FileMode | undefined } | undefined
}

/** The blob and the mode of a file. */
export interface FileEntry {
  readonly oid: Oid
  readonly mode: FileMode
}

const isPlain = (file: FileEntry | undefined): boolean => file === undefined || file.mode === "100644"

/** The change of a path from one file to another. */
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

/** The blobs of a change. A submodule has none: its commit is an object of another repository. */
export const blobSides = ({ after, before, modes }: PathChange): Pick<PathChange, "before" | "after"> => ({
  before: modes?.before === "160000" ? Option.none() : before,
  after: modes?.after === "160000" ? Option.none() : after
})

/** A change reduced to its submodules; undefined if neither side is a submodule. */
export const submodulesOf = ({ after, before, modes, path }: PathChange): PathChange | undefined => {
  const side = (oid: Option.Option<Oid>, mode: FileMode | undefined): FileEntry | undefined =>
    mode === "160000" && Option.isSome(oid) ? { oid: oid.value, mode } : undefined
  const was = side(before, modes?.before)
  const is = side(after, modes?.after)
  return was === undefined && is === undefined ? undefined : pathChange(path, was, is)
}

/**
 * The content of a blob.
 *
 * @since 0.1.0
 * @category models
 */
export interface Blob {
  /** The requested path. */
  readonly path: string
  /** The id of the blob. */
  readonly oid: Oid
  /** Its bytes, which must not be changed. */
  readonly content: Uint8Array
}

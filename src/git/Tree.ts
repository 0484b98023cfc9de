import type * as Option from "effect/Option"
import type { Oid } from "../domain/Oid.js"

export type EntryKind = "blob" | "tree" | "commit"

/** One entry of a tree. `path` is relative to the tree that was asked for; `size` is known for blobs where the remote tells it. */
export interface TreeEntry {
  readonly path: string
  readonly mode: "100644" | "100755" | "120000" | "040000" | "160000"
  readonly kind: EntryKind
  readonly oid: Oid
  readonly size?: number | undefined
}

/** A directory: its own id and its entries, complete. */
export interface Tree {
  readonly oid: Oid
  readonly entries: ReadonlyArray<TreeEntry>
}

/** One path that differs between two trees; `before` and `after` are blob ids, absent where the path is missing. Renames are a removal and an addition. */
export interface PathChange {
  readonly path: string
  readonly before: Option.Option<Oid>
  readonly after: Option.Option<Oid>
}

export interface Blob {
  readonly path: string
  readonly oid: Oid
  readonly content: Uint8Array
}

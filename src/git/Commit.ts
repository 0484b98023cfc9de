import type { Oid } from "../domain/identifiers/Oid.js"

/**
 * A commit, such as the head of a branch, and its root tree.
 *
 * @since 0.1.0
 * @category models
 */
export interface Head {
  /** The commit. */
  readonly commit: Oid
  /** The tree of the commit. */
  readonly tree: Oid
}

/**
 * The mode of a file: a regular file, an executable file, a symbolic link, or the commit of a submodule.
 *
 * @since 0.1.0
 * @category models
 */
export type FileMode = "100644" | "100755" | "120000" | "160000"

/**
 * One change of a commit. `Remove` of a path that is not in the parent is a `ValidationError`, and so is `Put` where the
 * parent has a directory or a submodule. GitHub's API replaces these without an error, so its client refuses only a
 * `Put` whose path it has read, or whose directory it has listed, in that parent.
 *
 * @since 0.1.0
 * @category models
 */
export type Change =
  | {
      readonly _tag: "Put"
      readonly path: string
      readonly content: Uint8Array
      /** Whether the file may take the place of a submodule. Default false. */
      readonly replacesSubmodule?: boolean | undefined
    }
  | {
      readonly _tag: "Link"
      readonly path: string
      readonly oid: Oid
      /** Default 100644. */
      readonly mode?: FileMode | undefined
    }
  | {
      readonly _tag: "Remove"
      readonly path: string
      /** The mode of the path in the parent, if the caller knows it. GitHub's API requires it. */
      readonly mode?: FileMode | undefined
    }

/**
 * The author or the committer of a commit.
 *
 * @since 0.1.0
 * @category models
 */
export interface Signature {
  /** The name, without line breaks and angle brackets. */
  readonly name: string
  /** The address, without line breaks and angle brackets. */
  readonly email: string
}

/**
 * The message and the people of a commit. The time is that of Effect's clock, or of the remote if the remote sets it.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommitText {
  /** The message, subject line first. */
  readonly message: string
  /** Who wrote the change. Default: chosen by the remote. */
  readonly author?: Signature | undefined
  /** Who made the commit. Default: the author. */
  readonly committer?: Signature | undefined
}

/**
 * The content of a new commit. No two of its changes have the same path. A `Put` file has the mode 100644.
 *
 * @since 0.1.0
 * @category models
 */
export interface NewCommit extends CommitText {
  /** The differences from the tree of the parent. */
  readonly changes: ReadonlyArray<Change>
  /** The merged commits, which become its further parents. */
  readonly merges?: ReadonlyArray<Oid> | undefined
}

/**
 * A commit that was made and is durable. `blobs` has the blob id of each `Put` path.
 *
 * @since 0.1.0
 * @category models
 */
export interface Committed extends Head {
  /** The ids of the `Put` blobs, by path. */
  readonly blobs: ReadonlyMap<string, Oid>
}

/**
 * A stored commit.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommitInfo extends Head {
  /** The parents. The first one was the head of the branch that was committed to. */
  readonly parents: ReadonlyArray<Oid>
  /** The stored message. */
  readonly message: string
  /** Who wrote the change, and when (ISO 8601). */
  readonly author: Signature & { readonly date: string }
  /** Who made the commit, and when (ISO 8601). */
  readonly committer: Signature & { readonly date: string }
  /** The web page of the commit, if the remote has one. */
  readonly url?: string | undefined
}

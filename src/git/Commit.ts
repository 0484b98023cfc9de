import type { Oid } from "../domain/identifiers/Oid.js"

/**
 * A commit and its root tree: what a branch points to.
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
 * What a file is: a plain one, an executable one, a symbolic link, or the commit of a submodule.
 *
 * @since 0.1.0
 * @category models
 */
export type FileMode = "100644" | "100755" | "120000" | "160000"

/**
 * One change of a commit. `Remove` of a path that is not in the parent is a `ValidationError`.
 *
 * @since 0.1.0
 * @category models
 */
export type Change =
  | { readonly _tag: "Put"; readonly path: string; readonly content: Uint8Array }
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
      /** What the parent has there, where the caller knows it: some hosts have to be told. */
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
 * What a commit says, beside its changes. The time is the remote's, or Effect's clock where the remote lets us choose.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommitText {
  /** The message, subject line first. */
  readonly message: string
  /** Who wrote the change; absent: the remote decides. */
  readonly author?: Signature | undefined
  /** Who made the commit; absent: as the author. */
  readonly committer?: Signature | undefined
}

/**
 * A commit to be made: paths are unique over `changes`; the mode of what is put is 100644.
 *
 * @since 0.1.0
 * @category models
 */
export interface NewCommit extends CommitText {
  /** What differs from the tree of the commit that this one stands on. */
  readonly changes: ReadonlyArray<Change>
  /** The commits that it merges: its parents after the one that it stands on. */
  readonly merges?: ReadonlyArray<Oid> | undefined
}

/**
 * A commit that was made and is durable. `blobs` holds the id of each path that was put.
 *
 * @since 0.1.0
 * @category models
 */
export interface Committed extends Head {
  /** The ids of the blobs that were put, by path. */
  readonly blobs: ReadonlyMap<string, Oid>
}

/**
 * A commit as it is stored.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommitInfo extends Head {
  /** The parents, the first of them the branch that was committed to. */
  readonly parents: ReadonlyArray<Oid>
  /** The message as it is stored. */
  readonly message: string
  /** Who wrote the change, and when, in ISO 8601. */
  readonly author: Signature & { readonly date: string }
  /** Who made the commit, and when, in ISO 8601. */
  readonly committer: Signature & { readonly date: string }
  /** Where a human may look at it, if the remote has a page. */
  readonly url?: string | undefined
}

import type { Oid } from "../domain/Oid.js"

/** A commit and its root tree: what a branch points to. */
export interface Head {
  readonly commit: Oid
  readonly tree: Oid
}

/** What a file is: a plain one, an executable one, a symbolic link, or the commit of a submodule. */
export type FileMode = "100644" | "100755" | "120000" | "160000"

/** One change of a commit. `Remove` of a path that is not in the parent is a `ValidationError`. */
export type Change =
  | { readonly _tag: "Put"; readonly path: string; readonly content: Uint8Array }
  | {
      readonly _tag: "Link"
      readonly path: string
      readonly oid: Oid
      /** Default 100644. */
      readonly mode?: FileMode | undefined
    }
  | { readonly _tag: "Remove"; readonly path: string }

export interface Signature {
  readonly name: string
  readonly email: string
}

/** What a commit says, beside its changes. The time is the remote's, or Effect's clock where the remote lets us choose. */
export interface CommitText {
  readonly message: string
  readonly author?: Signature | undefined
  readonly committer?: Signature | undefined
}

/** A commit to be made: paths are unique over `changes`; the mode of what is put is 100644. */
export interface NewCommit extends CommitText {
  /** What differs from the tree of the commit that this one stands on. */
  readonly changes: ReadonlyArray<Change>
  /** The commits that it merges: its parents after the one that it stands on. */
  readonly merges?: ReadonlyArray<Oid> | undefined
}

/** A commit that was made and is durable. `blobs` holds the id of each path that was put. */
export interface Committed extends Head {
  readonly blobs: ReadonlyMap<string, Oid>
}

export interface CommitInfo extends Head {
  readonly parents: ReadonlyArray<Oid>
  readonly message: string
  readonly author: Signature & { readonly date: string }
  readonly committer: Signature & { readonly date: string }
  /** Where a human may look at it, if the remote has a page. */
  readonly url?: string | undefined
}

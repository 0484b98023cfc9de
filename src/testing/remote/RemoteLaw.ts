import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { GitRemoteService } from "../../store/remote/GitRemote.js"

/**
 * One fresh, empty repository and ways to reach it.
 *
 * @since 0.1.0
 * @category models
 */
export interface RemoteSubject {
  /** The client that is tested. */
  readonly remote: GitRemoteService
  /** A second client of the same repository, with nothing in common but the repository: another process. */
  readonly another: Effect.Effect<GitRemoteService, any, Scope.Scope>
  /** Points a branch somewhere else by force, as somebody else's `push --force` would. */
  readonly force: (branch: string, at: Oid) => Effect.Effect<void, any>
  /** Makes a lightweight tag. */
  readonly tag: (name: string, at: Oid) => Effect.Effect<void, any>
  /** Makes a commit with these parents and this tree, on no branch. Absent where nothing can. */
  readonly merge?: ((parents: ReadonlyArray<Oid>, tree: Oid) => Effect.Effect<Oid, any>) | undefined
  /** A client whose credentials the host rejects. Absent on remotes without credentials. */
  readonly rejected?: Effect.Effect<GitRemoteService, any, Scope.Scope> | undefined
  /**
   * From now on, of the requests of `remote` that write, the host executes the nth one, but its reply is lost. 0: no reply
   * is lost. Absent on remotes without requests.
   */
  readonly loseReply?: ((nth: number) => Effect.Effect<void>) | undefined
}

/**
 * What a remote is asked in sizes that it can bear in a test.
 *
 * @since 0.1.0
 * @category models
 */
export interface RemoteSizes {
  /** Files in one commit. Default 500. */
  readonly files: number
  /** Bytes of the large blob. Default 1 MB. */
  readonly largeBlob: number
  /** Entries of the large listing. Default 2,000. */
  readonly listing: number
  /** Fibres that write at once. Default 16. */
  readonly fibres: number
  /** Interrupted writes. Default 15, each after a little longer, up to `interruptWithin` (10) milliseconds. */
  readonly interruptions: number
  /** A write is interrupted after at most so many milliseconds. */
  readonly interruptWithin: number
}

/**
 * Where a remote promises less than the port. Each one is a sentence in the remote's own documentation.
 *
 * @since 0.1.0
 * @category models
 */
export interface RemotePromises {
  /** A branch moved back to an ancestor of the expected head is noticed (GitHub's REST accepts it). */
  readonly movedBackIsNoticed: boolean
  /**
   * A file where a directory or a submodule is, or below a file, is refused even if the path was not read (GitHub's
   * trees replace it silently).
   */
  readonly clashesAreRefused: boolean
  /** The first commit of an empty repository has no parent, whatever it holds (GitHub begins with one file alone). */
  readonly firstIsRoot: boolean
  /** Tags can be made by the subject and resolved. */
  readonly tags: boolean
}

/**
 * A remote that laws are held against.
 *
 * @since 0.1.0
 * @category models
 */
export interface RemoteHarness {
  /** A fresh repository for each law. */
  readonly make: Effect.Effect<RemoteSubject, any, Scope.Scope>
  /** How much the remote can bear; the defaults are those of a repository in memory. */
  readonly sizes?: Partial<RemoteSizes> | undefined
  /** Where the remote promises less than the port. */
  readonly promises?: Partial<RemotePromises> | undefined
}

/** What bodies of laws are written for, and how they are registered. */
export interface RemoteContract {
  readonly sizes: RemoteSizes
  readonly promises: RemotePromises
  /** A law: its name, the sentence that promises it, how it is checked, and the page of the sentence. Default: the port. */
  readonly test: (
    name: string,
    sentence: string,
    body: (subject: RemoteSubject) => Effect.Effect<unknown, unknown, Scope.Scope>,
    link?: string
  ) => void
}

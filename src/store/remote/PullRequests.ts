import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { RemoteFailure, WriteFailure } from "./RemoteFailure.js"

/**
 * A pull request of one branch into another one of the same repository.
 *
 * @since 0.1.0
 * @category models
 */
export interface PullRequest {
  /** Its number in the repository, from 1 on. */
  readonly number: number
  /** The source branch, without `refs/heads/`. */
  readonly branch: string
  /** The target branch. */
  readonly into: string
  /** One line. */
  readonly title: string
  /** In Markdown; may be empty. */
  readonly body: string
  /** The name of the account that opened it. */
  readonly author: string
  /** The names of its labels. */
  readonly labels: ReadonlyArray<string>
  /** `closed`: closed without a merge. */
  readonly state: "open" | "merged" | "closed"
  /** The head of its branch, as the host last saw it. */
  readonly commit: Oid
  /** The URL of its web page, if the host has one. */
  readonly url: string | undefined
}

/**
 * The properties of a new pull request.
 *
 * @since 0.1.0
 * @category options
 */
export interface NewPullRequest extends Pick<PullRequest, "branch" | "into" | "title" | "body" | "labels"> {}

/**
 * The pull requests of a repository, if its host supports them.
 *
 * @since 0.1.0
 * @category models
 */
export interface PullRequests {
  /** Opens a pull request, or returns the open one of the branch. */
  readonly open: (request: NewPullRequest) => Effect.Effect<PullRequest, WriteFailure>
  /** The newest pull request of a branch. */
  readonly find: (branch: string) => Effect.Effect<Option.Option<PullRequest>, RemoteFailure>
  /** The pull requests in a state; `closed` includes merged ones. */
  readonly list: (
    state: "open" | "closed" | "all"
  ) => Effect.Effect<ReadonlyArray<PullRequest>, RemoteFailure>
  /** Closes a pull request. A merged or closed one is unchanged. */
  readonly close: (number: number) => Effect.Effect<PullRequest, WriteFailure>
  /** Lets the host merge a pull request and returns the merge commit. Fails with `RefMoved` if its branch is not at `at`. */
  readonly merge: (request: PullRequest, at: Oid, message: string) => Effect.Effect<Oid, WriteFailure>
}

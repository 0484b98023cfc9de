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
  /** From 1 on, of this repository. */
  readonly number: number
  /** The branch that is to be merged, without `refs/heads/`. */
  readonly branch: string
  /** The branch that it is to be merged into. */
  readonly into: string
  /** One line. */
  readonly title: string
  /** In Markdown; empty where nothing was said. */
  readonly body: string
  /** The name of the account that made it. */
  readonly author: string
  /** The names of its labels. */
  readonly labels: ReadonlyArray<string>
  /** `closed` is one that was turned down: a merged one is `merged`. */
  readonly state: "open" | "merged" | "closed"
  /** The commit that its branch had when the host last looked. */
  readonly commit: Oid
  /** Its page for people, if the host has one. */
  readonly url: string | undefined
}

/**
 * What a pull request is made with.
 *
 * @since 0.1.0
 * @category options
 */
export interface NewPullRequest extends Pick<PullRequest, "branch" | "into" | "title" | "body" | "labels"> {}

/**
 * The pull requests of a repository, where its host has them.
 *
 * @since 0.1.0
 * @category models
 */
export interface PullRequests {
  /** Makes one, or finds the one that the branch has: it has at most one that is open. */
  readonly open: (request: NewPullRequest) => Effect.Effect<PullRequest, WriteFailure>
  /** The newest one of a branch. */
  readonly find: (branch: string) => Effect.Effect<Option.Option<PullRequest>, RemoteFailure>
  /** Those in a state; `closed` are the merged ones too. */
  readonly list: (
    state: "open" | "closed" | "all"
  ) => Effect.Effect<ReadonlyArray<PullRequest>, RemoteFailure>
  /** One that was merged or closed stays as it is. */
  readonly close: (number: number) => Effect.Effect<PullRequest, WriteFailure>
  /** The host's own merge of it, which `RefMoved` refuses where its branch is not at the commit; the merge's commit. */
  readonly merge: (request: PullRequest, at: Oid, message: string) => Effect.Effect<Oid, WriteFailure>
}

import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Oid } from "../../domain/Oid.js"
import type { RemoteFailure, WriteFailure } from "./RemoteFailure.js"

/** A pull request of one branch into another one of the same repository. */
export interface PullRequest {
  readonly number: number
  readonly branch: string
  readonly into: string
  readonly title: string
  readonly body: string
  readonly author: string
  readonly labels: ReadonlyArray<string>
  readonly state: "open" | "merged" | "closed"
  readonly commit: Oid
  readonly url: string | undefined
}

/** What a pull request is made with. */
export interface NewPullRequest extends Pick<PullRequest, "branch" | "into" | "title" | "body" | "labels"> {}

/** The pull requests of a repository, where its host has them. */
export interface PullRequests {
  /** Makes one, or finds the one that the branch has: it has at most one that is open. */
  readonly open: (request: NewPullRequest) => Effect.Effect<PullRequest, WriteFailure>
  /** The newest one of a branch. */
  readonly find: (branch: string) => Effect.Effect<Option.Option<PullRequest>, RemoteFailure>
  readonly list: (
    state: "open" | "closed" | "all"
  ) => Effect.Effect<ReadonlyArray<PullRequest>, RemoteFailure>
  /** One that was merged or closed stays as it is. */
  readonly close: (number: number) => Effect.Effect<PullRequest, WriteFailure>
  /** The host's own merge of it, which `RefMoved` refuses where its branch is not at the commit; the merge's commit. */
  readonly merge: (request: PullRequest, at: Oid, message: string) => Effect.Effect<Oid, WriteFailure>
}

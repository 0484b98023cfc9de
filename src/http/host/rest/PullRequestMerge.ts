import { Clock, Effect, Option } from "effect"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import type { Principal } from "../access/Principal.js"
import { conflict, HostError } from "../reply/HostError.js"
import * as GitCommand from "../repository/GitCommand.js"
import * as PullRequests from "../repository/PullRequests.js"
import * as RefLock from "../repository/RefLock.js"
import { mergedTree } from "./MergeRoutes.js"
import * as Signatures from "./Signatures.js"

const notMergeable = new HostError({ status: 405, message: "Pull Request is not mergeable" })

/** Whether Git can merge the branches of a pull request without conflicts. */
export const isMergeable = (git: GitRepository, request: PullRequests.PullRequest) =>
  Effect.map(
    Effect.either(mergedTree(git, request.baseCommit, request.headCommit)),
    ({ _tag }) => _tag === "Right"
  )

export interface PullRequestMergeOptions {
  readonly sha?: string | undefined
  readonly title?: string | undefined
  readonly message?: string | undefined
}

/** Merges a pull request with a merge commit. None if there is no such pull request. */
export const merge = (
  git: GitRepository,
  principal: Principal,
  number: number,
  options: PullRequestMergeOptions
) =>
  Effect.gen(function* () {
    const found = yield* PullRequests.find(git, number)
    if (Option.isNone(found)) return Option.none<Oid>()
    const { base, head, title } = found.value
    const name = `refs/heads/${base}`
    // If the base moves meanwhile, the merge is repeated on its new commit.
    const outcome = yield* RefLock.optimistic(git, name, (move) =>
      Effect.gen(function* () {
        const current = yield* PullRequests.peek(git, number)
        if (Option.isNone(current) || current.value.state === "closed") return yield* notMergeable
        const { headCommit } = current.value
        if (options.sha !== undefined && options.sha.toLowerCase() !== headCommit) {
          return yield* conflict("Head branch was modified. Review and try the merge again.")
        }
        const ours = yield* git.ref(name)
        if (Option.isNone(ours)) return yield* notMergeable
        const tree = yield* Effect.catchTag(
          mergedTree(git, ours.value, headCommit),
          "HostError",
          (problem) => (problem.status === 409 ? notMergeable : problem)
        )
        const who = yield* Signatures.withDate(
          Signatures.signatureOfPrincipal(principal),
          yield* Clock.currentTimeMillis
        )
        const subject = options.title ?? `Merge pull request #${number} from ${head}`
        const message = options.message ?? title
        const commit = yield* git.writeCommit({
          tree,
          parents: [ours.value, headCommit],
          author: who,
          committer: who,
          message: message === "" ? subject : `${subject}\n\n${message}`
        })
        yield* move(name, ours, Option.some(commit))
        return { commit, headCommit }
      })
    )
    // Records the commit that was merged, even if the branch or the state has changed since.
    const at = yield* PullRequests.now
    const merged = { at, by: principal.login ?? null, commit: outcome.commit }
    yield* PullRequests.change(git, number, (request) =>
      Effect.succeed([
        { ...request, headCommit: outcome.headCommit, state: "closed", closedAt: at, updatedAt: at, merged },
        undefined
      ] as const)
    )
    return Option.some(outcome.commit)
  })

/** The commits of the head that the base does not have, oldest first, at most 250. */
export const commitsOf = (git: GitRepository, { baseCommit, headCommit, merged }: PullRequests.PullRequest) =>
  Effect.gen(function* () {
    // The first parent of the merge commit is the former base.
    const isMerged = merged !== null && merged.commit !== headCommit
    const info = isMerged ? yield* git.commit(merged.commit) : Option.none()
    const base = Option.getOrElse(
      Option.flatMapNullable(info, ({ parents }) => (parents.length > 1 ? parents[0] : undefined)),
      () => baseCommit
    )
    const text = yield* GitCommand.text(git, [
      "rev-list",
      "--reverse",
      "--topo-order",
      `${base}..${headCommit}`,
      "--"
    ])
    const oids = text.split("\n").filter((line) => line !== "") as Array<Oid>
    const [from] = yield* git.mergeBases(base, headCommit)
    return { base, from: Option.fromNullable(from), oids: oids.slice(0, 250) }
  })

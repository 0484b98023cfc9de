import { Clock, Effect, Option } from "effect"
import { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { CommitInfo } from "../../../git/Commit.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import { isRefName } from "../../../git/Names.js"
import * as Api from "../../../store/remote/github/api/Branches.js"
import { conflict, HostError } from "../reply/HostError.js"
import * as Reply from "../reply/Reply.js"
import * as GitCommand from "../repository/GitCommand.js"
import * as GitProcessSlots from "../repository/GitProcessSlots.js"
import * as RefLock from "../repository/RefLock.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as JsonBody from "../request/JsonBody.js"
import * as Route from "../request/Route.js"
import * as CommitView from "./CommitView.js"
import * as Signatures from "./Signatures.js"

/** Merges two commits with `git merge-tree`. Fails on a conflict. */
export const mergedTree = (
  git: GitRepository,
  ours: Oid,
  theirs: Oid
): Effect.Effect<Oid, RemoteError | HostError> =>
  Effect.flatMap(
    GitCommand.output({
      directory: git.directory,
      args: ["merge-tree", "--write-tree", "--no-messages", "--allow-unrelated-histories", ours, theirs]
    }),
    ({ code, stderr, stdout }): Effect.Effect<Oid, RemoteError | HostError> => {
      if (code === 1) return Effect.fail(conflict("Merge conflict"))
      const tree = RevisionLookup.oidFrom(stdout.toString().split("\n")[0])
      return code === 0 && tree !== undefined
        ? Effect.succeed(tree)
        : Effect.fail(
            new RemoteError({
              operation: "git",
              message: `git merge-tree ended with ${code}: ${stderr}`,
              reason: "Server"
            })
          )
    }
  )

const missing = (what: string) => new HostError({ status: 404, message: `${what} does not exist` })

export const routes: ReadonlyArray<Route.Route> = [
  Route.write(Api.merge, function* (call, { fullName, git }) {
    const body = yield* JsonBody.readDeclared(call, Api.merge)
    const { base: branch, commit_message: given, head } = yield* body.get("base", "head", "commit_message")
    const base = branch.replace(/^refs\/heads\//, "")
    const name = `refs/heads/${base}`

    // If the base moves meanwhile, the merge is repeated on its new commit.
    const merged = yield* RefLock.optimistic(git, name, (move) =>
      Effect.gen(function* () {
        const ours = isRefName(name) ? yield* git.ref(name) : Option.none()
        if (Option.isNone(ours)) return yield* missing("Base")
        const theirs = yield* RevisionLookup.commitOf(git, head)
        if (Option.isNone(theirs)) return yield* missing("Head")
        if (yield* GitProcessSlots.withHistorySlot(git.isAncestor(theirs.value.commit, ours.value)))
          return Option.none<CommitInfo>()
        const tree = yield* mergedTree(git, ours.value, theirs.value.commit)
        const who = yield* Signatures.withDate(
          Signatures.signatureOfPrincipal(call.principal),
          yield* Clock.currentTimeMillis
        )
        const merge = yield* git.writeCommit({
          tree,
          parents: [ours.value, theirs.value.commit],
          author: who,
          committer: who,
          message: given ?? `Merge ${head} into ${base}`
        })
        yield* move(name, ours, Option.some(merge))
        return yield* git.commit(merge)
      })
    )
    return Option.match(merged, {
      onNone: () => Reply.noContent,
      onSome: (info) => Reply.json(201, CommitView.commit(call.links, fullName, info))
    })
  })
]

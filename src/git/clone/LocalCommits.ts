import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeKeyedMutex } from "../../domain/concurrency/KeyedMutex.js"
import type { RefMoved } from "../../domain/errors/RefMoved.js"
import type { AmbiguousWriteError, RemoteError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { Head, NewCommit } from "../Commit.js"
import type { GitRepository } from "../disk/port/GitRepository.js"
import { buildPack } from "../disk/writes/Flush.js"
import { branchRef } from "../Names.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { Repository } from "../Repository.js"
import type { Fetching } from "./Fetching.js"
import type { LocalBranches } from "./LocalBranches.js"
import type { Push } from "./Push.js"
import { failed } from "./PushOutcome.js"
import type { PushPace } from "./PushPace.js"
import type { Sight } from "./Sight.js"

/** Bytes of one branch that are kept in memory; one with more is pushed. */
const mostBytes = 16 * 1024 * 1024

type CommitNext = Repository<ServerFailure>["commitNext"]

type Build<A, E> = (
  head: Option.Option<Head>
) => Effect.Effect<{ readonly commit: Option.Option<NewCommit>; readonly result: A }, E>

export interface LocalCommitsOptions {
  readonly local: LocalBranches
  /** Makes commits that stay in the clone, and tells `local` of them. */
  readonly committer: Effect.Effect<GitRepository, RemoteError>
  readonly objects: Pick<Fetching, "bringReferenced" | "fetching" | "place">
  readonly push: Push
  readonly sight: Sight
  readonly pace: PushPace
}

export type LocalCommits = ReturnType<typeof make>

/** Commits on branches that the server does not have, and what it takes to give them to the server. */
export const make = ({ committer, local, objects, pace, push, sight }: LocalCommitsOptions) => {
  const exclusively = makeKeyedMutex().withLock("")

  /** What the server lacks of commits, as a pack. */
  const packFor =
    (commits: ReadonlyArray<Oid>) =>
    ({ thin }: { readonly thin: boolean }) =>
      Effect.promise(async () => {
        const lacking = commits.flatMap((commit) => local.objectsOf(commit))
        return (await buildPack(lacking, thin)).chunks
      })

  /** Gives a branch to the server, which has it from then on. */
  const pushOut = (branch: string): Effect.Effect<void, RefMoved | ServerFailure | AmbiguousWriteError> =>
    exclusively(
      Effect.gen(function* () {
        const at = local.at(branch)
        if (at === undefined) return
        yield* pace.began
        const move = { name: branchRef(branch), from: undefined, to: at, unique: true }
        const [outcome] = yield* push([move], packFor([at]))
        sight.pushed()
        yield* failed(outcome!, move)
        sight.set(branch, at)
        local.delete(branch)
      })
    )

  /** Brings what a commit names into the clone, and to the server what that lacks of it. */
  const bringReferenced = (commit: NewCommit) =>
    Effect.forEach(
      commit.merges ?? [],
      (oid) => {
        const branch = local.holder(oid)
        return branch === undefined ? Effect.void : pushOut(branch)
      },
      { discard: true }
    ).pipe(Effect.zipRight(objects.bringReferenced(commit)))

  const commitHere = <A, E>(branch: string, build: Build<A, E>) =>
    Effect.gen(function* () {
      const engine = yield* committer
      // The clone may not have kept the last commit's place: the next one is not made beside it.
      yield* objects.place(branchRef(branch), local.at(branch))
      const building = (head: Option.Option<Head>) =>
        Effect.tap(build(head), ({ commit }) =>
          Option.isNone(commit) ? Effect.void : bringReferenced(commit.value)
        )
      const answer = yield* objects.fetching(engine.commitNext(branch, building))
      if (local.bytes(branch) > mostBytes) yield* pushOut(branch)
      return answer
    })

  return {
    exclusively,
    packFor,
    pushOut,
    bringReferenced,

    /** The next commit of a branch, here or by a push. */
    commitNext:
      (pushed: CommitNext): CommitNext =>
      (branch, build) =>
        Effect.suspend(() =>
          local.has(branch)
            ? Effect.flatMap(
                exclusively(
                  Effect.suspend(() =>
                    local.has(branch) ? Effect.asSome(commitHere(branch, build)) : Effect.succeedNone
                  )
                ),
                Option.match({ onNone: () => pushed(branch, build), onSome: Effect.succeed })
              )
            : pushed(branch, build)
        )
  } as const
}

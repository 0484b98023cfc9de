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
import type { LocalBranches } from "./LocalBranches.js"
import type { ObjectFetcher } from "./ObjectFetcher.js"
import type { Push } from "./Push.js"
import { failUnlessDone } from "./PushOutcome.js"
import type { PushThrottle } from "./PushThrottle.js"
import type { ServerHeads } from "./ServerHeads.js"

/** The largest size of the new objects of one local branch, in bytes. A larger branch is pushed before its next commit. */
const maxBytes = 16 * 1024 * 1024

type CommitNext = Repository<ServerFailure>["commitNext"]

type Build<A, E> = (
  head: Option.Option<Head>
) => Effect.Effect<{ readonly commit: Option.Option<NewCommit>; readonly result: A }, E>

export interface LocalCommitsOptions {
  readonly local: LocalBranches
  /** The engine of the clone that adds its commits to `local` instead of pushing them. */
  readonly localEngine: Effect.Effect<GitRepository, RemoteError>
  readonly objects: Pick<
    ObjectFetcher,
    "fetchingMissing" | "fetchReferenced" | "leavingForMissing" | "setRef"
  >
  readonly push: Push
  readonly heads: ServerHeads
  readonly throttle: PushThrottle
}

export type LocalCommits = ReturnType<typeof make>

/** Commits on local branches, and the push of such a branch to the server. */
export const make = ({ heads, local, localEngine, objects, push, throttle }: LocalCommitsOptions) => {
  // Reentrant: a commit on one local branch may publish another one.
  const mutex = makeKeyedMutex().withLock("")

  /** A pack of the objects of commits that the server does not have. */
  const packFor =
    (commits: ReadonlyArray<Oid>) =>
    ({ thin }: { readonly thin: boolean }) =>
      Effect.promise(async () => {
        const missing = commits.flatMap((commit) => local.unpublishedObjects(commit))
        return (await buildPack(missing, thin)).chunks
      })

  /** Pushes a local branch. Afterwards it is a branch of the server. */
  const publish = (branch: string): Effect.Effect<void, RefMoved | ServerFailure | AmbiguousWriteError> =>
    mutex(
      // An interrupted push could create the branch on the server without notice here.
      Effect.uninterruptible(
        Effect.gen(function* () {
          const tip = local.tip(branch)
          if (tip === undefined) return
          yield* throttle.recordPush
          const move = { name: branchRef(branch), from: undefined, to: tip, unique: true }
          const [outcome] = yield* push([move], packFor([tip]))
          heads.recordPush()
          yield* failUnlessDone(outcome!, move)
          heads.record(branch, tip)
          local.delete(branch)
        })
      )
    )

  /** Makes the commits and blobs that a new commit refers to available in the clone and on the server. */
  const fetchReferenced = (commit: NewCommit) =>
    Effect.forEach(
      commit.merges ?? [],
      (oid) => {
        const branch = local.branchWithCommit(oid)
        return branch === undefined ? Effect.void : publish(branch)
      },
      { discard: true }
    ).pipe(Effect.zipRight(objects.fetchReferenced(commit)))

  const commitLocally = <A, E>(branch: string, build: Build<A, E>) =>
    Effect.gen(function* () {
      const engine = yield* localEngine
      // The clone may have failed to store the previous head. The next commit must still follow it.
      yield* objects.setRef(branchRef(branch), local.tip(branch))
      const buildWithReferences = (head: Option.Option<Head>) =>
        Effect.tap(objects.leavingForMissing(build(head)), ({ commit }) =>
          Option.isNone(commit) ? Effect.void : fetchReferenced(commit.value)
        )
      return yield* engine.commitNext(branch, buildWithReferences)
    })

  return {
    /** Runs an effect while no other one changes local branches. */
    mutex,
    packFor,
    publish,
    fetchReferenced,

    /** `commitNext` of local branches; `pushed` is that of the server's branches. */
    commitNext:
      (pushed: CommitNext): CommitNext =>
      (branch, build) =>
        Effect.suspend(() =>
          local.has(branch)
            ? Effect.flatMap(
                objects.fetchingMissing(
                  mutex(
                    // A failed push fails only a commit that is not made yet.
                    Effect.zipRight(
                      Effect.when(publish(branch), () => local.bytes(branch) > maxBytes),
                      Effect.suspend(() =>
                        local.has(branch) ? Effect.asSome(commitLocally(branch, build)) : Effect.succeedNone
                      )
                    )
                  )
                ),
                Option.match({ onNone: () => pushed(branch, build), onSome: Effect.succeed })
              )
            : pushed(branch, build)
        )
  } as const
}

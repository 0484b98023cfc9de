import { Effect, Option, Stream } from "effect"
import { AmbiguousWriteError } from "../domain/StoreError.js"
import type { Edited, GitRemoteService, RemoteFailure, RemoteSnapshot } from "../store/remote/GitRemote.js"

/** Where a call of a remote is: before it, inside the build of a commit, or after it has taken effect. */
export type TouchPoint = "before" | "building" | "after"

export interface Touch {
  readonly operation: string
  readonly point: TouchPoint
  /** True when the call changes the repository. */
  readonly writes: boolean
}

/**
 * What to do at a touch: nothing, wait, fail, interrupt, commit something as somebody else. A failure `after` a
 * write is given to the caller as an `AmbiguousWriteError`, since the write has happened.
 */
export type OnTouch = (touch: Touch) => Effect.Effect<void, RemoteFailure>

/** The same remote with something happening between any two of its steps. Works over any implementation. */
export const withFaults = (remote: GitRemoteService, onTouch: OnTouch): GitRemoteService => {
  const reading = <A, E>(
    operation: string,
    effect: Effect.Effect<A, E>
  ): Effect.Effect<A, E | RemoteFailure> =>
    Effect.zipRight(
      onTouch({ operation, point: "before", writes: false }),
      Effect.zipLeft(effect, onTouch({ operation, point: "after", writes: false }))
    )

  const lost = (operation: string) => (cause: RemoteFailure) =>
    new AmbiguousWriteError({ operation, message: `the reply to ${operation} was lost`, cause })

  const writing = <A, E>(operation: string, effect: Effect.Effect<A, E>) =>
    Effect.zipRight(
      onTouch({ operation, point: "before", writes: true }),
      Effect.zipLeft(
        effect,
        Effect.mapError(onTouch({ operation, point: "after", writes: true }), lost(operation))
      )
    )

  const streaming = <A>(operation: string, stream: Stream.Stream<A, RemoteFailure>) =>
    Stream.unwrap(
      Effect.as(
        onTouch({ operation, point: "before", writes: false }),
        Stream.tap(stream, () => onTouch({ operation, point: "after", writes: false }))
      )
    )

  const snapshot = (of: RemoteSnapshot): RemoteSnapshot => ({
    ...of,
    head: reading("head", of.head),
    file: (...args) => reading("file", of.file(...args)),
    files: (...args) => streaming("files", of.files(...args)),
    directory: (...args) => reading("directory", of.directory(...args))
  })

  const { moveBranches } = remote

  return {
    ...remote,
    snapshot: (branch) => snapshot(remote.snapshot(branch)),
    snapshotAt: (ref) => snapshot(remote.snapshotAt(ref)),
    probe: (...args) => reading("probe", remote.probe(...args)),
    resolve: (...args) => reading("resolve", remote.resolve(...args)),
    head: (...args) => reading("head", remote.head(...args)),
    tree: (...args) => reading("tree", remote.tree(...args)),
    treeAfter: (...args) => reading("treeAfter", remote.treeAfter(...args)),
    file: (...args) => reading("file", remote.file(...args)),
    blobs: (...args) => streaming("blobs", remote.blobs(...args)),
    log: (...args) => streaming("log", remote.log(...args)),
    commitInfo: (...args) => reading("commitInfo", remote.commitInfo(...args)),
    diff: (...args) => reading("diff", remote.diff(...args)),
    isAncestor: (...args) => reading("isAncestor", remote.isAncestor(...args)),
    listBranches: (...args) => reading("listBranches", remote.listBranches(...args)),
    commit: (...args) => writing("commit", remote.commit(...args)),
    commitNext: <A, E>(
      branch: string,
      edit: (snapshot: RemoteSnapshot) => Effect.Effect<Edited<A, E>, E>
    ) => {
      const touch = onTouch({ operation: "commitNext", point: "building", writes: true })
      return Effect.zipRight(
        onTouch({ operation: "commitNext", point: "before", writes: true }),
        Effect.flatMap(
          remote.commitNext<A, E | RemoteFailure>(branch, (given) =>
            Effect.zipRight(touch, Effect.zipLeft(edit(snapshot(given)), touch))
          ),
          (answer) => {
            const after = onTouch({ operation: "commitNext", point: "after", writes: true })
            const told = Option.isSome(answer.committed)
              ? Effect.mapError(after, lost("commitNext"))
              : Effect.void
            return Effect.as(told, answer)
          }
        )
      )
    },
    createBranch: (...args) => writing("createBranch", remote.createBranch(...args)),
    deleteBranch: (...args) => reading("deleteBranch", remote.deleteBranch(...args)),
    advance: (...args) => writing("advance", remote.advance(...args)),
    ...(moveBranches === undefined
      ? {}
      : { moveBranches: (moves) => writing("moveBranches", moveBranches(moves)) })
  }
}

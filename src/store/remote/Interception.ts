import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { AmbiguousWriteError } from "../../domain/errors/StoreError.js"
import type {
  EditResult,
  GitRemoteService,
  RemoteFailure,
  RemoteSnapshot,
  WriteFailure
} from "./GitRemote.js"

/**
 * The stage of a write. `before`: nothing has happened. `building`: no other writer of the branch runs. `built`: the edit has
 * returned a commit that does not exist yet. `after`: the write has taken effect, and the caller has no reply yet.
 */
export type InterceptedPoint = "before" | "building" | "built" | "after"

/** Effects that run between the steps of a remote, to inject faults. */
export interface Interception {
  readonly onRead: (operation: string, point: "before" | "after") => Effect.Effect<void, RemoteFailure>
  /** A failure `after` a write becomes an `AmbiguousWriteError`, because the write has happened. */
  readonly onWrite: (
    operation: string,
    point: InterceptedPoint,
    branch: string
  ) => Effect.Effect<void, WriteFailure>
}

/** The same remote with an interception between any two of its steps. */
export const intercepted = (remote: GitRemoteService, interception: Interception): GitRemoteService => {
  const onRead: Interception["onRead"] = (...args) => Effect.suspend(() => interception.onRead(...args))
  const onWrite: Interception["onWrite"] = (...args) => Effect.suspend(() => interception.onWrite(...args))

  const reading = <A, E>(operation: string, effect: Effect.Effect<A, E>) =>
    Effect.zipRight(onRead(operation, "before"), Effect.zipLeft(effect, onRead(operation, "after")))

  const streaming = <A>(operation: string, stream: Stream.Stream<A, RemoteFailure>) =>
    Stream.unwrap(
      Effect.as(
        onRead(operation, "before"),
        Stream.tap(stream, () => onRead(operation, "after"))
      )
    )

  const replied = (operation: string, branch: string) =>
    Effect.mapError(onWrite(operation, "after", branch), (cause) =>
      cause._tag === "AmbiguousWriteError"
        ? cause
        : new AmbiguousWriteError({ operation, message: `the reply to ${operation} was lost`, cause })
    )

  const writing = <A, E>(operation: string, branch: string, effect: Effect.Effect<A, E>) =>
    Effect.zipRight(onWrite(operation, "before", branch), Effect.zipLeft(effect, replied(operation, branch)))

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
    mergeBases: (...args) => reading("mergeBases", remote.mergeBases(...args)),
    listBranches: (...args) => reading("listBranches", remote.listBranches(...args)),
    commit: (branch, ...args) => writing("commit", branch, remote.commit(branch, ...args)),
    commitNext: <A, E>(
      branch: string,
      edit: (snapshot: RemoteSnapshot) => Effect.Effect<EditResult<A, E>, E>
    ) => {
      const operation = "commitNext"
      return Effect.zipRight(
        onWrite(operation, "before", branch),
        Effect.tap(
          remote.commitNext<A, E | WriteFailure>(branch, (given) =>
            Effect.zipRight(
              onWrite(operation, "building", branch),
              Effect.tap(edit(snapshot(given)), ({ commit }) =>
                Option.isSome(commit) ? onWrite(operation, "built", branch) : Effect.void
              )
            )
          ),
          ({ committed }) => (Option.isSome(committed) ? replied(operation, branch) : Effect.void)
        )
      )
    },
    createBranch: (branch, ...args) => writing("createBranch", branch, remote.createBranch(branch, ...args)),
    deleteBranch: (...args) => reading("deleteBranch", remote.deleteBranch(...args)),
    advance: (branch, ...args) => writing("advance", branch, remote.advance(branch, ...args)),
    ...(moveBranches === undefined
      ? {}
      : {
          moveBranches: (moves) => writing("moveBranches", moves[0]?.branch ?? "", moveBranches(moves))
        })
  }
}

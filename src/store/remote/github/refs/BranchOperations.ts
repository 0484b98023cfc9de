import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { BranchMove, GitRemoteService } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import { isMissing } from "../client/ApiFailure.js"
import type { Client } from "../client/Client.js"
import type { RemoteOperation, WriteCheck } from "../client/RemoteOperation.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import type { BranchCaches } from "../reads/BranchCaches.js"
import type { makeRefTransaction } from "./RefTransaction.js"
import type { RefWrites } from "./RefWrites.js"

interface Parts {
  readonly client: Client
  readonly refs: RefWrites
  readonly updateRefs: ReturnType<typeof makeRefTransaction>
  readonly branchHeads: BranchHeads
  readonly branchCaches: BranchCaches
  readonly asOperation: RemoteOperation
  readonly checkWrite: WriteCheck
}

type Operations = Pick<GitRemoteService, "createBranch" | "deleteBranch" | "listBranches" | "advance"> &
  Required<Pick<GitRemoteService, "moveBranches">>

/** Creates, moves, deletes and lists branches, and updates their caches. */
export const makeBranchOperations = ({
  branchHeads,
  client,
  updateRefs,
  refs,
  branchCaches,
  asOperation,
  checkWrite
}: Parts): Operations => {
  /** Moves branches and updates their caches. */
  const moving = <E>(moves: ReadonlyArray<BranchMove>, move: Effect.Effect<unknown, E>) =>
    Effect.flatMap(branchHeads.now, (begun) => Effect.zipRight(move, branchCaches.recordMoves(moves, begun)))

  const moveBranches: NonNullable<GitRemoteService["moveBranches"]> = (moves) =>
    Effect.forEach(moves, ({ branch }) => checkWrite("moveBranches", branch), { discard: true }).pipe(
      Effect.zipRight(moving(moves, updateRefs({ operation: "GitRemote.moveBranches" }, moves))),
      (write) =>
        moves.reduce((effect, { branch }) => branchCaches.invalidateOnFailure(branch)(effect), write),
      asOperation("moveBranches")
    )

  return {
    createBranch: (branch, at, options) =>
      checkWrite("createBranch", branch).pipe(
        Effect.zipRight(
          moving(
            [{ branch, from: Option.none(), to: Option.some(at) }],
            refs.create({ operation: "GitRemote.createBranch" }, branch, at, options?.unique)
          )
        ),
        branchCaches.invalidateOnFailure(branch),
        asOperation("createBranch")
      ),
    deleteBranch: (branch) =>
      checkWrite("deleteBranch", branch).pipe(
        Effect.zipRight(moving([{ branch, from: Option.none(), to: Option.none() }], refs.remove(branch))),
        asOperation("deleteBranch")
      ),
    listBranches: (prefix) =>
      client.call(Api.listMatchingRefs, { path: { ref: `heads/${prefix}` } }).pipe(
        Effect.map((reply) =>
          Option.getOrElse(reply.value, () => [])
            .filter((ref) => ref.ref.startsWith(`refs/heads/${prefix}`))
            .map((ref) => ({ name: ref.ref.slice("refs/heads/".length), commit: ref.object.sha }))
        ),
        Effect.catchIf(isMissing, () => Effect.succeed([])),
        asOperation("listBranches")
      ),
    advance: (branch, from, to) =>
      checkWrite("advance", branch).pipe(
        Effect.zipRight(
          moving(
            [{ branch, from: Option.some(from), to: Option.some(to) }],
            refs.move({ operation: "GitRemote.advance" }, branch, from, to)
          )
        ),
        branchCaches.invalidateOnFailure(branch),
        asOperation("advance")
      ),
    moveBranches
  }
}

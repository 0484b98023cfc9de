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
  readonly moveTogether: ReturnType<typeof makeRefTransaction>
  readonly branches: BranchHeads
  readonly remember: BranchCaches
  readonly told: RemoteOperation
  readonly writable: WriteCheck
}

type Operations = Pick<GitRemoteService, "createBranch" | "deleteBranch" | "listBranches" | "advance"> &
  Required<Pick<GitRemoteService, "moveBranches">>

/** Branches made, moved and deleted, and remembered as such. */
export const makeBranchOperations = ({
  branches,
  client,
  moveTogether,
  refs,
  remember,
  told,
  writable
}: Parts): Operations => {
  /** Moves branches, and remembers them where they are now. */
  const moving = <E>(moves: ReadonlyArray<BranchMove>, move: Effect.Effect<unknown, E>) =>
    Effect.flatMap(branches.now, (begun) => Effect.zipRight(move, remember.moves(moves, begun)))

  const moveBranches: NonNullable<GitRemoteService["moveBranches"]> = (moves) =>
    Effect.forEach(moves, ({ branch }) => writable("moveBranches", branch), { discard: true }).pipe(
      Effect.zipRight(moving(moves, moveTogether({ operation: "GitRemote.moveBranches" }, moves))),
      (write) => moves.reduce((careful, { branch }) => remember.carefully(branch)(careful), write),
      told("moveBranches")
    )

  return {
    createBranch: (branch, at, options) =>
      writable("createBranch", branch).pipe(
        Effect.zipRight(
          moving(
            [{ branch, from: Option.none(), to: Option.some(at) }],
            refs.create({ operation: "GitRemote.createBranch" }, branch, at, options?.unique)
          )
        ),
        remember.carefully(branch),
        told("createBranch")
      ),
    deleteBranch: (branch) =>
      writable("deleteBranch", branch).pipe(
        Effect.zipRight(moving([{ branch, from: Option.none(), to: Option.none() }], refs.remove(branch))),
        told("deleteBranch")
      ),
    listBranches: (prefix) =>
      client.call(Api.listMatchingRefs, { path: { ref: `heads/${prefix}` } }).pipe(
        Effect.map((reply) =>
          Option.getOrElse(reply.value, () => [])
            .filter((ref) => ref.ref.startsWith(`refs/heads/${prefix}`))
            .map((ref) => ({ name: ref.ref.slice("refs/heads/".length), commit: ref.object.sha }))
        ),
        Effect.catchIf(isMissing, () => Effect.succeed([])),
        told("listBranches")
      ),
    advance: (branch, from, to) =>
      writable("advance", branch).pipe(
        Effect.zipRight(
          moving(
            [{ branch, from: Option.some(from), to: Option.some(to) }],
            refs.move({ operation: "GitRemote.advance" }, branch, from, to)
          )
        ),
        remember.carefully(branch),
        told("advance")
      ),
    moveBranches
  }
}

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { RefMoved } from "../../../../domain/errors/RefMoved.js"
import { type AmbiguousWriteError, RemoteError } from "../../../../domain/errors/StoreError.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import type { BranchMove } from "../../GitRemote.js"
import type { ApiFailure } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import type { ErrorContext } from "../client/ErrorTranslation.js"
import { Proof, writeOnce } from "../client/LostReply.js"
import type { RepositoryId } from "../client/RepositoryId.js"
import { provedBy, type RefWrites } from "./RefWrites.js"

type Failure = CallFailure | RefMoved | AmbiguousWriteError | RemoteError

/** Updates all refs or none, each from its expected commit: https://docs.github.com/graphql/reference/git#updaterefs */
export const moveDocument = `mutation Move($input: UpdateRefsInput!) {
  updateRefs(input: $input) { clientMutationId }
}`

const Answer = Schema.Struct({ updateRefs: Schema.NullOr(Schema.Unknown) })

/** The id that stands for a missing ref. */
const noCommit = "0".repeat(40)

const refOf = (branch: string) => `refs/heads/${branch}`

/** Failures that another way of moving the branches would meet, too. */
const isFinal = ({ kind }: ApiFailure) =>
  kind === "Credentials" ||
  kind === "Forbidden" ||
  kind === "NoUserAgent" ||
  kind === "PrimaryLimit" ||
  kind === "SecondaryLimit" ||
  kind === "RuleViolation"

const isGone = (proof: Proof<void, RefMoved>) =>
  proof._tag !== "Done" && proof.refusal !== undefined && Option.isNone(proof.refusal.actual)

/** Updates several branches in one request, each by test-and-set and never by force. */
export const makeRefTransaction = (client: Client, refs: RefWrites, repositoryId: RepositoryId) => {
  /** Cleared if the host does not know the mutation, which is then not sent again. */
  let isSupported = true

  const unsupported = (place: ErrorContext, message: string) =>
    new RemoteError({ ...place, reason: "Unsupported", message })

  const moved = ({ branch, from }: BranchMove, actual: Option.Option<Oid>) =>
    new RefMoved({ ref: refOf(branch), expected: from, actual })

  /** What one branch proves of all updates, which happen together. */
  const proofOf = (move: BranchMove): Effect.Effect<Proof<void, RefMoved>, CallFailure> =>
    Effect.flatMap(refs.read(move.branch), (at) => {
      const refusal = moved(move, at)
      if (Option.isNone(at))
        return Effect.succeed(Option.isNone(move.from) ? Proof.unchanged : Proof.stale(refusal))
      if (Option.isNone(move.from)) {
        return Option.isSome(move.to) && move.to.value === at.value
          ? Effect.succeed(Proof.done(undefined))
          : Effect.succeed(Proof.elsewhere(refusal))
      }
      const base = move.from.value
      if (Option.isSome(move.to)) {
        return Effect.map(refs.relate(base, move.to.value, at.value), (relation) =>
          provedBy(relation, refusal)
        )
      }
      if (at.value === base) return Effect.succeed(Proof.unchanged)
      // A branch that has commits after the expected one was not deleted.
      return Effect.map(refs.relate(base, base, at.value), (relation) =>
        relation === "Above" ? Proof.notDone(refusal) : provedBy(relation, refusal)
      )
    })

  const check = (moves: ReadonlyArray<BranchMove>): Effect.Effect<Proof<void, RefMoved>, CallFailure> =>
    Effect.map(
      Effect.forEach(moves, (move) => Effect.map(proofOf(move), (proof) => ({ move, proof }))),
      (seen) => {
        const proofs = seen.map(({ proof }) => proof)
        const firm =
          proofs.find(({ _tag }) => _tag === "Done") ?? proofs.find(({ _tag }) => _tag === "NotDone")
        if (firm !== undefined) return firm
        const unproved = proofs.filter((proof) => proof._tag === "Unproved")
        const kept = seen.some(({ move, proof }) => Option.isSome(move.to) || !isGone(proof))
        return kept
          ? (unproved.find(({ stale: behind }) => !behind) ??
              unproved.find(({ refusal }) => refusal !== undefined) ??
              Proof.unchanged)
          : Proof.done(undefined)
      }
    )

  const send = (moves: ReadonlyArray<BranchMove>) =>
    Effect.flatMap(repositoryId.get, (id) =>
      client.graphql(
        moveDocument,
        {
          input: {
            repositoryId: id,
            refUpdates: moves.map(({ branch, from, to }) => ({
              name: refOf(branch),
              beforeOid: Option.getOrElse(from, () => noCommit),
              afterOid: Option.getOrElse(to, () => noCommit),
              force: false
            }))
          }
        },
        Answer,
        { mutation: true }
      )
    )

  return (place: ErrorContext, moves: ReadonlyArray<BranchMove>): Effect.Effect<void, Failure> =>
    moves.length === 0
      ? Effect.void
      : Effect.suspend(() =>
          isSupported
            ? writeOnce<void, RefMoved | RemoteError>(client.settings, {
                context: place,
                send: Effect.asVoid(send(moves)),
                check: () => check(moves),
                onRefusal: (failure) => {
                  if (failure.kind === "Missing") repositoryId.forget()
                  if (isFinal(failure)) return { check: "never" }
                  if (/doesn't exist on type|undefinedField/i.test(failure.message)) {
                    isSupported = false
                    return { check: "never", otherwise: unsupported(place, failure.message) }
                  }
                  return failure.kind === "StaleHead" || failure.kind === "NotFastForward"
                    ? { check: "whileReplicasLag" }
                    : { check: "once", otherwise: unsupported(place, failure.message) }
                }
              })
            : Effect.fail(unsupported(place, "the host knows no updateRefs"))
        )
}

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Oid } from "../../domain/Oid.js"
import { RefMoved } from "../../domain/Ref.js"
import { type AmbiguousWriteError, RemoteError } from "../../domain/StoreError.js"
import type { BranchMove } from "../GitRemote.js"
import { type ApiFailure, isAmbiguous } from "./ApiFailure.js"
import type { CallFailure, Client } from "./Client.js"
import type { RefWrites } from "./RefWrites.js"
import type { RepositoryId } from "./RepositoryId.js"
import { lagging, waitFor } from "./Retry.js"
import { ambiguous, type Place } from "./Translate.js"

type Failure = CallFailure | RefMoved | AmbiguousWriteError | RemoteError

/** All refs or none, each from where it is said to be: https://docs.github.com/graphql/reference/git#updaterefs */
export const moveDocument = `mutation Move($input: UpdateRefsInput!) {
  updateRefs(input: $input) { clientMutationId }
}`

const Answer = Schema.Struct({ updateRefs: Schema.NullOr(Schema.Unknown) })

/** How GitHub writes that there is no ref, before or after. */
const nothing = "0".repeat(40)

const refOf = (branch: string) => `refs/heads/${branch}`

/** Where a branch is, and whether that is where it was to go, or beyond. */
interface State {
  readonly move: BranchMove
  readonly at: Option.Option<Oid>
  readonly there: boolean
}

/** What no other way of moving a branch would mend. */
const isFinal = ({ kind }: ApiFailure) =>
  kind === "Credentials" ||
  kind === "Forbidden" ||
  kind === "NoUserAgent" ||
  kind === "PrimaryLimit" ||
  kind === "SecondaryLimit" ||
  kind === "RuleViolation"

/** Several branches in one request, by equality and never by force. */
export const makeBranchMoves = (client: Client, refs: RefWrites, repositoryId: RepositoryId) => {
  /** A host that does not know the mutation is not asked again. */
  let known = true

  const unsupported = (place: Place, message: string) =>
    new RemoteError({ ...place, reason: "Unsupported", message })

  const moved = ({ branch, from }: BranchMove, actual: Option.Option<Oid>) =>
    new RefMoved({ ref: refOf(branch), expected: from, actual })

  const same = (a: Option.Option<Oid>, b: Option.Option<Oid>) =>
    Option.getOrUndefined(a) === Option.getOrUndefined(b)

  const look = (moves: ReadonlyArray<BranchMove>): Effect.Effect<ReadonlyArray<State>, CallFailure> =>
    Effect.forEach(moves, (move) =>
      Effect.gen(function* () {
        const at = yield* refs.read(move.branch)
        const beyond =
          Option.isSome(move.to) && Option.isSome(at) && !same(at, move.from)
            ? yield* refs.isBelow(move.to.value, at.value)
            : false
        const there = beyond || same(move.to, at)
        return { move, at, there }
      })
    )

  /**
   * The same, told by machines that agree with each other and with the refusal: of moves that come together, some
   * done and some not, or none where one was refused for being elsewhere, is what a machine behind the others says.
   */
  const seen = (moves: ReadonlyArray<BranchMove>, refusal: ApiFailure) =>
    look(moves).pipe(
      Effect.filterOrFail(
        (found) => {
          const untouched = found.filter(({ at, move, there }) => !there && same(at, move.from)).length
          return (
            untouched === 0 ||
            (untouched === found.length && refusal.kind !== "StaleHead") ||
            found.some(({ at, move, there }) => !there && !same(at, move.from))
          )
        },
        () => "behind" as const
      ),
      Effect.retry({ schedule: lagging, while: (error) => error === "behind" })
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
              beforeOid: Option.getOrElse(from, () => nothing),
              afterOid: Option.getOrElse(to, () => nothing),
              force: false
            }))
          }
        },
        Answer,
        { mutation: true }
      )
    )

  const attempt = (
    place: Place,
    moves: ReadonlyArray<BranchMove>,
    count: number,
    before: ApiFailure | undefined
  ): Effect.Effect<void, Failure> =>
    send(moves).pipe(
      Effect.asVoid,
      Effect.catchAll((error): Effect.Effect<void, Failure> => {
        if (error._tag !== "ApiFailure" || isFinal(error)) {
          if (before === undefined) return Effect.fail(error)
          return look(moves).pipe(
            Effect.mapError((): Failure => ambiguous(place, before)),
            Effect.flatMap((states) =>
              states.every(({ there }) => there) ? Effect.void : Effect.fail(error)
            )
          )
        }
        if (error.kind === "Missing") repositoryId.forget()
        if (/doesn't exist on type|undefinedField/i.test(error.message)) {
          known = false
          return Effect.fail(unsupported(place, error.message))
        }
        const lost = isAmbiguous(error)
        const perhaps = lost || count > 0
        const found: Effect.Effect<ReadonlyArray<State>, Failure> = perhaps
          ? Effect.mapError(seen(moves, error), () => ambiguous(place, error))
          : look(moves)
        return found.pipe(
          Effect.flatMap((states): Effect.Effect<void, Failure> => {
            // A refusal may answer a request that a proxy sent twice.
            if (states.every(({ there }) => there)) return Effect.void
            const elsewhere = states.find(({ at, move }) => !same(at, move.from))
            if (elsewhere !== undefined) return Effect.fail(moved(elsewhere.move, elsewhere.at))
            if (error.kind === "StaleHead" || error.kind === "NotFastForward") {
              return Effect.fail(moved(moves[0] as BranchMove, Option.none()))
            }
            if (!lost) return Effect.fail(unsupported(place, error.message))
            return count >= client.settings.maxRetries
              ? Effect.fail(error)
              : Effect.flatMap(waitFor(client.settings, count, error), (inTime) =>
                  inTime ? attempt(place, moves, count + 1, error) : Effect.fail(error)
                )
          })
        )
      })
    )

  return (place: Place, moves: ReadonlyArray<BranchMove>): Effect.Effect<void, Failure> =>
    moves.length === 0
      ? Effect.void
      : Effect.suspend(() =>
          known
            ? attempt(place, moves, 0, undefined)
            : Effect.fail(unsupported(place, "the host knows no updateRefs"))
        )
}

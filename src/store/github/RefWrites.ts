import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Oid } from "../../domain/Oid.js"
import { RefMoved } from "../../domain/Ref.js"
import type { AmbiguousWriteError } from "../../domain/StoreError.js"
import * as Api from "./Api.js"
import { type ApiFailure, isAmbiguous, isKind, isMissing, isUnrelated } from "./ApiFailure.js"
import type { CallFailure, Client } from "./Client.js"
import type { KnownTrees } from "./KnownTrees.js"
import { patiently, politely, raced, waitFor } from "./Retry.js"
import { ambiguous, type Place } from "./Translate.js"

type Failure = CallFailure | RefMoved | AmbiguousWriteError

/** Refs, moved forward or made, exactly once as far as anybody can see. */
export interface RefWrites {
  /** Where a ref is, past every cache; none when missing. */
  readonly read: (branch: string) => Effect.Effect<Option.Option<Oid>, CallFailure>
  readonly isAncestor: (ancestor: Oid, descendant: Oid) => Effect.Effect<boolean, CallFailure>
  /** Of two commits that exist: a machine that denies it is behind the others. */
  readonly isBelow: (ancestor: Oid, descendant: Oid) => Effect.Effect<boolean, CallFailure>
  /** `only` says that nobody else can know of the commit: a branch that is there already is ours then. */
  readonly create: (place: Place, branch: string, at: Oid, only?: boolean) => Effect.Effect<void, Failure>
  readonly move: (place: Place, branch: string, from: Oid, to: Oid) => Effect.Effect<void, Failure>
  readonly remove: (branch: string) => Effect.Effect<void, CallFailure>
}

interface Settled {
  readonly done: boolean
  readonly at: Option.Option<Oid>
}

export const makeRefWrites = (client: Client, known: KnownTrees): RefWrites => {
  const moved = (branch: string, expected: Option.Option<Oid>, actual: Option.Option<Oid>) =>
    new RefMoved({ ref: `refs/heads/${branch}`, expected, actual })

  const read: RefWrites["read"] = (branch) =>
    client.call(Api.getRef, { path: { ref: `heads/${branch}` } }).pipe(
      Effect.map((reply) => Option.map(reply.value, (ref) => ref.object.sha)),
      Effect.catchIf(isKind("Missing", "RefMissing"), () => Effect.succeed(Option.none()))
    )

  const compare = (ancestor: Oid, descendant: Oid) =>
    ancestor === descendant
      ? Effect.succeed(true)
      : client
          .call(Api.compare, {
            path: { basehead: `${ancestor}...${descendant}` },
            query: { per_page: 1 }
          })
          .pipe(
            Effect.map((reply) => {
              const status = Option.getOrUndefined(reply.value)?.status
              return status === "ahead" || status === "identical"
            }),
            Effect.catchIf(isUnrelated, () => Effect.succeed(false))
          )

  const isBelow: RefWrites["isBelow"] = (ancestor, descendant) =>
    patiently(compare(ancestor, descendant), isMissing)

  const isAncestor: RefWrites["isAncestor"] = (ancestor, descendant) =>
    [ancestor, descendant].every((oid) => Option.isSome(known.rootAt(oid)))
      ? isBelow(ancestor, descendant)
      : Effect.catchIf(compare(ancestor, descendant), isMissing, () => Effect.succeed(false))

  /** The reply was lost: the ref says whether the write took effect. */
  const settle = (place: Place, branch: string, to: Oid, lost: ApiFailure): Effect.Effect<Settled, Failure> =>
    read(branch).pipe(
      Effect.flatMap(
        (at): Effect.Effect<Settled, CallFailure> =>
          Option.isNone(at)
            ? Effect.succeed({ done: false, at })
            : Effect.map(isBelow(to, at.value), (done) => ({ done, at }))
      ),
      Effect.mapError((): Failure => ambiguous(place, lost))
    )

  /** A refusal, which is the last word only where no reply was lost before it. */
  const afterAll = (
    place: Place,
    branch: string,
    to: Oid,
    lost: ApiFailure | undefined,
    refusal: CallFailure
  ): Effect.Effect<void, Failure> =>
    lost === undefined
      ? Effect.fail(refusal)
      : Effect.flatMap(settle(place, branch, to, lost), ({ done }) =>
          done ? Effect.void : Effect.fail(refusal)
        )

  const move: RefWrites["move"] = (place, branch, from, to) => {
    const attempt = (count: number, lost: ApiFailure | undefined): Effect.Effect<void, Failure> =>
      client.call(Api.updateRef, { path: { ref: `heads/${branch}` }, body: { sha: to, force: false } }).pipe(
        Effect.retry({ schedule: raced, while: isKind("RefRace") }),
        Effect.asVoid,
        Effect.catchAll((error): Effect.Effect<void, Failure> => {
          const refused = () => afterAll(place, branch, to, lost, error)
          if (error._tag !== "ApiFailure") return refused()
          if (error.kind === "RefMissing") return Effect.fail(moved(branch, Option.some(from), Option.none()))
          if (error.kind === "NotFastForward" || error.kind === "Conflict") {
            return Effect.flatMap(
              count === 0
                ? Effect.map(read(branch), (at) => ({ done: false, at }))
                : settle(place, branch, to, error),
              ({ at, done }) => (done ? Effect.void : Effect.fail(moved(branch, Option.some(from), at)))
            )
          }
          if (!isAmbiguous(error)) return refused()
          return Effect.flatMap(settle(place, branch, to, error), ({ at, done }) => {
            if (done) return Effect.void
            if (Option.isNone(at) || at.value !== from) {
              return Effect.fail(moved(branch, Option.some(from), at))
            }
            return count >= client.settings.maxRetries
              ? Effect.fail(error)
              : Effect.flatMap(waitFor(client.settings, count, error), (inTime) =>
                  inTime ? attempt(count + 1, error) : Effect.fail(error)
                )
          })
        })
      )
    return attempt(0, undefined)
  }

  const create: RefWrites["create"] = (place, branch, at, only = false) => {
    const attempt = (count: number, lost: ApiFailure | undefined): Effect.Effect<void, Failure> =>
      client.call(Api.createRef, { path: {}, body: { ref: `refs/heads/${branch}`, sha: at } }).pipe(
        Effect.asVoid,
        Effect.catchAll((error): Effect.Effect<void, Failure> => {
          const refused = () => afterAll(place, branch, at, lost, error)
          if (error._tag !== "ApiFailure") return refused()
          if (error.kind === "RefExists" || error.kind === "Conflict") {
            return Effect.flatMap(read(branch), (found) =>
              (only || count > 0) && Option.isSome(found) && found.value === at
                ? Effect.void
                : Effect.fail(moved(branch, Option.none(), found))
            )
          }
          if (!isAmbiguous(error)) return refused()
          if (count < client.settings.maxRetries) {
            return Effect.flatMap(waitFor(client.settings, count, error), (inTime) =>
              inTime ? attempt(count + 1, error) : afterAll(place, branch, at, error, error)
            )
          }
          return afterAll(place, branch, at, error, error)
        })
      )
    return attempt(0, undefined)
  }

  return {
    read,
    isAncestor,
    isBelow,
    move,
    create,
    remove: (branch) =>
      client.call(Api.deleteRef, { path: { ref: `heads/${branch}` } }).pipe(
        Effect.retry(politely(client.settings, isAmbiguous)),
        Effect.asVoid,
        Effect.catchIf(isKind("RefMissing", "Missing", "EmptyRepository"), () => Effect.void)
      )
  }
}

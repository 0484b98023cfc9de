import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RefMoved } from "../../../../domain/errors/RefMoved.js"
import type { AmbiguousWriteError } from "../../../../domain/errors/StoreError.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import * as Api from "../api/Api.js"
import { isAmbiguous, isKind, isMissing, isUnrelatedHistory } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import type { ErrorContext } from "../client/ErrorTranslation.js"
import { Proof, writeOnce } from "../client/LostReply.js"
import { afterRace, politely } from "../client/Retry.js"
import type { RefReads } from "../heads/RefReads.js"

type Failure = CallFailure | RefMoved | AmbiguousWriteError

/**
 * The relation of a head to a commit and its base. `Above`: the head is the commit or descends from it. `Beside`: it descends
 * from the base, is not the base, and does not have the commit. `Behind`: it is the base or older, or the replica is stale.
 * `Elsewhere`: none of these.
 */
export type Relation = "Above" | "Beside" | "Behind" | "Elsewhere"

/** Creates, fast-forwards and deletes refs, each exactly once. */
export interface RefWrites extends Pick<RefReads, "read"> {
  /** The relation of a head to a commit and the base of the commit. */
  readonly relate: (base: Oid, commit: Oid, at: Oid) => Effect.Effect<Relation, CallFailure>
  /** `only`: no other process uses the name or knows the commit, so an existing branch was created by this request. */
  readonly create: (
    place: ErrorContext,
    branch: string,
    at: Oid,
    only?: boolean
  ) => Effect.Effect<void, Failure>
  readonly move: (place: ErrorContext, branch: string, from: Oid, to: Oid) => Effect.Effect<void, Failure>
  readonly remove: (branch: string) => Effect.Effect<void, CallFailure>
}

/** What the relation of the head proves about a fast-forward. */
export const provedBy = (relation: Relation, refusal: RefMoved): Proof<void, RefMoved> => {
  switch (relation) {
    case "Above":
      return Proof.done(undefined)
    case "Beside":
      return Proof.notDone(refusal)
    case "Behind":
      // The branch may have been forced back to an older head. The base itself contradicts a refusal.
      return Option.getOrNull(refusal.expected) === Option.getOrNull(refusal.actual)
        ? Proof.unchanged
        : Proof.stale(refusal)
    case "Elsewhere":
      return Proof.elsewhere(refusal)
  }
}

export const makeRefWrites = (
  client: Client,
  { compare, isAncestorOrFail: isBelow, read }: RefReads
): RefWrites => {
  const moved = (branch: string, expected: Option.Option<Oid>, actual: Option.Option<Oid>) =>
    new RefMoved({ ref: `refs/heads/${branch}`, expected, actual })

  const relate: RefWrites["relate"] = (base, commit, at) => {
    if (at === commit) return Effect.succeed("Above")
    return compare(commit, at).pipe(
      Effect.flatMap(({ merge_base_commit, status }): Effect.Effect<Relation, CallFailure> => {
        if (status === "behind") return Effect.succeed("Behind")
        // The commit does not descend from the base, so the move is not a fast-forward.
        if (at === base) return Effect.succeed("Elsewhere")
        if (status === "ahead" || status === "identical") return Effect.succeed("Above")
        if (merge_base_commit?.sha === base) return Effect.succeed("Beside")
        // Histories with merges may have several merge bases. The host returns one.
        return Effect.map(isBelow(base, at), (descends) => (descends ? "Beside" : "Elsewhere"))
      }),
      Effect.catchIf(isUnrelatedHistory, () => Effect.succeed<Relation>("Elsewhere")),
      Effect.catchIf(isMissing, () => Effect.succeed<Relation>("Behind"))
    )
  }

  const move: RefWrites["move"] = (place, branch, from, to) =>
    writeOnce(client.settings, {
      context: place,
      send: client
        .call(Api.updateRef, { path: { ref: `heads/${branch}` }, body: { sha: to, force: false } })
        .pipe(Effect.retry({ schedule: afterRace, while: isKind("RefRace") }), Effect.asVoid),
      check: () =>
        Effect.flatMap(read(branch), (at) => {
          const refusal = moved(branch, Option.some(from), at)
          return Option.isNone(at)
            ? Effect.succeed(Proof.stale(refusal))
            : Effect.map(relate(from, to, at.value), (relation) => provedBy(relation, refusal))
        }),
      onRefusal: ({ kind }) =>
        kind === "RefMissing"
          ? { check: "never", otherwise: moved(branch, Option.some(from), Option.none()) }
          : { check: kind === "NotFastForward" || kind === "Conflict" ? "whileReplicasLag" : "never" }
    })

  const create: RefWrites["create"] = (place, branch, at, only = false) =>
    writeOnce(client.settings, {
      context: place,
      send: Effect.asVoid(
        client.call(Api.createRef, { path: {}, body: { ref: `refs/heads/${branch}`, sha: at } })
      ),
      check: (lost) =>
        Effect.flatMap(read(branch), (found) => {
          const refusal = moved(branch, Option.none(), found)
          if (Option.isNone(found)) return Effect.succeed(Proof.stale(refusal))
          if (!only && !lost) return Effect.succeed(Proof.notDone(refusal))
          if (found.value === at) return Effect.succeed(Proof.done(undefined))
          if (!only) return Effect.succeed(Proof.elsewhere(refusal))
          return Effect.map(relate(at, at, found.value), (relation) =>
            relation === "Above" ? Proof.done(undefined) : Proof.notDone(refusal)
          )
        }),
      onRefusal: ({ kind }) => ({
        check: kind === "RefExists" || kind === "Conflict" ? "whileReplicasLag" : "never"
      })
    })

  return {
    read,
    relate,
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

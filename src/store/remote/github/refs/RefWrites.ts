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
 * `Above`: the head has the commit in its history. `Beside`: it descends from the base, is not the base and lacks the
 * commit. `Behind`: it is the base or older, as far as the machine that answered knows.
 */
export type Relation = "Above" | "Beside" | "Behind" | "Elsewhere"

/** Refs, moved forward or made, exactly once as far as anybody can see. */
export interface RefWrites extends Pick<RefReads, "read"> {
  /** Where a head lies, beside a commit and the base that the commit was made on. */
  readonly relate: (base: Oid, commit: Oid, at: Oid) => Effect.Effect<Relation, CallFailure>
  /** `only`: nobody else can know of the commit or use the name, so a branch that is there already is ours. */
  readonly create: (
    place: ErrorContext,
    branch: string,
    at: Oid,
    only?: boolean
  ) => Effect.Effect<void, Failure>
  readonly move: (place: ErrorContext, branch: string, from: Oid, to: Oid) => Effect.Effect<void, Failure>
  readonly remove: (branch: string) => Effect.Effect<void, CallFailure>
}

/** What the head of a branch proves of a move from a base to a commit above it. */
export const provedBy = (relation: Relation, refusal: RefMoved): Proof<void, RefMoved> => {
  switch (relation) {
    case "Above":
      return Proof.done(undefined)
    case "Beside":
      return Proof.notDone(refusal)
    case "Behind":
      // An older head may be one that the branch was forced back to; the base itself contradicts a refusal.
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
        // No fast-forward leads from the base to a commit that does not descend from it.
        if (at === base) return Effect.succeed("Elsewhere")
        if (status === "ahead" || status === "identical") return Effect.succeed("Above")
        if (merge_base_commit?.sha === base) return Effect.succeed("Beside")
        // Histories with merges may have several bases, of which the host tells one.
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

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import * as Api from "../api/Api.js"
import { isKind, isMissing, isUnrelatedHistory } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import { retryStaleReply } from "../client/Retry.js"
import type { CachedTrees } from "../objects/CachedTrees.js"

/** Where refs are, and how commits lie to each other. */
export interface RefReads {
  /** Where a ref is, past every cache; none when missing. */
  readonly read: (branch: string) => Effect.Effect<Option.Option<Oid>, CallFailure>
  readonly compare: (base: Oid, head: Oid) => Effect.Effect<typeof Api.compare.reply.Type, CallFailure>
  /** Whether one commit is the other or an ancestor of it; fails where one is missing. */
  readonly isAncestorOrFail: (ancestor: Oid, descendant: Oid) => Effect.Effect<boolean, CallFailure>
  readonly isAncestor: (ancestor: Oid, descendant: Oid) => Effect.Effect<boolean, CallFailure>
}

/** A machine does not know one of two commits, which is not to say that they have nothing in common. */
export const isMissingCommit = (error: { readonly _tag: string }) =>
  isMissing(error) && !isUnrelatedHistory(error)

export const makeRefReads = (client: Client, known: CachedTrees): RefReads => {
  const read: RefReads["read"] = (branch) =>
    client.call(Api.getRef, { path: { ref: `heads/${branch}` } }).pipe(
      Effect.map((reply) => Option.map(reply.value, (ref) => ref.object.sha)),
      Effect.catchIf(isKind("Missing", "RefMissing"), () => Effect.succeed(Option.none()))
    )

  const compare: RefReads["compare"] = (base, head) =>
    Effect.map(
      client.call(Api.compare, { path: { basehead: `${base}...${head}` }, query: { per_page: 1 } }),
      (reply) => Option.getOrThrow(reply.value)
    )

  const isBelow: RefReads["isAncestorOrFail"] = (ancestor, descendant) =>
    ancestor === descendant
      ? Effect.succeed(true)
      : Effect.map(
          compare(ancestor, descendant),
          ({ status }) => status === "ahead" || status === "identical"
        )

  const isAncestor: RefReads["isAncestor"] = (ancestor, descendant) => {
    // Of two commits that exist, a machine that denies one is behind the others.
    const exist = [ancestor, descendant].every((oid) => Option.isSome(known.rootAt(oid)))
    return retryStaleReply(isBelow(ancestor, descendant), (error) => exist && isMissingCommit(error)).pipe(
      Effect.catchIf(
        (error) => isMissing(error) && !(exist && isMissingCommit(error)),
        () => Effect.succeed(false)
      )
    )
  }

  return { read, compare, isAncestorOrFail: isBelow, isAncestor }
}

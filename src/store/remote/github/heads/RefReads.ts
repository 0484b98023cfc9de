import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import * as Api from "../api/Api.js"
import { isKind, isMissing, isUnrelatedHistory } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import { retryStaleReply } from "../client/Retry.js"
import type { CachedTrees } from "../objects/CachedTrees.js"

/** Reads refs, and the ancestry of commits. */
export interface RefReads {
  /** The commit of a branch, without any cache; none if it does not exist. */
  readonly read: (branch: string) => Effect.Effect<Option.Option<Oid>, CallFailure>
  readonly compare: (base: Oid, head: Oid) => Effect.Effect<typeof Api.compare.reply.Type, CallFailure>
  /** Whether `ancestor` is `descendant` or in its history. Fails if one of them does not exist. */
  readonly isAncestorOrFail: (ancestor: Oid, descendant: Oid) => Effect.Effect<boolean, CallFailure>
  /** The same; false if one of them does not exist. */
  readonly isAncestor: (ancestor: Oid, descendant: Oid) => Effect.Effect<boolean, CallFailure>
}

/** A replica does not know one of two commits. Commits without a common ancestor are another case. */
export const isMissingCommit = (error: { readonly _tag: string }) =>
  isMissing(error) && !isUnrelatedHistory(error)

export const makeRefReads = (client: Client, cachedTrees: CachedTrees): RefReads => {
  const read: RefReads["read"] = (branch) =>
    client.call(Api.getRef, { path: { ref: `heads/${branch}` } }).pipe(
      Effect.map((reply) => Option.map(reply.value, (ref) => ref.object.sha)),
      Effect.catchIf(isKind("Missing", "RefMissing"), () => Effect.succeedNone)
    )

  const compare: RefReads["compare"] = (base, head) =>
    Effect.map(
      client.call(Api.compare, { path: { basehead: `${base}...${head}` }, query: { per_page: 1 } }),
      (reply) => Option.getOrThrow(reply.value)
    )

  const isAncestorOrFail: RefReads["isAncestorOrFail"] = (ancestor, descendant) =>
    ancestor === descendant
      ? Effect.succeed(true)
      : Effect.map(
          compare(ancestor, descendant),
          ({ status }) => status === "ahead" || status === "identical"
        )

  const isAncestor: RefReads["isAncestor"] = (ancestor, descendant) => {
    // If both commits exist, a reply that denies one of them comes from a stale replica.
    const exist = [ancestor, descendant].every((oid) => Option.isSome(cachedTrees.rootAt(oid)))
    return retryStaleReply(
      isAncestorOrFail(ancestor, descendant),
      (error) => exist && isMissingCommit(error)
    ).pipe(
      Effect.catchIf(
        (error) => isMissing(error) && !(exist && isMissingCommit(error)),
        () => Effect.succeed(false)
      )
    )
  }

  return { read, compare, isAncestorOrFail, isAncestor }
}

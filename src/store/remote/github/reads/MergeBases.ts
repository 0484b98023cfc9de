import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import { compareCodePoints } from "../../../../domain/text/CodePointOrder.js"
import * as Api from "../api/Api.js"
import { isUnrelatedHistory } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import type { RefReads } from "../heads/RefReads.js"

const perPage = 100

/** The relation of two commits, and the commits of `head` that `base` lacks. */
const compared = (client: Client, base: Oid, head: Oid) =>
  Effect.gen(function* () {
    const own: Array<Api.Commit> = []
    for (let page = 1; ; page++) {
      const reply = yield* client.call(Api.compare, {
        path: { basehead: `${base}...${head}` },
        query: { per_page: perPage, page: page === 1 ? undefined : page }
      })
      const { commits, status, total_commits = commits.length } = Option.getOrThrow(reply.value)
      for (const commit of commits) own.push(commit)
      if (status !== "diverged" || commits.length === 0 || page * perPage >= total_commits) {
        return { status, own }
      }
    }
  })

/** The parents of these commits that are not among them. */
const boundaryOf = (own: ReadonlyArray<Api.Commit>): ReadonlySet<Oid> => {
  const inside = new Set(own.map(({ sha }) => sha))
  return new Set(
    own.flatMap(({ parents }) => parents.flatMap(({ sha }) => (inside.has(sha) ? [] : [sha as Oid])))
  )
}

/**
 * All best common ancestors. GitHub returns only one. Each of them is a parent of a commit that only `a` has, and of one that
 * only `b` has. Candidates that are ancestors of another candidate are removed.
 */
export const mergeBases = (
  client: Client,
  isAncestor: RefReads["isAncestor"],
  a: Oid,
  b: Oid
): Effect.Effect<ReadonlyArray<Oid>, CallFailure> =>
  Effect.gen(function* () {
    if (a === b) return [a]
    const { own, status } = yield* compared(client, a, b)
    if (status === "identical" || status === "ahead") return [a]
    if (status === "behind") return [b]
    const ofOne = boundaryOf(own)
    if (ofOne.size === 1) return [...ofOne]
    const ofOther = boundaryOf((yield* compared(client, b, a)).own)
    const common = [...ofOne].filter((oid) => ofOther.has(oid)).sort(compareCodePoints)
    if (common.length === 1) return common
    return yield* Effect.filter(common, (oid) =>
      Effect.map(
        Effect.exists(common, (other) => (other === oid ? Effect.succeed(false) : isAncestor(oid, other))),
        (isCovered) => !isCovered
      )
    )
  }).pipe(Effect.catchIf(isUnrelatedHistory, () => Effect.succeed([])))

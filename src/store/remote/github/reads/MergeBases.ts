import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import { compareCodePoints } from "../../../../domain/text/CodePointOrder.js"
import * as Api from "../api/Api.js"
import { isUnrelatedHistory } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import type { RefReads } from "../heads/RefReads.js"

const perPage = 100

/** How a commit lies to another one, and the commits that it has and the other one lacks. */
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

/** The commits that the comparison ends at: the newest ones that both have, and some that these descend from. */
const boundaryOf = (own: ReadonlyArray<Api.Commit>): ReadonlySet<Oid> => {
  const inside = new Set(own.map(({ sha }) => sha))
  return new Set(
    own.flatMap(({ parents }) => parents.flatMap(({ sha }) => (inside.has(sha) ? [] : [sha as Oid])))
  )
}

/**
 * All best common ancestors: GitHub tells one of them. Each is a parent of a commit that only one of the two has, on
 * either side; where these are several, the ones that another one descends from are left out.
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

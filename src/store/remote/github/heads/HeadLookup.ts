import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { isOid, type Oid } from "../../../../domain/identifiers/Oid.js"
import type { Head, PrefetchRequest } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import { isApiFailure, isKind } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import type { BranchHeads } from "./BranchHeads.js"
import type { CommitObjects } from "./CommitObjects.js"
import type { CommitSelector, GraphqlPrefetch } from "./GraphqlPrefetch.js"
import type { HeadWithParents } from "./HeadRequests.js"

type FoundHead = Effect.Effect<Option.Option<Head>, CallFailure>

/** Resolves names to commits. With GraphQL, a prefetch request is part of the same query. */
export interface HeadLookup {
  readonly resolve: (ref: string, prefetch?: PrefetchRequest) => FoundHead
  /** The current head of a branch. */
  readonly currentHead: (branch: string, prefetch?: PrefetchRequest) => FoundHead
  /** The same, except that a read-only store is pinned to the head of its first lookup. */
  readonly head: (branch: string, prefetch?: PrefetchRequest) => FoundHead
  /** Reads a commit and a prefetch request in one query. None if the query fails: other requests explain the failure better. */
  readonly prefetchByGraphql: (
    commit: CommitSelector,
    prefetch: PrefetchRequest
  ) => Effect.Effect<Option.Option<HeadWithParents>, CallFailure>
  /** Whether prefetch requests are part of the lookup, because GraphQL is used. */
  readonly canPrefetch: boolean
  readonly clear: () => void
}

export const makeHeadLookup = (
  client: Client,
  branchHeads: BranchHeads,
  commits: CommitObjects,
  cachedTrees: CachedTrees,
  graphqlPrefetch: GraphqlPrefetch
): HeadLookup => {
  const { settings } = client
  const canPrefetch = settings.useGraphql && !settings.readOnly
  let pins = new Map<string, Option.Option<Head>>()

  const cached = Option.map(({ commit, tree }: Head) => {
    const head: Head = { commit, tree }
    cachedTrees.putCommit(head)
    return head
  })

  const prefetchByGraphql: HeadLookup["prefetchByGraphql"] = (commit, prefetch) =>
    Effect.catchIf(graphqlPrefetch.read(commit, prefetch), isApiFailure, () => Effect.succeedNone)

  const byOid = (oid: Oid) =>
    Option.match(cachedTrees.rootAt(oid), {
      onNone: () =>
        Effect.map(
          commits.get(oid),
          Option.map((found): Head => ({ commit: found.sha, tree: found.tree.sha }))
        ),
      onSome: (tree) => Effect.succeedSome<Head>({ commit: oid, tree })
    })

  const byName = (ref: string) =>
    client.call(Api.getCommit, { path: { ref }, query: { per_page: 1 } }).pipe(
      Effect.map((reply) =>
        Option.map(reply.value, (found): Head => {
          commits.put(found)
          return { commit: found.sha, tree: found.commit.tree.sha }
        })
      ),
      Effect.catchIf(isKind("Missing", "EmptyRepository", "Invalid", "Conflict"), () => Effect.succeedNone)
    )

  const currentHead: HeadLookup["currentHead"] = (branch, prefetch) =>
    Effect.map(
      canPrefetch && prefetch !== undefined
        ? Effect.flatMap(prefetchByGraphql({ branch }, prefetch), (found) =>
            branchHeads.head(branch, Option.isSome(found) ? Effect.succeed(found) : undefined)
          )
        : branchHeads.head(branch),
      cached
    )

  const resolve: HeadLookup["resolve"] = (ref, prefetch) => {
    if (!isOid(ref)) {
      // Only the lookup of a branch takes the writes of this process into account.
      return branchHeads.lastOwnCommit(ref) === undefined ? Effect.map(byName(ref), cached) : currentHead(ref)
    }
    if (!canPrefetch || prefetch === undefined) return Effect.map(byOid(ref), cached)
    return Effect.flatMap(prefetchByGraphql({ commit: ref }, prefetch), (found) =>
      Effect.map(Option.isSome(found) ? Effect.succeed(found) : byOid(ref), cached)
    )
  }

  return {
    resolve,
    currentHead,
    prefetchByGraphql,
    canPrefetch,
    head: (branch, prefetch) => {
      if (!settings.readOnly || (!settings.pinRef && Option.isNone(settings.ref))) {
        return currentHead(branch, prefetch)
      }
      const pinned = pins.get(branch)
      if (pinned !== undefined) return Effect.succeed(pinned)
      const pinsAtStart = pins
      // The first reply is used by all concurrent readers. A missing branch is looked up again.
      return Effect.map(
        Option.isSome(settings.ref) ? resolve(settings.ref.value) : currentHead(branch),
        (found) => {
          const first = pinsAtStart.get(branch)
          if (first !== undefined) return first
          if (Option.isSome(found)) pinsAtStart.set(branch, found)
          return found
        }
      )
    },
    clear: () => {
      pins = new Map()
    }
  }
}

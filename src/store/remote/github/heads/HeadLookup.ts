import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { isOid, type Oid } from "../../../../domain/identifiers/Oid.js"
import type { Head, PrefetchRequest } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import { isApiFailure, isKind } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import type { BranchHeads, Tip } from "./BranchHeads.js"
import type { CommitSelector, GraphqlPrefetch } from "./GraphqlPrefetch.js"

type FoundHead = Effect.Effect<Option.Option<Head>, CallFailure>

/** Names to commits, together with what will be read at them where one query brings both. */
export interface HeadLookup {
  readonly resolve: (ref: string, wants?: PrefetchRequest) => FoundHead
  /** Where the branch is now. */
  readonly currentHead: (branch: string, wants?: PrefetchRequest) => FoundHead
  /** The same; of a store opened for reading, the commit that the branch was at when first asked. */
  readonly head: (branch: string, wants?: PrefetchRequest) => FoundHead
  /** Finds a place and what is wanted of it by one query; none where that fails, which plain ways explain better. */
  readonly prefetchByGraphql: (
    place: CommitSelector,
    wants: PrefetchRequest
  ) => Effect.Effect<Option.Option<Tip>, CallFailure>
  /** Whether wants come with the head: where GraphQL is used. */
  readonly canPrefetch: boolean
  readonly clear: () => void
}

export const makeHeadLookup = (
  client: Client,
  branches: BranchHeads,
  known: CachedTrees,
  bring: GraphqlPrefetch
): HeadLookup => {
  const { settings } = client
  const brings = settings.useGraphql && !settings.readOnly
  let pins = new Map<string, Option.Option<Head>>()

  const learned = Option.map(({ commit, tree }: Head) => {
    const head: Head = { commit, tree }
    known.putCommit(head)
    return head
  })

  const brought: HeadLookup["prefetchByGraphql"] = (place, wants) =>
    Effect.catchIf(bring.read(place, wants), isApiFailure, () => Effect.succeed(Option.none<Tip>()))

  /** A commit never changes: one that was seen is not asked for. */
  const byOid = (oid: Oid) =>
    Option.match(known.rootAt(oid), {
      onNone: () =>
        Effect.map(
          branches.commit(oid),
          Option.map((found): Head => ({ commit: found.sha, tree: found.tree.sha }))
        ),
      onSome: (tree) => Effect.succeed(Option.some<Head>({ commit: oid, tree }))
    })

  const byName = (ref: string) =>
    client.call(Api.getCommit, { path: { ref }, query: { per_page: 1 } }).pipe(
      Effect.map((reply) =>
        Option.map(reply.value, (found): Head => {
          branches.learn(found)
          return { commit: found.sha, tree: found.commit.tree.sha }
        })
      ),
      Effect.catchIf(isKind("Missing", "EmptyRepository", "Invalid", "Conflict"), () =>
        Effect.succeed(Option.none())
      )
    )

  const resolve: HeadLookup["resolve"] = (ref, wants) => {
    // A branch that we have written to is known better by its name alone.
    if (!isOid(ref))
      return branches.lastOwnCommit(ref) === undefined ? Effect.map(byName(ref), learned) : now(ref)
    if (!brings || wants === undefined) return Effect.map(byOid(ref), learned)
    return Effect.flatMap(brought({ commit: ref }, wants), (found) =>
      Effect.map(Option.isSome(found) ? Effect.succeed(found) : byOid(ref), learned)
    )
  }

  const now: HeadLookup["currentHead"] = (branch, wants) =>
    Effect.map(
      brings && wants !== undefined
        ? Effect.flatMap(brought({ branch }, wants), (found) =>
            branches.head(branch, Option.isSome(found) ? Effect.succeed(found) : undefined)
          )
        : branches.head(branch),
      learned
    )

  return {
    resolve,
    currentHead: now,
    prefetchByGraphql: brought,
    canPrefetch: brings,
    head: (branch, wants) => {
      if (!settings.readOnly || (!settings.pinRef && Option.isNone(settings.ref))) return now(branch, wants)
      const pinned = pins.get(branch)
      if (pinned !== undefined) return Effect.succeed(pinned)
      const asked = pins
      // Of readers that ask at once the first answer holds for all; what is absent is asked for again.
      return Effect.map(Option.isSome(settings.ref) ? resolve(settings.ref.value) : now(branch), (found) => {
        const first = asked.get(branch)
        if (first !== undefined) return first
        if (Option.isSome(found)) asked.set(branch, found)
        return found
      })
    },
    clear: () => {
      pins = new Map()
    }
  }
}

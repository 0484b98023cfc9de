import { Effect } from "effect"
import type { Endpoint } from "../../domain/http/Endpoint.js"
import type { Timeline } from "../../store/browse/Timeline.js"
import type { ReadError, WriteError } from "../../store/Collection.js"
import * as Overview from "./overview/Api.js"
import type { Session } from "./Sessions.js"
import * as Api from "./timeline/Api.js"

export type StoreRoute<R> = <P, A>(
  endpoint: Endpoint<`/api/${string}`, P, A>,
  handle: (session: Session, payload: P) => Effect.Effect<A, ReadError | WriteError>
) => R

const committed = (commit: string | null) => ({ commit })

/** The routes for history, branches, proposals and the overview, created by the given function. */
export const timelineRoutes = <R>(route: StoreRoute<R>): ReadonlyArray<R> => {
  const timelineRoute = <P, A>(
    endpoint: Endpoint<`/api/${string}`, P, A>,
    ask: (timeline: Timeline, payload: P) => Effect.Effect<A, ReadError | WriteError>
  ) =>
    route(endpoint, ({ browse }, payload) =>
      Effect.flatMap(browse.timeline, (timeline) => ask(timeline, payload))
    )
  return [
    timelineRoute(Api.commits, ({ commits }, { limit }) =>
      Effect.map(commits(limit), (entries) => ({ entries }))
    ),
    timelineRoute(Api.changes, ({ changes }, { commit, offset }) => changes(commit, offset)),
    timelineRoute(Api.previewRevert, ({ previewRevert }, { commit }) => previewRevert(commit)),
    timelineRoute(Api.revert, ({ revert }, { commit }) => Effect.map(revert(commit), committed)),
    timelineRoute(Api.branches, ({ branches }) => Effect.map(branches, (found) => ({ branches: found }))),
    timelineRoute(Api.createBranch, ({ createBranch }, { from, name }) =>
      Effect.map(createBranch(name, from), committed)
    ),
    timelineRoute(Api.compare, ({ compare }, { branch, offset }) => compare(branch, offset)),
    timelineRoute(Api.previewMerge, ({ previewMerge }, { branch, decisions }) =>
      previewMerge(branch, decisions)
    ),
    timelineRoute(Api.merge, ({ merge }, { branch, decisions }) =>
      Effect.map(merge(branch, decisions), committed)
    ),
    timelineRoute(Api.proposals, ({ proposals }, { state }) =>
      Effect.map(proposals(state), (found) => ({ proposals: found }))
    ),
    timelineRoute(Api.compareProposal, ({ compareProposal }, { id, offset }) => compareProposal(id, offset)),
    timelineRoute(Api.previewProposal, ({ previewProposal }, { decisions, id }) =>
      previewProposal(id, decisions)
    ),
    timelineRoute(Api.acceptProposal, ({ acceptProposal }, { commit, decisions, id }) =>
      Effect.map(acceptProposal(id, commit, decisions), committed)
    ),
    timelineRoute(Overview.counts, ({ counts }, { collections }) =>
      Effect.map(counts(collections), (found) => ({ counts: found }))
    ),
    timelineRoute(Overview.changesSince, ({ changesSince }, { commit }) => changesSince(commit)),
    timelineRoute(Overview.health, ({ health }, { deep }) =>
      Effect.map(health(deep), (findings) => ({ findings }))
    ),
    timelineRoute(Api.closeProposal, ({ closeProposal }, { id }) => closeProposal(id))
  ]
}

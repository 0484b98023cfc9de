import { Effect } from "effect"
import type { Endpoint } from "../../domain/http/Endpoint.js"
import type { Timeline } from "../../store/browse/Timeline.js"
import type { ReadError, WriteError } from "../../store/Collection.js"
import type { Session } from "./Sessions.js"
import * as Api from "./timeline/Api.js"

export type StoreRoute<R> = <P, A>(
  endpoint: Endpoint<`/api/${string}`, P, A>,
  handle: (session: Session, payload: P) => Effect.Effect<A, ReadError | WriteError>
) => R

const committed = (commit: string | null) => ({ commit })

/** The routes of history and branches, made by what makes those of a session. */
export const timelineRoutes = <R>(route: StoreRoute<R>): ReadonlyArray<R> => {
  const asked = <P, A>(
    endpoint: Endpoint<`/api/${string}`, P, A>,
    ask: (timeline: Timeline, payload: P) => Effect.Effect<A, ReadError | WriteError>
  ) =>
    route(endpoint, ({ browse }, payload) =>
      Effect.flatMap(browse.timeline, (timeline) => ask(timeline, payload))
    )
  return [
    asked(Api.commits, ({ commits }, { limit }) => Effect.map(commits(limit), (entries) => ({ entries }))),
    asked(Api.changes, ({ changes }, { commit, offset }) => changes(commit, offset)),
    asked(Api.previewRevert, ({ previewRevert }, { commit }) => previewRevert(commit)),
    asked(Api.revert, ({ revert }, { commit }) => Effect.map(revert(commit), committed)),
    asked(Api.branches, ({ branches }) => Effect.map(branches, (found) => ({ branches: found }))),
    asked(Api.createBranch, ({ createBranch }, { from, name }) =>
      Effect.map(createBranch(name, from), committed)
    ),
    asked(Api.compare, ({ compare }, { branch, offset }) => compare(branch, offset)),
    asked(Api.previewMerge, ({ previewMerge }, { branch, decisions }) => previewMerge(branch, decisions)),
    asked(Api.merge, ({ merge }, { branch, decisions }) => Effect.map(merge(branch, decisions), committed)),
    asked(Api.proposals, ({ proposals }, { state }) =>
      Effect.map(proposals(state), (found) => ({ proposals: found }))
    ),
    asked(Api.compareProposal, ({ compareProposal }, { id, offset }) => compareProposal(id, offset)),
    asked(Api.previewProposal, ({ previewProposal }, { decisions, id }) => previewProposal(id, decisions)),
    asked(Api.acceptProposal, ({ acceptProposal }, { commit, decisions, id }) =>
      Effect.map(acceptProposal(id, commit, decisions), committed)
    ),
    asked(Api.closeProposal, ({ closeProposal }, { id }) => closeProposal(id))
  ]
}

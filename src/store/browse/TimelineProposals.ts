import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { BrowseOptions } from "./BrowseOptions.js"
import type { Timeline } from "./Timeline.js"
import { previewOf, resolver } from "./TimelineBranches.js"
import { pageOf } from "./TimelineReads.js"

/** The proposals of a repository, looked at, accepted and closed. */
export const makeTimelineProposals = ({
  store
}: BrowseOptions): Pick<
  Timeline,
  "proposals" | "compareProposal" | "previewProposal" | "acceptProposal" | "closeProposal"
> => ({
  proposals: (state) => store.proposals({ state }),
  compareProposal: (id, offset) => pageOf(store.proposal(id).compare(), offset),
  previewProposal: (id, decisions) =>
    // Where it moves in between, what is shown has more than the commit, which is not accepted then.
    Effect.flatMap(store.proposal(id).get(), ({ commitSha }) =>
      Effect.map(store.proposal(id).preview({ onConflict: resolver(decisions) }), (merged) => ({
        ...previewOf(merged),
        commit: commitSha
      }))
    ),
  acceptProposal: (id, commitSha, decisions) =>
    Effect.map(store.proposal(id).accept({ commitSha, onConflict: resolver(decisions) }), (merged) =>
      Option.getOrNull(merged.commitSha)
    ),
  closeProposal: (id) => store.proposal(id).close()
})

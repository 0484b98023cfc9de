import * as Effect from "effect/Effect"
import type { BrowseOptions } from "./BrowseOptions.js"
import { makeOverview } from "./OverviewService.js"
import type { Timeline } from "./Timeline.js"
import { makeTimelineBranches } from "./TimelineBranches.js"
import { makeTimelineProposals } from "./TimelineProposals.js"
import { makeTimelineReads } from "./TimelineReads.js"
import { writingSession } from "./WritingSession.js"

/** Makes the timeline of a store. A read-only store fails its writes before any request. */
export const makeTimeline = (options: BrowseOptions): Timeline => {
  const reads = makeTimelineReads(options)
  const branches = makeTimelineBranches(options)
  const proposals = makeTimelineProposals(options)
  const writing = <A, E>(write: Effect.Effect<A, E>) =>
    writingSession(options.readOnly, "Browse.timeline", write)
  return {
    ...makeOverview(options),
    ...reads,
    ...branches,
    ...proposals,
    revert: (commit) => writing(Effect.map(options.store.revert(commit), ({ commitSha }) => commitSha)),
    createBranch: (name, from) => writing(branches.createBranch(name, from)),
    merge: (branch, decisions) => writing(branches.merge(branch, decisions)),
    acceptProposal: (...given) => writing(proposals.acceptProposal(...given)),
    closeProposal: (id) => writing(proposals.closeProposal(id))
  }
}

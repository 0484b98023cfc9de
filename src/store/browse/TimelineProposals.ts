import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { BrowseOptions } from "./BrowseOptions.js"
import type { Timeline } from "./Timeline.js"
import { previewOf, resolver } from "./TimelineBranches.js"
import { pageOf } from "./TimelineReads.js"

/** Lists, previews, accepts and closes proposals. */
export const makeTimelineProposals = ({
  store
}: BrowseOptions): Pick<
  Timeline,
  "proposals" | "compareProposal" | "previewProposal" | "acceptProposal" | "closeProposal"
> => ({
  proposals: (state) => store.proposals({ state }),
  compareProposal: (id, offset) => pageOf(store.proposal(id).compare(), offset),
  previewProposal: (id, decisions) =>
    // The commit is read first: if the proposal moves before the preview, accepting that commit fails.
    Effect.flatMap(store.proposal(id).get(), ({ commitSha }) =>
      store
        .proposal(id)
        .preview({ onConflict: resolver(decisions) })
        .pipe(
          Effect.flatMap(previewOf),
          Effect.map((preview) => ({ ...preview, commit: commitSha }))
        )
    ),
  acceptProposal: (id, commitSha, decisions) =>
    Effect.map(store.proposal(id).accept({ commitSha, onConflict: resolver(decisions) }), (merged) =>
      Option.getOrNull(merged.commitSha)
    ),
  closeProposal: (id) => store.proposal(id).close()
})

import * as Effect from "effect/Effect"
import * as Api from "../../http/console/timeline/Api.js"
import type { Timeline } from "../../store/browse/Timeline.js"
import type { Problem } from "../components/Problem.js"
import type { Call } from "./LocalCall.js"
import { overviewOf } from "./LocalOverview.js"

/** The timeline of the local server. */
export const timelineOf = (call: Call): Timeline<Problem, Problem> => ({
  ...overviewOf(call),
  commits: (limit) => Effect.map(call(Api.commits, { limit }), ({ entries }) => entries),
  changes: (commit, offset) => call(Api.changes, { commit, offset }),
  previewRevert: (commit) => call(Api.previewRevert, { commit }),
  // Only a merge may have no commit.
  revert: (commit) => Effect.map(call(Api.revert, { commit }), ({ commit: made }) => made ?? ""),
  branches: Effect.map(call(Api.branches, undefined), ({ branches }) => branches),
  createBranch: (name, from) =>
    Effect.map(call(Api.createBranch, { name, from }), ({ commit }) => commit ?? ""),
  compare: (branch, offset) => call(Api.compare, { branch, offset }),
  previewMerge: (branch, decisions) => call(Api.previewMerge, { branch, decisions }),
  merge: (branch, decisions) => Effect.map(call(Api.merge, { branch, decisions }), ({ commit }) => commit),
  proposals: (state) => Effect.map(call(Api.proposals, { state }), ({ proposals }) => proposals),
  compareProposal: (id, offset) => call(Api.compareProposal, { id, offset }),
  previewProposal: (id, decisions) => call(Api.previewProposal, { id, decisions }),
  acceptProposal: (id, commit, decisions) =>
    Effect.map(call(Api.acceptProposal, { id, commit, decisions }), (made) => made.commit),
  closeProposal: (id) => call(Api.closeProposal, { id })
})

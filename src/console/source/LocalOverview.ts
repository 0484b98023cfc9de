import * as Effect from "effect/Effect"
import * as Api from "../../http/console/overview/Api.js"
import type { Overview } from "../../store/browse/Overview.js"
import type { Problem } from "../components/Problem.js"
import type { Call } from "./LocalCall.js"

/** The overview of the local server. */
export const overviewOf = (call: Call): Overview<Problem> => ({
  counts: (collections) => Effect.map(call(Api.counts, { collections }), ({ counts }) => counts),
  changesSince: (commit) => call(Api.changesSince, { commit }),
  health: (deep) => Effect.map(call(Api.health, { deep }), ({ findings }) => findings)
})

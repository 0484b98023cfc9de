import * as Effect from "effect/Effect"
import type { TimeSlice } from "../../domain/concurrency/TimeSlice.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { type Filter, matcherOf } from "./Filter.js"

/** Matches documents against all filters. Yields to other fibers when the time slice is spent. */
export const makeFilterMatcher = (filters: ReadonlyArray<Filter>, slice: TimeSlice) => {
  const matchers = filters.map(matcherOf)
  const from = (document: JsonObject, first: number): Effect.Effect<boolean> => {
    for (let at = first; at < matchers.length; at++) {
      if (slice.isSpent()) return Effect.flatMap(slice.pause, () => from(document, at))
      if (!matchers[at]!(document)) return Effect.succeed(false)
    }
    return Effect.succeed(true)
  }
  return (document: JsonObject) => from(document, 0)
}

import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { BrowseOptions } from "./BrowseOptions.js"
import type { Overview } from "./Overview.js"

/** The maximum number of documents that `changesSince` names. */
const maxNamed = 50
const concurrency = 4

/** Makes the overview of a store. */
export const makeOverview = ({ store }: BrowseOptions): Overview => ({
  counts: ([first, ...others]) =>
    Effect.gen(function* () {
      if (first === undefined) return []
      // The first count reads the settings, which the others find in the cache.
      const count = yield* store.collection(first).count
      return [
        count,
        ...(yield* Effect.forEach(others, (name) => store.collection(name).count, { concurrency }))
      ]
    }),
  changesSince: (commit) =>
    Effect.map(
      Stream.runCollect(store.compare(commit, store.branch, { against: "first" })),
      (differences) => ({
        total: differences.length,
        documents: Array.from(differences)
          .slice(0, maxNamed)
          .map(({ collection, id, kind }) => ({ collection, id, kind }))
      })
    ),
  health: (deep) => store.doctorWith({ deep })
})

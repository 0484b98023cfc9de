import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { BrowseOptions } from "./BrowseOptions.js"
import type { ChangesSince, Overview } from "./Overview.js"

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
  // A whole collection may have been imported since: only the first differences are kept.
  changesSince: (commit) =>
    Stream.runFold(
      store.compare(commit, store.branch, { against: "first" }),
      { total: 0, documents: [] as ChangesSince["documents"] },
      ({ documents, total }, { collection, id, kind }) => ({
        total: total + 1,
        documents: total < maxNamed ? [...documents, { collection, id, kind }] : documents
      })
    ),
  health: (deep) => store.doctorWith({ deep })
})

import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import type { Oid } from "../../domain/Oid.js"
import type { SpelledObject } from "../../domain/SpelledJson.js"
import type { ReadError } from "../../domain/StoreError.js"
import * as TimeSlice from "../../domain/TimeSlice.js"
import type { Finding } from "../Doctor.js"
import { type Rows, treeAt } from "./DerivedTree.js"
import { treesIn } from "./DerivedTrees.js"
import { type DerivedExamination, findingsOn } from "./DoctorDerived.js"
import { compareEntries, type Entry, entryOf } from "./ordered-tree/Leaf.js"
import { formatLimits } from "./ordered-tree/Limits.js"
import { verify } from "./ordered-tree/Verify.js"
import { readerOf } from "./SnapshotReader.js"
import type { SettingsAt, Snapshot, StoreCore } from "./StoreCore.js"

type Place = ReturnType<typeof treesIn>[number]

/** All rows of some documents, sorted. One that cannot be written is in no tree. */
const rowsOf = ({ keyOf, of }: Rows, documents: ReadonlyMap<string, SpelledObject>) =>
  Effect.gen(function* () {
    const entries: Array<Entry> = []
    yield* TimeSlice.forEach(documents, ([id, document]) =>
      Effect.sync(() => {
        for (const row of of(id, document).values()) {
          const entry = entryOf(row, keyOf)
          if (Either.isRight(entry)) entries.push(entry.right)
        }
      })
    )
    return yield* TimeSlice.run(() => TimeSlice.sorted(entries, compareEntries))
  })

/** Looks at the trees of indexes and manifest, of format 2. `current` is the tree of the collection. */
export const examineTrees = (
  core: StoreCore,
  snapshot: Snapshot,
  settings: SettingsAt,
  collection: string,
  current: Oid
): Effect.Effect<DerivedExamination, ReadError> =>
  Effect.gen(function* () {
    const reader = readerOf(core, snapshot)
    const { finding, missing, stale, wrong } = findingsOn(collection)
    const places = treesIn(core.derived.treesOf(collection, settings.settings))
    const findings: Array<Finding> = []
    const sound: Array<Place & { readonly count: number }> = []
    for (const place of places) {
      const { kind, path } = place
      const state = yield* treeAt(reader, core.derived.known.trees, place)
      if (state._tag === "Missing") findings.push(missing(kind, path))
      else if (state._tag === "Damaged") {
        findings.push(finding("error", kind, "unreadable", `${path} is damaged: ${state.problem.message}`))
      } else if (state.tree.header.tree !== current) findings.push(stale(kind, path))
      else sound.push({ ...place, count: state.tree.header.count })
    }
    return {
      findings,
      indexes: sound.filter(({ kind }) => kind === "index").length,
      manifest: sound.some(({ kind }) => kind === "manifest"),
      fields: new Set(places.flatMap(({ rows }) => rows.fields)),
      againstListing: (listing) =>
        sound
          // A document has a row in every index that is of all documents, and more where it has lists.
          .filter(({ count, isPartial, kind }) =>
            kind === "manifest" ? count !== listing.length : count < listing.length && !isPartial
          )
          .map(({ kind, path }) => wrong(kind, path)),
      againstDocuments: (documents) =>
        Effect.map(
          Effect.filter(sound, ({ path, rows }) =>
            Effect.flatMap(rowsOf(rows, documents), (entries) =>
              Effect.map(
                verify(reader, path, Stream.fromIterable(entries), current, formatLimits, rows.definition),
                (problems) => problems.length > 0
              )
            )
          ),
          (found) => found.map(({ kind, path }) => wrong(kind, path))
        )
    }
  })

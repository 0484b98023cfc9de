import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import * as Steps from "../../../domain/concurrency/Steps.js"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import type { ReadError, RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { LosslessObject } from "../../../domain/json/LosslessJson.js"
import type { Finding } from "../../Doctor.js"
import { takesRequests } from "../../remote/GitRemote.js"
import type { SettingsAt, Snapshot, StoreCore } from "../commit/StoreCore.js"
import { openTreeAt, type RowMapping } from "../derived/DerivedTree.js"
import { treeDefinitions } from "../derived/DerivedTrees.js"
import { treeReader } from "../derived/SnapshotReader.js"
import { filesIn } from "../ordered-tree/FileEdits.js"
import { compareEntries, type Entry, entryOf } from "../ordered-tree/Leaf.js"
import { makeTreeCache } from "../ordered-tree/TreeCache.js"
import { formatLimits } from "../ordered-tree/TreeLimits.js"
import type { TreeReader } from "../ordered-tree/TreeReader.js"
import { verifyTree } from "../ordered-tree/Verify.js"
import { type DerivedExamination, findingsOn } from "./DoctorDerived.js"

type Place = ReturnType<typeof treeDefinitions>[number]

/** The sorted rows of all documents. A row that cannot be encoded is in no tree. */
const rowsOf = ({ keyOf, rowsOf: of }: RowMapping, documents: ReadonlyMap<string, LosslessObject>) =>
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
    return yield* Steps.run(() => Steps.sorted(entries, compareEntries))
  })

/** The number of a tree's files that are read together. */
const together = 256

/** Reads every file of a tree, because a listed file may be missing. */
const readWhole = (reader: TreeReader<ReadError>, path: string): Effect.Effect<void, ReadError> =>
  Effect.flatMap(filesIn(reader, path), (files) =>
    Effect.forEach(
      Arr.chunksOf(files, together),
      (some) => reader.files(some.map((file) => `${path}/${file.path}`)),
      { discard: true }
    )
  )

/** Whether the error reports data that the repository has lost, which is a finding and not a failure. */
const isLost = (error: ReadError): error is RemoteError =>
  error._tag === "RemoteError" && error.reason === "Corrupt"

/** Examines the trees of indexes and manifest, of format 2. `current` is the tree of the collection. */
export const examineTrees = (
  core: StoreCore,
  snapshot: Snapshot,
  settings: SettingsAt,
  collection: string,
  current: Oid
): Effect.Effect<DerivedExamination, ReadError> =>
  Effect.gen(function* () {
    const reader = treeReader(core, snapshot)
    const { finding, missing, stale, unfit, wrong } = findingsOn(collection)
    const places = treeDefinitions(core.derived.treesOf(collection, settings.settings))
    const findings: Array<Finding> = []
    const sound: Array<Place & { readonly count: number }> = []
    const lost =
      ({ kind, path }: Place) =>
      ({ hint, message }: RemoteError) =>
        finding("error", kind, "unreadable", `${path} is damaged: ${message}`, hint)
    // A new cache, because cached trees may differ from the repository.
    const cache = makeTreeCache()
    for (const place of places) {
      const { kind, path } = place
      const state = yield* Effect.catchIf(openTreeAt(reader, cache, place), isLost, (error) =>
        Effect.succeed({ _tag: "Lost" as const, error })
      )
      if (state._tag === "Lost") findings.push(lost(place)(state.error))
      else if (state._tag === "Missing") findings.push(missing(kind, path))
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
          // A document has at least one row in every index that is not partial.
          .filter(({ count, isPartial, kind }) =>
            kind === "manifest" ? count !== listing.length : count < listing.length && !isPartial
          )
          .map(({ kind, path }) => wrong(kind, path)),
      againstDocuments: (documents) =>
        Effect.map(
          Effect.forEach(sound, (place) => {
            const { kind, path, rows } = place
            return Effect.gen(function* () {
              const entries = Stream.fromIterable(yield* rowsOf(rows, documents))
              const problems = yield* verifyTree(
                reader,
                path,
                entries,
                current,
                formatLimits,
                rows.definition
              )
              if (problems.length > 0) return [wrong(kind, path)]
              if (!takesRequests(core.remote)) yield* readWhole(reader, path)
              return []
            }).pipe(Effect.catchIf(isLost, (error) => Effect.succeed([lost(place)(error)])))
          }),
          (found) => [
            ...found.flat(),
            ...places.flatMap(({ kind, rows }) =>
              Array.from(documents).flatMap(([id, document]) => {
                const problem = rows.problem(document)
                return problem === undefined ? [] : [unfit(kind, id, problem)]
              })
            )
          ]
        )
    }
  })

import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import { type DocumentChange, parseIndex } from "../../../domain/indexes/IndexFile.js"
import { parseLosslessManifest, projectedFields } from "../../../domain/indexes/ManifestFile.js"
import { pickPaths } from "../../../domain/json/FieldPath.js"
import { type LosslessObject, parseLosslessOrEmpty } from "../../../domain/json/LosslessJson.js"
import { lazyModule } from "../../../domain/runtime/LazyModule.js"
import { idAt, under } from "../../DocumentPath.js"
import type { Change, GitRemoteService, Head, RemoteFailure } from "../../remote/GitRemote.js"
import type { ResolvedOptions } from "../../StoreOptions.js"
import { runAllSteps } from "../ordered-tree/ReadSteps.js"
import { listAt, readListing } from "../snapshot/Listing.js"
import type { SettingsAt } from "../snapshot/RepositorySettings.js"
import type { Snapshot } from "../snapshot/Snapshot.js"
import { collectionTree, type Derived, type DerivedFiles, load } from "./Derived.js"
import {
  type Derivation,
  type DerivedFile,
  indexFile,
  manifestFile,
  noDerivation,
  type SingleFile,
  type StoredFields,
  type UpdateSteps
} from "./DerivedFile.js"
import { treeReader } from "./SnapshotReader.js"
import { uniqueIndexFile } from "./UniqueIndexFile.js"
import { violations } from "./Uniqueness.js"

/** Loaded if a repository has trees. */
const trees = lazyModule(() => import("./DerivedTrees.js"))

/** Receives the number of a collection's documents that were read. */
export type OnDocumentsRead = (read: {
  readonly collection: string
  readonly documents: number
  readonly total: number
}) => Effect.Effect<void>

/** The changes of one collection. */
export interface CollectionWrite {
  readonly collection: string
  readonly documents: ReadonlyArray<DocumentChange>
  readonly changes: ReadonlyArray<Change>
  /** Rebuilds the files from the documents. */
  readonly rebuild: boolean
  readonly onRead?: OnDocumentsRead | undefined
  /** The documents changed in an earlier commit: from one tree of the collection (if known) to another. */
  readonly since?: { readonly before: Oid | undefined; readonly after: Oid } | undefined
}

/** Composes two sets of changes: each document before the first and after the second. */
const composeChanges = (
  first: ReadonlyArray<DocumentChange>,
  second: ReadonlyArray<DocumentChange>
): ReadonlyArray<DocumentChange> => {
  const all = new Map(first.map((change) => [change.id, change]))
  for (const change of second) {
    const earlier = all.get(change.id)
    all.set(change.id, earlier === undefined ? change : { ...change, before: earlier.before })
  }
  return [...all.values()]
}

interface DerivedDependencies {
  readonly remote: GitRemoteService
  readonly options: ResolvedOptions
  readonly derived: Derived
}

/** The documents of a collection, reduced to some paths. A file without a JSON object is an empty document. */
const documentsIn = (
  { options, remote }: DerivedDependencies,
  head: Head,
  settings: SettingsAt,
  collection: string,
  fields: ReadonlySet<string>,
  onRead: OnDocumentsRead | undefined
): Stream.Stream<StoredFields, RemoteFailure> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const directory = under(options.root, collection)
      const { layout, prefix } = { layout: settings.settings, prefix: `${directory}/` }
      const listing = yield* listAt(remote, head, directory, layout)
      let documents = 0
      const tell = Effect.suspend(
        () => onRead?.({ collection, documents, total: listing.length }) ?? Effect.void
      )
      yield* tell
      const slice = TimeSlice.make()
      return Stream.mapChunksEffect(
        readListing(remote, head, prefix, listing, options.concurrency),
        (blobs) =>
          Effect.gen(function* () {
            const found: Array<StoredFields> = []
            for (const { content, path } of blobs) {
              if (slice.isSpent()) yield* slice.pause
              const id = idAt(layout, path.slice(prefix.length))
              if (id !== undefined)
                found.push({ id, document: pickPaths(parseLosslessOrEmpty(content), fields) })
            }
            documents += found.length
            yield* tell
            return Chunk.unsafeFromArray(found)
          })
      )
    })
  )

/** All documents of a collection, by id. */
export const documentsOf = (
  ...args: Parameters<typeof documentsIn>
): Effect.Effect<Map<string, LosslessObject>, RemoteFailure> =>
  Stream.runFold(documentsIn(...args), new Map(), (all, { document, id }) => all.set(id, document))

/** The index and manifest files of format 1. */
const storedFiles = (
  { derived, options }: DerivedDependencies,
  snapshot: Snapshot,
  { settings }: SettingsAt,
  collection: string,
  files: DerivedFiles,
  given: Pick<SingleFile<unknown>, "isTouched" | "now">
): Effect.Effect<ReadonlyArray<DerivedFile>, ReadError> =>
  Effect.gen(function* () {
    const stored: Array<DerivedFile> = []
    for (const [name, { definition, oid }] of files.indexes) {
      const path = derived.indexPath(collection, name)
      const file =
        oid === undefined ? undefined : yield* load(derived.cache.indexes, snapshot, path, oid, parseIndex)
      const place = { snapshot, options, layout: settings, collection, definition, stored: file?.value }
      const unique = definition.unique ? uniqueIndexFile(place) : undefined
      stored.push(
        indexFile(
          { ...given, collection, path, known: derived.cache.indexes, stored: file },
          definition,
          unique
        )
      )
    }
    const { manifest } = files
    if (manifest === undefined) return stored
    const path = derived.manifestPath(collection)
    const file =
      manifest.oid === undefined
        ? undefined
        : yield* load(derived.cache.manifests, snapshot, path, manifest.oid, parseLosslessManifest)
    const fields = manifest.fields ?? (file === undefined ? [] : projectedFields(file.value))
    stored.push(
      manifestFile({ ...given, collection, path, known: derived.cache.manifests, stored: file }, fields)
    )
    return stored
  })

/** The indexes and the manifest of a collection as stored in a snapshot, in either format. */
export const storedOf = (
  parts: DerivedDependencies,
  snapshot: Snapshot,
  at: SettingsAt,
  collection: string,
  files: DerivedFiles,
  given: Pick<SingleFile<unknown>, "isTouched" | "now">
): Effect.Effect<ReadonlyArray<DerivedFile>, ReadError> => {
  const { derived } = parts
  if (at.settings.format === 1) return storedFiles(parts, snapshot, at, collection, files, given)
  const places = derived.treesOf(collection, at.settings)
  return Effect.flatMap(trees, ({ storedTrees }) =>
    storedTrees(
      treeReader(parts, snapshot),
      derived.cache.trees,
      collection,
      places,
      parts.remote.temporaryFile
    )
  )
}

/**
 * The result for a file. If a document of another program prevents it from being written, the file stays outdated, and
 * queries examine the documents that differ. If a document of this write prevents it, the write fails.
 */
const unlessForeign = (
  file: DerivedFile,
  own: ReadonlyArray<DocumentChange>,
  made: Effect.Effect<Derivation, ReadError>
): Effect.Effect<Derivation, ReadError> =>
  Effect.suspend(() => {
    for (const { document, id } of own) {
      const refusal = document && file.rejection(id, document)
      if (refusal !== undefined) return refusal
    }
    const ids = new Set(own.map(({ id }) => id))
    return Effect.catchTag(made, "ValidationError", (error) =>
      error.id === undefined || ids.has(error.id) ? error : Effect.succeed(noDerivation)
    )
  })

/** Updates the index and manifest files of a collection for a write. */
export const deriveFiles = (
  parts: DerivedDependencies,
  snapshot: Snapshot,
  settings: SettingsAt,
  touched: CollectionWrite,
  files: DerivedFiles,
  now: string
): Effect.Effect<Derivation, ReadError> =>
  Effect.gen(function* () {
    const { options, remote } = parts
    const { changes, collection, documents: changed, onRead, rebuild, since } = touched
    if (files.indexes.size === 0 && files.manifest === undefined) return noDerivation
    const head = yield* snapshot.head
    const before = collectionTree(settings, collection)
    const tree =
      changes.length === 0
        ? before
        : Option.getOrElse(
            yield* remote.treeAfter(head, under(options.root, collection), changes),
            () => emptyTree
          )
    const { concurrency } = options
    const given = { isTouched: changes.length > 0, now }
    const stored = yield* storedOf(parts, snapshot, settings, collection, files, given)
    // For a commit before the head: a file that records the tree before that commit lacks its documents; one that
    // records the tree of the head contains them.
    const base = since?.after === before && since.before !== emptyTree ? since.before : undefined
    const missing = ({ recorded }: DerivedFile) =>
      since === undefined || (recorded === base && recorded !== before) ? changed : []
    const old = rebuild ? [] : stored.filter(({ recorded }) => recorded !== base)
    const behind =
      settings.settings.format === 2
        ? yield* (yield* trees).changesSinceRecorded(remote, settings.settings, old, before, concurrency)
        : new Map<Oid, ReadonlyArray<DocumentChange>>()
    const lacking = (file: DerivedFile): ReadonlyArray<DocumentChange> | undefined => {
      const { canCatchUp, recorded } = file
      if (rebuild || recorded === undefined) return undefined
      if (recorded === before || recorded === base) return missing(file)
      const differing = canCatchUp ? behind.get(recorded) : undefined
      return differing && composeChanges(differing, since === undefined ? changed : [])
    }
    const kept: Array<Option.Option<Derivation>> = stored.map(() => Option.none())
    const going: Array<{ readonly at: number; readonly found: Derivation["violations"] }> = []
    const changing: Array<() => UpdateSteps> = []
    for (const [at, file] of stored.entries()) {
      const documents = lacking(file)
      if (documents === undefined) continue
      const all = documents.length === 0 ? changed : documents
      const found = file.unique && (yield* violations(file.unique, changed, all))
      if (found !== undefined && Option.isNone(found)) continue
      going.push({ at, found: found?.value })
      changing.push(() => file.update(documents, tree))
    }
    for (const [i, made] of (yield* runAllSteps(treeReader(parts, snapshot), changing)).entries()) {
      const { at, found } = going[i]!
      // A damaged file is rebuilt.
      if (Either.isLeft(made)) continue
      if (Either.isRight(made.right) && Option.isNone(made.right.right)) continue
      const all = Either.map(made.right, Option.getOrThrow)
      const own = yield* unlessForeign(stored[at]!, since === undefined ? changed : [], all)
      kept[at] = Option.some({ ...own, violations: found })
    }
    const own = rebuild ? undefined : changed
    const stale = stored.flatMap((file, at) => (Option.isNone(kept[at]!) ? [{ at, file }] : []))
    const rebuilt = Effect.gen(function* () {
      const rebuilds = yield* Effect.forEach(stale, ({ file }) => file.rebuild(tree, own))
      const add = (documents: ReadonlyArray<StoredFields>) =>
        Effect.forEach(rebuilds, (one) => one.add(documents), { discard: true })
      const written = since === undefined ? changed : []
      const ids = new Set(written.map(({ id }) => id))
      if (Option.isSome(head) && before !== emptyTree) {
        const fields = new Set(stale.flatMap(({ file }) => file.fields))
        const documents = documentsIn(parts, head.value, settings, collection, fields, onRead)
        yield* Stream.runForEachChunk(documents, (chunk) =>
          add(Chunk.toReadonlyArray(chunk).filter(({ id }) => !ids.has(id)))
        )
      }
      yield* add(written.flatMap(({ document, id }) => (document === undefined ? [] : [{ id, document }])))
      return yield* Effect.forEach(stale, ({ file }, at) => {
        const { end } = rebuilds[at]!
        return Effect.flatMap(end, ({ made, violations }) =>
          Effect.map(rebuild ? made : unlessForeign(file, changed, made), (derivation) => ({
            ...derivation,
            violations
          }))
        )
      })
    })
    if (stale.length > 0) {
      for (const [i, made] of (yield* Effect.scoped(rebuilt)).entries())
        kept[stale[i]!.at] = Option.some(made)
    }
    const derivations = kept.map(Option.getOrThrow)
    return {
      changes: derivations.flatMap((derivation) => derivation.changes),
      violations: derivations.flatMap((derivation) => derivation.violations ?? []),
      onCommitted: (blobs: ReadonlyMap<string, Oid>) => {
        for (const { onCommitted } of derivations) onCommitted(blobs)
      }
    }
  })

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Bounded } from "../../domain/Bounded.js"
import { pick } from "../../domain/FieldPath.js"
import { type IndexDefinition, plainIndex } from "../../domain/IndexDefinition.js"
import { type DocumentChange, type IndexFile, parseIndex } from "../../domain/IndexFile.js"
import { lazy } from "../../domain/Lazy.js"
import { type ManifestFile, parseSpelledManifest, projectedFields } from "../../domain/ManifestFile.js"
import { emptyTree, type Oid } from "../../domain/Oid.js"
import type { Settings } from "../../domain/Settings.js"
import { documentIn, type SpelledObject } from "../../domain/SpelledJson.js"
import type { ReadError } from "../../domain/StoreError.js"
import { idAt, under } from "../DocumentPath.js"
import type { Change, GitRemoteService, Head, RemoteFailure } from "../remote/GitRemote.js"
import type { ResolvedOptions } from "../StoreOptions.js"
import {
  type Derivation,
  type DerivedFile,
  indexFile,
  manifestFile,
  nothing,
  type Parsed,
  type SingleFile
} from "./DerivedFile.js"
import type { TreePlaces } from "./DerivedTrees.js"
import { contents, listAt } from "./Listing.js"
import { type SettingsAt, settingsMaxAge } from "./RepositorySettings.js"
import type { Snapshot } from "./Snapshot.js"

/** Loaded with the first write of an index or a manifest. */
const trees = lazy(() => import("./DerivedTrees.js"))

/** Loaded with the first write of a unique index. */
const uniqueFiles = lazy(() => import("./UniqueFile.js"))
const uniqueness = lazy(() => import("./Uniqueness.js"))

export const indexDirectory = "_index"
export const manifestDirectory = "_manifest"

/** An index that a collection has or should have. */
export interface NamedIndex {
  readonly definition: IndexDefinition
  /** The blob of its file, where there is one. */
  readonly oid: Oid | undefined
}

/** The index and manifest files that a collection has or should have at a commit. */
export interface DerivedFiles {
  /** Indexes by name. */
  readonly indexes: ReadonlyMap<string, NamedIndex>
  readonly manifest:
    | { readonly fields: ReadonlyArray<string> | undefined; readonly oid: Oid | undefined }
    | undefined
}

/** Told of how many of a collection's documents were read. */
export type OnRead = (read: {
  readonly collection: string
  readonly documents: number
  readonly total: number
}) => Effect.Effect<void>

/** What a write does to one collection. */
export interface Touched {
  readonly collection: string
  readonly documents: ReadonlyArray<DocumentChange>
  readonly changes: ReadonlyArray<Change>
  /** Makes the files anew from the documents. */
  readonly rebuild: boolean
  readonly onRead?: OnRead | undefined
  /** The documents changed in an earlier commit, from one tree of the collection (where known) to another. */
  readonly since?: { readonly before: Oid | undefined; readonly after: Oid } | undefined
}

/** What settings say of indexes and manifests. */
type DerivedNames = Pick<Settings, "indexes" | "manifests">

export interface Derived {
  readonly filesOf: (
    snapshot: Snapshot,
    settings: SettingsAt,
    collection: string
  ) => Effect.Effect<DerivedFiles, ReadError>
  readonly derive: (
    snapshot: Snapshot,
    settings: SettingsAt,
    touched: Touched,
    files: DerivedFiles,
    now: string
  ) => Effect.Effect<Derivation, ReadError>
  readonly indexPath: (collection: string, name: string) => string
  readonly manifestPath: (collection: string) => string
  /** The directories of an index and of a manifest of format 2. */
  readonly indexTreePath: (collection: string, name: string) => string
  readonly manifestTreePath: (collection: string) => string
  /** The trees of format 2 that settings want of a collection, and their directories alone. */
  readonly treesOf: (collection: string, settings: DerivedNames) => TreePlaces
  readonly treePaths: (collection: string, settings: DerivedNames) => ReadonlyArray<string>
  /** An index file as a read by the branch's name saw it, with the tree of all index files at that time. */
  readonly seenIndex: (path: string) => SeenIndex | undefined
  readonly sawIndex: (path: string, seen: SeenIndex) => void
  readonly index: (
    snapshot: Snapshot,
    collection: string,
    name: string,
    oid: Oid | undefined
  ) => Effect.Effect<IndexFile | undefined, ReadError>
  /** Every document of the collection with its values at some paths, by id; files that hold none count as empty ones. */
  readonly documents: (
    head: Head,
    settings: SettingsAt,
    collection: string,
    fields: ReadonlySet<string>,
    onRead?: OnRead
  ) => Effect.Effect<Map<string, SpelledObject>, RemoteFailure>
}

interface SeenIndex {
  readonly under: Oid
  readonly index: IndexFile
}

/** What is kept of index files and of manifests, by their bytes, which take two and a half times as much with what they say. */
const mostBytes = 64 * 1024 * 1024
const sizeOf = ({ content }: Parsed<unknown>) => content.length + 1

/** The same of index files that only reads have seen. */
const mostIds = 400_000

/** What two runs of changes make together: each document as it was before the first and as it is after the second. */
const oneAfterTheOther = (
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

/** The id of a collection's directory; the empty tree where there is none. */
export const treeOf = ({ entries }: SettingsAt, collection: string): Oid => {
  const entry = entries.get(collection)
  return entry?.kind === "tree" ? entry.oid : emptyTree
}

/** Keeps index and manifest files in step with the documents. */
export const make = (remote: GitRemoteService, options: ResolvedOptions): Derived => {
  const knownIndexes = new Bounded<Parsed<IndexFile>>(mostBytes, sizeOf)
  const knownManifests = new Bounded<Parsed<ManifestFile<SpelledObject>>>(mostBytes, sizeOf)
  const seen = new Bounded<SeenIndex>(mostIds, ({ index }) => index.ids.size + 1)
  const indexPath = (collection: string, name: string) =>
    under(options.root, indexDirectory, collection, `${name}.json`)
  const manifestPath = (collection: string) => under(options.root, manifestDirectory, `${collection}.json`)
  const indexTreePath = (collection: string, name: string) =>
    under(options.root, indexDirectory, collection, name)
  const manifestTreePath = (collection: string) => under(options.root, manifestDirectory, collection)

  const entriesOf = (snapshot: Snapshot, { entries }: SettingsAt, top: string, path: string) =>
    Effect.gen(function* () {
      if (entries.get(top)?.kind !== "tree") return []
      const found = yield* snapshot.directory(path, snapshot.isPinned() ? {} : { maxAge: settingsMaxAge })
      return Option.isNone(found)
        ? []
        : found.value.tree.entries.filter(({ kind, path }) => kind === "blob" && path.endsWith(".json"))
    })

  const filesOf: Derived["filesOf"] = (snapshot, at, collection) =>
    Effect.gen(function* () {
      const { recorded, settings } = at
      const indexes = settings.indexes.get(collection) ?? []
      const projected = settings.manifests.get(collection)
      const wanted = new Map<string, NamedIndex>(
        indexes.map((definition) => [definition.name, { definition, oid: undefined }])
      )
      if (settings.format === 2) {
        const manifest = projected && { fields: projected, oid: undefined }
        return { indexes: wanted, manifest }
      }
      let manifest: Oid | undefined
      if (!recorded || indexes.length > 0) {
        const path = under(options.root, indexDirectory, collection)
        for (const entry of yield* entriesOf(snapshot, at, indexDirectory, path)) {
          const name = entry.path.slice(0, -".json".length)
          const definition = wanted.get(name)?.definition ?? plainIndex(name)
          if (!recorded || wanted.has(name)) wanted.set(name, { definition, oid: entry.oid })
        }
      }
      if (!recorded || projected !== undefined) {
        const path = under(options.root, manifestDirectory)
        const all = yield* entriesOf(snapshot, at, manifestDirectory, path)
        manifest = all.find((entry) => entry.path === `${collection}.json`)?.oid
      }
      return {
        indexes: wanted,
        manifest:
          projected === undefined && manifest === undefined ? undefined : { fields: projected, oid: manifest }
      }
    })

  const load = <A>(
    known: Bounded<Parsed<A>>,
    snapshot: Snapshot,
    path: string,
    oid: Oid | undefined,
    parse: (content: Uint8Array) => A | undefined
  ): Effect.Effect<Parsed<A> | undefined, ReadError> => {
    const before = known.get(path)
    if (before !== undefined && before.oid === oid) return Effect.succeed(before)
    return Effect.map(snapshot.file(path), (file) => {
      if (Option.isNone(file)) return undefined
      const value = parse(file.value.content)
      if (value === undefined) return undefined
      return known.set(path, { oid: file.value.oid, value, content: file.value.content })
    })
  }

  const documents: Derived["documents"] = (head, settings, collection, fields, onRead) =>
    Effect.gen(function* () {
      const directory = under(options.root, collection)
      const { layout, prefix } = { layout: settings.settings, prefix: `${directory}/` }
      const listing = yield* listAt(remote, head, directory, layout)
      const found = new Map<string, SpelledObject>()
      const tell = Effect.suspend(
        () => onRead?.({ collection, documents: found.size, total: listing.length }) ?? Effect.void
      )
      yield* tell
      yield* Stream.runForEachChunk(contents(remote, head, prefix, listing, options.concurrency), (blobs) =>
        Effect.suspend(() => {
          for (const { content, path } of blobs) {
            const id = idAt(layout, path.slice(prefix.length))
            if (id !== undefined) found.set(id, pick(documentIn(content), fields))
          }
          return tell
        })
      )
      return found
    })

  const treesOf: Derived["treesOf"] = (collection, { indexes, manifests }) => {
    const fields = manifests.get(collection)
    return {
      indexes: (indexes.get(collection) ?? []).map((index) => ({
        index,
        path: indexTreePath(collection, index.name)
      })),
      manifest: fields && { fields, path: manifestTreePath(collection) }
    }
  }

  /** The index and manifest files of a collection as a snapshot has them. */
  const storedFiles = (
    snapshot: Snapshot,
    { settings }: SettingsAt,
    collection: string,
    files: DerivedFiles,
    given: Pick<SingleFile<unknown>, "isTouched" | "now">
  ): Effect.Effect<ReadonlyArray<DerivedFile>, ReadError> =>
    Effect.gen(function* () {
      const stored: Array<DerivedFile> = []
      for (const [name, { definition, oid }] of files.indexes) {
        const path = indexPath(collection, name)
        const file =
          oid === undefined ? undefined : yield* load(knownIndexes, snapshot, path, oid, parseIndex)
        const place = { snapshot, options, layout: settings, collection, definition, stored: file?.value }
        const unique = definition.unique ? (yield* uniqueFiles).uniqueFile(place) : undefined
        stored.push(
          indexFile({ ...given, collection, path, known: knownIndexes, stored: file }, definition, unique)
        )
      }
      const { manifest } = files
      if (manifest === undefined) return stored
      const path = manifestPath(collection)
      const file =
        manifest.oid === undefined
          ? undefined
          : yield* load(knownManifests, snapshot, path, manifest.oid, parseSpelledManifest)
      const fields = manifest.fields ?? (file === undefined ? [] : projectedFields(file.value))
      stored.push(manifestFile({ ...given, collection, path, known: knownManifests, stored: file }, fields))
      return stored
    })

  const derive: Derived["derive"] = (
    snapshot,
    settings,
    { changes, collection, documents: changed, onRead, rebuild, since },
    files,
    now
  ) =>
    Effect.gen(function* () {
      if (files.indexes.size === 0 && files.manifest === undefined) return nothing
      const head = yield* snapshot.head
      const before = treeOf(settings, collection)
      const tree =
        changes.length === 0
          ? before
          : Option.getOrElse(
              yield* remote.treeAfter(head, under(options.root, collection), changes),
              () => emptyTree
            )
      const { concurrency } = options
      const ofTrees = settings.settings.format === 2 ? yield* trees : undefined
      const stored = yield* ofTrees === undefined
        ? storedFiles(snapshot, settings, collection, files, { isTouched: changes.length > 0, now })
        : ofTrees.storedTrees(snapshot, collection, treesOf(collection, settings.settings), concurrency)
      // Of a commit that lies behind, files of the tree before it lack its documents, and those of the head have them.
      const base = since?.after === before && since.before !== emptyTree ? since.before : undefined
      const missing = ({ recorded }: DerivedFile) =>
        since === undefined || (recorded === base && recorded !== before) ? changed : []
      const old = rebuild ? [] : stored.filter(({ recorded }) => recorded !== base)
      const behind = yield* ofTrees?.differingFrom(remote, settings.settings, old, before, concurrency) ??
        Effect.succeed(new Map<Oid, ReadonlyArray<DocumentChange>>())
      const lacking = (file: DerivedFile): ReadonlyArray<DocumentChange> | undefined => {
        const { catchesUp, recorded } = file
        if (rebuild || recorded === undefined) return undefined
        if (recorded === before || recorded === base) return missing(file)
        const differing = catchesUp ? behind.get(recorded) : undefined
        return differing && oneAfterTheOther(differing, since === undefined ? changed : [])
      }
      const kept = yield* Effect.forEach(stored, (file) =>
        Effect.gen(function* () {
          const documents = lacking(file)
          if (documents === undefined) return Option.none()
          const all = documents.length === 0 ? changed : documents
          const found = file.unique && (yield* (yield* uniqueness).violations(file.unique, changed, all))
          if (found !== undefined && Option.isNone(found)) return Option.none()
          const derivation = yield* file.changed(documents, tree)
          return Option.map(derivation, (made) => ({ ...made, violations: found?.value }))
        })
      )
      const isStale = kept.some(Option.isNone)
      const all =
        isStale && Option.isSome(head) && before !== emptyTree
          ? yield* documents(
              head.value,
              settings,
              collection,
              new Set(stored.flatMap(({ fields }) => fields)),
              onRead
            )
          : new Map<string, SpelledObject>()
      if (isStale && since === undefined) {
        for (const { document, id } of changed) {
          if (document === undefined) all.delete(id)
          else all.set(id, document)
        }
      }
      const everything = isStale ? [...all].map(([id, document]) => ({ id, document })) : []
      const derivations = yield* Effect.forEach(stored, (file, at) =>
        Option.match(kept[at]!, {
          onNone: () =>
            Effect.gen(function* () {
              const own = rebuild ? undefined : changed
              const found =
                file.unique && (yield* (yield* uniqueness).violationsAmong(file.unique, everything, own))
              return { ...(yield* file.anew(everything, tree)), violations: found }
            }),
          onSome: Effect.succeed
        })
      )
      return {
        changes: derivations.flatMap((derivation) => derivation.changes),
        violations: derivations.flatMap((derivation) => derivation.violations ?? []),
        committed: (blobs: ReadonlyMap<string, Oid>) => {
          for (const { committed } of derivations) committed(blobs)
        }
      }
    })

  return {
    filesOf,
    derive,
    documents,
    indexPath,
    manifestPath,
    indexTreePath,
    manifestTreePath,
    treesOf,
    treePaths: (collection, settings) => {
      const { indexes, manifest } = treesOf(collection, settings)
      return [...indexes, ...(manifest === undefined ? [] : [manifest])].map(({ path }) => path)
    },
    seenIndex: (path) => seen.get(path),
    sawIndex: (path, found) => void seen.set(path, found),
    index: (snapshot, collection, name, oid) =>
      Effect.map(
        load(knownIndexes, snapshot, indexPath(collection, name), oid, parseIndex),
        (parsed) => parsed?.value
      )
  }
}

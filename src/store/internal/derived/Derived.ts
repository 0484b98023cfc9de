import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import { type IndexDefinition, plainIndex } from "../../../domain/indexes/IndexDefinition.js"
import { type IndexFile, parseIndex } from "../../../domain/indexes/IndexFile.js"
import type { ManifestFile } from "../../../domain/indexes/ManifestFile.js"
import type { LosslessObject } from "../../../domain/json/LosslessJson.js"
import { LruCache } from "../../../domain/runtime/LruCache.js"
import type { Settings } from "../../../domain/settings/Settings.js"
import { under } from "../../DocumentPath.js"
import type { ResolvedOptions } from "../../StoreOptions.js"
import { makeTreeCache, type TreeCache } from "../ordered-tree/TreeCache.js"
import { type SettingsAt, settingsMaxAge } from "../snapshot/RepositorySettings.js"
import type { Snapshot } from "../snapshot/Snapshot.js"
import type { ParsedFile } from "./DerivedFile.js"
import type { CollectionTrees } from "./DerivedTrees.js"

export const indexDirectory = "_index"
export const manifestDirectory = "_manifest"

/** An index that the settings define, or that exists. */
export interface NamedIndex {
  readonly definition: IndexDefinition
  /** The blob of its file, if it exists. */
  readonly oid: Oid | undefined
}

/** The index and manifest files of a collection at a commit, existing or required by the settings. */
export interface DerivedFiles {
  readonly indexes: ReadonlyMap<string, NamedIndex>
  readonly manifest:
    | { readonly fields: ReadonlyArray<string> | undefined; readonly oid: Oid | undefined }
    | undefined
}

/** The settings of indexes and manifests. */
type DerivedNames = Pick<Settings, "indexes" | "manifests">

/** Index and manifest files that were read or written. */
export interface DerivedCache {
  readonly indexes: LruCache<ParsedFile<IndexFile>>
  readonly manifests: LruCache<ParsedFile<ManifestFile<LosslessObject>>>
  readonly trees: TreeCache
}

/** The paths of a repository's index and manifest files, and a cache of their contents. */
export interface Derived {
  readonly cache: DerivedCache
  readonly filesOf: (
    snapshot: Snapshot,
    settings: SettingsAt,
    collection: string
  ) => Effect.Effect<DerivedFiles, ReadError>
  /** The blob of an index file of format 1; undefined if there is none. */
  readonly indexFile: (
    snapshot: Snapshot,
    settings: SettingsAt,
    collection: string,
    name: string
  ) => Effect.Effect<Oid | undefined, ReadError>
  readonly indexPath: (collection: string, name: string) => string
  readonly manifestPath: (collection: string) => string
  /** The directories of an index and of a manifest of format 2. */
  readonly indexTreePath: (collection: string, name: string) => string
  readonly manifestTreePath: (collection: string) => string
  /** The trees of format 2 that settings require for a collection, and only their directories. */
  readonly treesOf: (collection: string, settings: DerivedNames) => CollectionTrees
  readonly treePaths: (collection: string, settings: DerivedNames) => ReadonlyArray<string>
  /** An index file that was read by the branch's name, with the tree of all index files at that time. */
  readonly branchIndex: (path: string) => BranchIndex | undefined
  readonly cacheBranchIndex: (path: string, seen: BranchIndex) => void
  readonly index: (
    snapshot: Snapshot,
    collection: string,
    name: string,
    oid: Oid | undefined
  ) => Effect.Effect<IndexFile | undefined, ReadError>
}

interface BranchIndex {
  readonly under: Oid
  readonly index: IndexFile
}

/** The size of the cache, in bytes of the files. Parsed files take two and a half times as much memory. */
const maxBytes = 64 * 1024 * 1024
const sizeOf = ({ content }: ParsedFile<unknown>) => content.length + 1

/** The size of the cache of index files that were read by the branch's name, in ids. */
const maxIds = 400_000

/** The id of a collection's directory; the empty tree if there is none. */
export const collectionTree = ({ entries }: SettingsAt, collection: string): Oid => {
  const entry = entries.get(collection)
  return entry?.kind === "tree" ? entry.oid : emptyTree
}

/** Reads a file, or returns the cached one. */
export const load = <A>(
  cache: LruCache<ParsedFile<A>>,
  snapshot: Snapshot,
  path: string,
  oid: Oid | undefined,
  parse: (content: Uint8Array) => A | undefined
): Effect.Effect<ParsedFile<A> | undefined, ReadError> => {
  const before = cache.get(path)
  if (before !== undefined && before.oid === oid) return Effect.succeed(before)
  return Effect.map(snapshot.file(path), (file) => {
    if (Option.isNone(file)) return undefined
    const value = parse(file.value.content)
    if (value === undefined) return undefined
    return cache.set(path, { oid: file.value.oid, value, content: file.value.content })
  })
}

export const make = (options: ResolvedOptions): Derived => {
  const cache: DerivedCache = {
    indexes: new LruCache<ParsedFile<IndexFile>>(maxBytes, sizeOf),
    manifests: new LruCache<ParsedFile<ManifestFile<LosslessObject>>>(maxBytes, sizeOf),
    trees: makeTreeCache()
  }
  const seen = new LruCache<BranchIndex>(maxIds, ({ index }) => index.ids.size + 1)
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

  const indexEntries = (snapshot: Snapshot, at: SettingsAt, collection: string) =>
    entriesOf(snapshot, at, indexDirectory, under(options.root, indexDirectory, collection))

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
        for (const entry of yield* indexEntries(snapshot, at, collection)) {
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

  return {
    filesOf,
    indexFile: (snapshot, at, collection, name) =>
      at.settings.format === 2
        ? Effect.succeed(undefined)
        : Effect.map(
            indexEntries(snapshot, at, collection),
            (entries) => entries.find(({ path }) => path === `${name}.json`)?.oid
          ),
    cache,
    indexPath,
    manifestPath,
    indexTreePath,
    manifestTreePath,
    treesOf,
    treePaths: (collection, settings) => {
      const { indexes, manifest } = treesOf(collection, settings)
      return [...indexes, ...(manifest === undefined ? [] : [manifest])].map(({ path }) => path)
    },
    branchIndex: (path) => seen.get(path),
    cacheBranchIndex: (path, found) => void seen.set(path, found),
    index: (snapshot, collection, name, oid) =>
      Effect.map(
        load(cache.indexes, snapshot, indexPath(collection, name), oid, parseIndex),
        (parsed) => parsed?.value
      )
  }
}

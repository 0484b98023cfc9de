import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type ReadError, ValidationError } from "../../../domain/errors/StoreError.js"
import { collectionNameProblem } from "../../../domain/identifiers/CollectionName.js"
import {
  plainLayout,
  type Settings,
  sameLayout,
  settingsFileName
} from "../../../domain/settings/Settings.js"
import { documentPath, under } from "../../DocumentPath.js"
import type { Change, GitRemoteService, PrefetchRequest } from "../../remote/GitRemote.js"
import type { ResolvedOptions } from "../../StoreOptions.js"
import { type Derived, type DerivedFiles, indexDirectory, manifestDirectory } from "../derived/Derived.js"
import * as FormatChange from "../derived/FormatChange.js"
import { headerName, rowsName } from "../ordered-tree/Header.js"
import {
  directoryProblem,
  formatProblem,
  type RepositorySettings,
  type SettingsAt
} from "../snapshot/RepositorySettings.js"
import type { Snapshot } from "../snapshot/Snapshot.js"
import type { DocumentEdit } from "./DocumentEdit.js"

export interface EditDependencies {
  readonly remote: GitRemoteService
  readonly options: ResolvedOptions
  readonly repository: RepositorySettings
  readonly derived: Derived
}

/** The consequences of a snapshot's settings for an edit, before documents are read. */
export interface EditPlan {
  readonly settings: SettingsAt
  /** Whether the edit writes the settings file: none is recorded, or the edit changes it. */
  readonly writesSettings: boolean
  /** Collections whose index and manifest files are rebuilt. */
  readonly reindex: ReadonlyArray<string>
  /** Index and manifest files of the other format, which are removed. */
  readonly obsoleteFiles: ReadonlyArray<Change>
  /** Index and manifest files of the collections that the edit changes. */
  readonly derivedFiles: ReadonlyMap<string, DerivedFiles>
}

const collectionsOf = (documents: ReadonlyArray<{ readonly collection: string }>): Iterable<string> =>
  new Set(documents.map(({ collection }) => collection))

/** Whether settings require index or manifest files of a collection that an edit changes. */
const writesDerivedFiles = ({ indexes, manifests }: Settings, { operations }: DocumentEdit): boolean =>
  Array.from(collectionsOf(operations)).some(
    (collection) => (indexes.get(collection) ?? []).length > 0 || manifests.has(collection)
  )

/**
 * Whether an edit, by the last known settings, writes one document without other preconditions and without derived
 * files.
 */
export const writesOneDocument = ({ repository }: EditDependencies, edit: DocumentEdit): boolean =>
  edit.operations.length === 1 &&
  edit.mode === "document" &&
  (edit.preconditions ?? []).length === 0 &&
  edit.reindex === undefined &&
  !writesDerivedFiles(repository.lastRead().settings, edit)

/** The collection that contains a path of the repository; undefined if none does. */
export const collectionAt = (root: string, path: string): string | undefined => {
  if (root !== "" && !path.startsWith(`${root}/`)) return undefined
  const [collection = "", ...inside] = (root === "" ? path : path.slice(root.length + 1)).split("/")
  return inside.length > 0 && collectionNameProblem(collection) === undefined ? collection : undefined
}

/** If an edit has more documents, they are not prefetched: they are read in bulk. */
const maxPrefetchedDocuments = 100

/** The paths that building an edit will read, according to the last known settings. */
export const prefetchPaths = (
  { derived, options, repository }: EditDependencies,
  edit: DocumentEdit
): PrefetchRequest => {
  const { root } = options
  const { recorded, settings } = repository.lastRead()
  const documents = [...edit.operations, ...(edit.preconditions ?? [])]
  const reindex = edit.reindex === "all" ? [] : (edit.reindex ?? [])
  const collections = new Set([...documents.map(({ collection }) => collection), ...reindex])
  const files = [under(root, settingsFileName)]
  const trees = [root]
  const smallDirectories: Array<string> = []
  for (const collection of collections) {
    // Until the settings are read, any file of these directories may be an index or a manifest.
    if (!recorded) {
      smallDirectories.push(
        under(root, indexDirectory, collection),
        under(root, manifestDirectory, collection)
      )
      files.push(derived.manifestPath(collection))
    }
    if (settings.shardDepth === 0) trees.push(under(root, collection))
    const indexes = settings.indexes.get(collection) ?? []
    const hasManifest = settings.manifests.has(collection)
    if (settings.format === 2) {
      for (const tree of derived.treePaths(collection, settings)) {
        files.push(`${tree}/${headerName}`)
        trees.push(tree, `${tree}/${rowsName}`)
        smallDirectories.push(tree)
      }
      continue
    }
    if (indexes.length > 0) trees.push(under(root, indexDirectory, collection))
    for (const { name } of indexes) files.push(derived.indexPath(collection, name))
    if (hasManifest) {
      trees.push(under(root, manifestDirectory))
      files.push(derived.manifestPath(collection))
    }
  }
  if (documents.length <= maxPrefetchedDocuments) {
    for (const { collection, id } of documents) files.push(documentPath(root, settings, collection, id))
  }
  return { files, directories: [...new Set(trees)], smallDirectories }
}

/**
 * Refuses a sharded layout for a collection whose documents are stored in the plain one, where the store would not find
 * them.
 */
export const refuseOtherLayout = (
  { options }: EditDependencies,
  snapshot: Snapshot,
  { entries, settings }: SettingsAt
) =>
  Effect.gen(function* () {
    if (sameLayout(settings, plainLayout)) return
    for (const [name, entry] of entries) {
      if (entry.kind !== "tree" || name.startsWith("_") || name.startsWith(".")) continue
      const found = yield* snapshot.directory(under(options.root, name))
      const files = Option.isSome(found) ? found.value.tree.entries : []
      if (files.some((file) => /^[^_.].*\.json$/.test(file.path))) {
        return yield* new ValidationError({
          operation: "Store.write",
          collection: name,
          message: `${name} contains documents in the plain layout: a sharded store would not find them`,
          hint: "omit the shard options, or move the documents in a commit first"
        })
      }
    }
  })

const collectionsWithDerivedFiles = ({
  settings: { indexes, manifests }
}: SettingsAt): ReadonlyArray<string> => Array.from(new Set([...indexes.keys(), ...manifests.keys()]))

const collectionsWithUniqueIndex = ({ settings: { indexes } }: SettingsAt): ReadonlyArray<string> =>
  Array.from(indexes).flatMap(([collection, list]) => (list.some(({ unique }) => unique) ? [collection] : []))

/**
 * The settings of a snapshot. If they require derived files that were not prefetched, because other settings were known
 * before, these are prefetched now. The snapshot is then pinned: derived files are read at a commit.
 */
const readSettings = (
  dependencies: EditDependencies,
  edit: DocumentEdit,
  snapshot: Snapshot
): Effect.Effect<SettingsAt, ReadError> =>
  Effect.gen(function* () {
    const { repository } = dependencies
    const prefetched = repository.lastRead().settings
    const found = yield* repository.at(snapshot)
    const isPrefetched = snapshot.isPinned() && found.settings === prefetched
    if (isPrefetched || found.mismatch !== undefined || !writesDerivedFiles(found.settings, edit))
      return found
    yield* snapshot.prefetch(() => prefetchPaths(dependencies, edit))
    yield* snapshot.head
    return yield* repository.at(snapshot)
  })

/** Checks the settings of a snapshot, and determines their consequences for an edit. */
export const planEdit = (
  dependencies: EditDependencies,
  edit: DocumentEdit,
  snapshot: Snapshot
): Effect.Effect<EditPlan, ReadError> =>
  Effect.gen(function* () {
    const { derived } = dependencies
    const found = yield* readSettings(dependencies, edit, snapshot)
    if (found.mismatch !== undefined) return yield* found.mismatch
    if (found.frozen !== undefined) {
      return yield* new ValidationError({
        operation: edit.operation,
        message: found.frozen,
        hint: "use a newer version of this program to write"
      })
    }
    const changed = edit.settings ?? found.settings
    const { missingDerived = [], preconditions = [], format = changed.format, operations } = edit
    const isOtherFormat = format !== found.settings.format
    // In a repository without settings, format 2 is introduced for all collections at once, including those for which
    // other programs have written index files.
    const begins = !found.recorded && format === 2
    const adopted =
      begins && edit.settings === undefined && snapshot.isPinned()
        ? yield* FormatChange.adoptForeignFiles(dependencies, snapshot, found)
        : changed
    const changesSettings = isOtherFormat || edit.settings !== undefined
    const settings =
      changesSettings || begins
        ? { ...found, recorded: found.recorded || changesSettings, settings: { ...adopted, format } }
        : found
    const unheld = formatProblem(settings.settings, edit.operation)
    if (unheld !== undefined) return yield* unheld
    for (const collection of collectionsOf([...operations, ...preconditions])) {
      const problem = directoryProblem(dependencies.options, found, edit.operation, collection)
      if (problem !== undefined) return yield* problem
    }
    const isOfAll = edit.reindex === "all" || begins
    // The commit that records a unique index also checks the documents that existed before.
    const judged = found.unrecorded ? collectionsWithUniqueIndex(settings) : []
    const named = isOfAll
      ? collectionsWithDerivedFiles(settings)
      : [...new Set([...(edit.reindex ?? []), ...judged])]
    // A collection without documents has no index files, but may have had some.
    const isThere = (name: string) => found.entries.get(name)?.kind === "tree"
    const reindex = named.filter((name) => isThere(name) || (!isOfAll && !judged.includes(name)))
    const other = { ...settings.settings, format: format === 1 ? (2 as const) : (1 as const) }
    const obsoleteFiles = yield* FormatChange.removeFiles(dependencies, snapshot, other, named)
    const derivedFiles = new Map<string, DerivedFiles>()
    const beside = (edit.files ?? []).flatMap(
      ({ path }) => collectionAt(dependencies.options.root, path) ?? []
    )
    for (const collection of new Set([
      ...collectionsOf([...operations, ...missingDerived]),
      ...reindex,
      ...beside
    ])) {
      derivedFiles.set(collection, yield* derived.filesOf(snapshot, settings, collection))
    }
    return {
      settings,
      writesSettings: found.unrecorded || changesSettings,
      reindex,
      obsoleteFiles,
      derivedFiles
    }
  })

/** Whether the edit writes neither settings nor index or manifest files. */
export const changesOnlyDocuments = ({ derivedFiles, writesSettings }: EditPlan) =>
  !writesSettings &&
  Array.from(derivedFiles.values()).every(
    ({ indexes, manifest }) => indexes.size === 0 && manifest === undefined
  )

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { collectionNameProblem } from "../../domain/CollectionName.js"
import type { DocumentChange } from "../../domain/IndexFile.js"
import type { Oid } from "../../domain/Oid.js"
import { plainLayout, printSettings, sameLayout, settingsFileName } from "../../domain/Settings.js"
import { documentIn } from "../../domain/SpelledJson.js"
import {
  type ReadError,
  type UniqueViolation,
  ValidationError,
  type WriteError
} from "../../domain/StoreError.js"
import * as Timestamp from "../../domain/Timestamp.js"
import { pathProblem } from "../../git/Names.js"
import { documentPath, under } from "../DocumentPath.js"
import type { Change, Committed, GitRemoteService, NewCommit, Wants } from "../remote/GitRemote.js"
import type { ResolvedOptions } from "../StoreOptions.js"
import { type Derived, type DerivedFiles, indexDirectory, manifestDirectory } from "./Derived.js"
import type { Derivation } from "./DerivedFile.js"
import { derive, type Touched } from "./DerivedWrites.js"
import * as FormatChange from "./FormatChange.js"
import * as Judgement from "./Judgement.js"
import { listAt } from "./Listing.js"
import { headerName, rowsName } from "./ordered-tree/Header.js"
import {
  directoryProblem,
  type RepositorySettings,
  type SettingsAt,
  unheldProblem
} from "./RepositorySettings.js"
import type { Snapshot } from "./Snapshot.js"
import * as Uniqueness from "./Uniqueness.js"
import { versionOf } from "./Versions.js"
import {
  type DocumentOperation,
  messageOf,
  nameOf,
  type OperationOutcome,
  type StoredVersion,
  type Unit
} from "./WriteUnit.js"

/** What an edit of documents is made with. */
export interface EditParts {
  readonly remote: GitRemoteService
  readonly options: ResolvedOptions
  readonly repository: RepositorySettings
  readonly derived: Derived
}

/** A unit as it is to be committed on the snapshot that it was built on. */
export interface EditedUnit {
  readonly settings: SettingsAt
  readonly outcomes: ReadonlyArray<Judgement.Prepared>
  readonly commit: Option.Option<NewCommit>
  /** What became of the operations, once the ids of their blobs are known. */
  readonly outcome: (blobs: ReadonlyMap<string, Oid>) => ReadonlyArray<OperationOutcome>
  /** Remembers what was committed. */
  readonly committed: (made: Pick<Committed, "commit" | "blobs">) => void
}

/** Whether a unit writes one document on no condition but its own, as far as the options tell. */
const writesOneDocument = ({ options: { given } }: EditParts, unit: Unit): boolean => {
  const [operation] = unit.operations
  return (
    unit.operations.length === 1 &&
    operation !== undefined &&
    unit.mode === "document" &&
    (unit.expectations ?? []).length === 0 &&
    unit.reindex === undefined &&
    (given.indexes?.get(operation.collection) ?? []).length === 0 &&
    given.manifests?.has(operation.collection) !== true
  )
}

/** What the settings of a snapshot make of a unit, before its documents are looked at. */
interface Plan {
  readonly settings: SettingsAt
  /** Whether the settings are to be written, since they are recorded nowhere or the unit changes them. */
  readonly records: boolean
  /** Collections whose index and manifest files are made anew. */
  readonly reindex: ReadonlyArray<string>
  /** Files of another format, which go. */
  readonly outdated: ReadonlyArray<Change>
  /** Index and manifest files of the collections that the unit touches. */
  readonly files: ReadonlyMap<string, DerivedFiles>
}

const collectionsOf = (documents: ReadonlyArray<{ readonly collection: string }>): Iterable<string> =>
  new Set(documents.map(({ collection }) => collection))

/** The collection in whose directory a path of the repository lies, if it lies in one. */
const collectionAt = (root: string, path: string): string | undefined => {
  if (root !== "" && !path.startsWith(`${root}/`)) return undefined
  const [collection = "", ...inside] = (root === "" ? path : path.slice(root.length + 1)).split("/")
  return inside.length > 0 && collectionNameProblem(collection) === undefined ? collection : undefined
}

/** Documents beyond this many are not asked for beforehand: they are read in bulk. */
const mostWanted = 100

/** What the build of a unit will read, as far as the settings last seen tell. */
export const wantsOf = ({ derived, options, repository }: EditParts, unit: Unit): Wants => {
  const { root } = options
  const { settings } = repository.lastSeen()
  const documents = [...unit.operations, ...(unit.expectations ?? [])]
  const reindex = unit.reindex === "all" ? [] : (unit.reindex ?? [])
  const collections = new Set([...documents.map(({ collection }) => collection), ...reindex])
  const files = [under(root, settingsFileName)]
  const trees = [root]
  for (const collection of collections) {
    if (settings.shardDepth === 0) trees.push(under(root, collection))
    const indexes = settings.indexes.get(collection) ?? []
    const hasManifest = settings.manifests.has(collection)
    if (settings.format === 2) {
      for (const tree of derived.treePaths(collection, settings)) {
        files.push(`${tree}/${headerName}`)
        trees.push(tree, `${tree}/${rowsName}`)
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
  if (documents.length <= mostWanted) {
    for (const { collection, id } of documents) files.push(documentPath(root, settings, collection, id))
  }
  return { files, trees: [...new Set(trees)] }
}

/** Documents that the plain layout put where a store with another layout would never see them. */
const refuseOtherLayout = ({ options }: EditParts, snapshot: Snapshot, { entries, settings }: SettingsAt) =>
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
          message: `${name} holds documents in the plain layout: a sharded store would not see them`,
          hint: "leave the shard options out, or move the documents in a commit first"
        })
      }
    }
  })

/** The collections that have indexes or a manifest by the settings. */
const namedIn = ({ settings: { indexes, manifests } }: SettingsAt): ReadonlyArray<string> =>
  Array.from(new Set([...indexes.keys(), ...manifests.keys()]))

const withUnique = ({ settings: { indexes } }: SettingsAt): ReadonlyArray<string> =>
  Array.from(indexes).flatMap(([collection, list]) => (list.some(({ unique }) => unique) ? [collection] : []))

const plan = (parts: EditParts, unit: Unit, snapshot: Snapshot): Effect.Effect<Plan, ReadError> =>
  Effect.gen(function* () {
    const { derived, repository } = parts
    const found = yield* repository.at(snapshot)
    if (found.mismatch !== undefined) return yield* found.mismatch
    if (found.frozen !== undefined) {
      return yield* new ValidationError({
        operation: unit.operation,
        message: found.frozen,
        hint: "use a newer version of this program to write"
      })
    }
    const changed = unit.settings ?? found.settings
    const { behind = [], expectations = [], format = changed.format, operations } = unit
    const isOtherFormat = format !== found.settings.format
    // Trees begin for the whole repository at once, where other programs may have left index files.
    const begins = !found.recorded && format === 2
    const adopted =
      begins && snapshot.isPinned() ? yield* FormatChange.adopted(parts, snapshot, found) : changed
    const records = isOtherFormat || unit.settings !== undefined
    const settings =
      records || begins
        ? { ...found, recorded: found.recorded || records, settings: { ...adopted, format } }
        : found
    const unheld = unheldProblem(settings.settings, unit.operation)
    if (unheld !== undefined) return yield* unheld
    for (const collection of collectionsOf([...operations, ...expectations])) {
      const problem = directoryProblem(parts.options, found, unit.operation, collection)
      if (problem !== undefined) return yield* problem
    }
    const isOfAll = unit.reindex === "all" || begins
    // Documents that were there before a unique index are judged by the commit that records it.
    const judged = found.unrecorded ? withUnique(settings) : []
    const named = isOfAll ? namedIn(settings) : [...new Set([...(unit.reindex ?? []), ...judged])]
    // What has no documents has no index, but may have had one.
    const isThere = (name: string) => found.entries.get(name)?.kind === "tree"
    const reindex = named.filter((name) => isThere(name) || (!isOfAll && !judged.includes(name)))
    const other = { ...settings.settings, format: format === 1 ? (2 as const) : (1 as const) }
    const outdated = yield* FormatChange.removals(parts, snapshot, other, named)
    const files = new Map<string, DerivedFiles>()
    const beside = (unit.files ?? []).flatMap(({ path }) => collectionAt(parts.options.root, path) ?? [])
    for (const collection of new Set([...collectionsOf([...operations, ...behind]), ...reindex, ...beside])) {
      files.set(collection, yield* derived.filesOf(snapshot, settings, collection))
    }
    return { settings, records: found.unrecorded || records, reindex, outdated, files }
  })

/** Whether the unit's own documents are all that it writes. */
const isPlain = ({ files, records }: Plan) =>
  !records &&
  Array.from(files.values()).every(({ indexes, manifest }) => indexes.size === 0 && manifest === undefined)

/** Documents as a snapshot has them, by the names of those that are there. */
export const readVersions = (
  { options, remote, repository }: Pick<EditParts, "options" | "remote" | "repository">,
  snapshot: Snapshot,
  documents: ReadonlyArray<
    Pick<DocumentOperation, "collection" | "id"> & { readonly needs?: DocumentOperation["needs"] }
  >
): Effect.Effect<ReadonlyMap<string, StoredVersion>, ReadError> =>
  Effect.gen(function* () {
    const { settings } = yield* repository.at(snapshot)
    const found = new Map<string, StoredVersion>()
    const wanted = new Map<string, string>()
    for (const document of documents) {
      const { collection, id } = document
      const path = documentPath(options.root, settings, collection, id)
      // The layout may have no place for an id: there is nothing to read, and the judgement says so.
      if (pathProblem(path) === undefined) wanted.set(path, nameOf(document))
    }
    if (wanted.size === 0) return found
    if (wanted.size === 1) {
      for (const [path, name] of wanted) {
        const expect = documents[0]?.needs === "absent" ? "absent" : "known"
        const file = yield* snapshot.file(path, { expect })
        if (Option.isSome(file)) found.set(name, versionOf(path, file.value))
      }
      return found
    }
    const { concurrency } = options
    const keep = ({
      content,
      oid,
      path
    }: {
      readonly path: string
      readonly oid: Oid
      readonly content: Uint8Array
    }) =>
      Effect.sync(() => {
        const name = wanted.get(path)
        if (name !== undefined) found.set(name, versionOf(path, { oid, content }))
      })
    const head = yield* snapshot.head
    const each = remote.estimate({ _tag: "Read", documents: wanted.size })
    if (Option.isNone(head) || each <= remote.estimate({ _tag: "List", entries: wanted.size })) {
      yield* Stream.runForEach(snapshot.files([...wanted.keys()], { concurrency }), keep)
      return found
    }
    // Their directories tell which of them are there, by fewer requests than asking for each.
    const files: Array<{ readonly path: string; readonly oid: Oid }> = []
    for (const path of wanted.keys()) snapshot.reads.files.set(path, null)
    for (const collection of new Set(documents.map(({ collection }) => collection))) {
      const directory = under(options.root, collection)
      const listing = yield* listAt(remote, head.value, directory, settings)
      for (const path of wanted.keys()) {
        if (!path.startsWith(`${directory}/`)) continue
        const oid = listing.find(path.slice(directory.length + 1))
        if (oid === undefined) continue
        snapshot.reads.files.set(path, oid)
        files.push({ path, oid })
      }
    }
    if (files.length > 0) yield* Stream.runForEach(remote.blobs(head.value, files, { concurrency }), keep)
    return found
  })

/** A document as an operation finds it and as it leaves it. */
export const changeOf = ({ after, before, id }: Judgement.Prepared): DocumentChange => {
  const was = Option.getOrUndefined(before)
  return { id, document: after?.spelled ?? after?.document, before: was && (() => documentIn(was.content)) }
}

/** What a unit does to each collection, for its index and manifest files. */
const touchedBy = (
  root: string,
  unit: Unit,
  reindex: ReadonlyArray<string>,
  prepared: ReadonlyArray<Judgement.Prepared>
): ReadonlyArray<Touched> => {
  const { onRead } = unit
  const touched = new Map<
    string,
    {
      collection: string
      documents: Array<DocumentChange>
      changes: Array<Change>
      rebuild: boolean
      onRead: typeof onRead
    }
  >()
  const of = (collection: string) => {
    const known = touched.get(collection)
    if (known !== undefined) return known
    const made = { collection, documents: [], changes: [], rebuild: false, onRead }
    touched.set(collection, made)
    return made
  }
  for (const one of prepared) {
    if (one.change === undefined) continue
    const entry = of(one.collection)
    entry.changes.push(one.change)
    entry.documents.push(changeOf(one))
  }
  for (const collection of reindex) of(collection).rebuild = true
  // Files of a collection's directory that are no documents are part of the tree that its indexes name.
  for (const change of unit.files ?? []) {
    const collection = collectionAt(root, change.path)
    if (collection !== undefined) of(collection).changes.push(change)
  }
  return [...touched.values(), ...(unit.behind ?? [])]
}

/** The error for values that two documents would share, with the versions of the documents that have them. */
const violationOf = (
  parts: EditParts,
  unit: Unit,
  snapshot: Snapshot,
  found: ReadonlyArray<UniqueViolation>
) =>
  Effect.gen(function* () {
    const others = Uniqueness.othersIn(found)
    const versions = yield* readVersions(parts, snapshot, others)
    const conflicts = others.map(({ collection, id }) => {
      const version = versions.get(nameOf({ collection, id }))
      return { collection, id, actual: Judgement.describe(version) }
    })
    return yield* Uniqueness.violationError(unit.operation, found, unit.reindex !== undefined, conflicts)
  })

/**
 * Builds a unit on a snapshot: judges it against the documents that are there, computes the next versions, and derives
 * index and manifest files. Whatever writes more than its own one document, or is refused by the settings, is built on
 * a commit.
 */
export const edit = (
  parts: EditParts,
  unit: Unit,
  snapshot: Snapshot,
  conflicts: Judgement.Conflicts
): Effect.Effect<EditedUnit, WriteError> =>
  Effect.gen(function* () {
    const { options } = parts
    const { unnoted } = snapshot
    const onCommit = Effect.zipRight(
      snapshot.prefetch(() => wantsOf(parts, unit)),
      snapshot.head
    )
    if (!writesOneDocument(parts, unit)) yield* onCommit
    let planned = yield* Effect.either(plan(parts, unit, unnoted))
    const needsCommit =
      planned._tag === "Left" ? planned.left instanceof ValidationError : !isPlain(planned.right)
    if (needsCommit && !snapshot.isPinned()) {
      yield* onCommit
      planned = yield* Effect.either(plan(parts, unit, unnoted))
    }
    if (planned._tag === "Left") return yield* planned.left
    const { files, records, settings } = planned.right
    const now = unit.moment ?? new Date(yield* Timestamp.now(unit.operation)).toISOString()
    const stored = yield* readVersions(parts, snapshot, [...unit.operations, ...(unit.expectations ?? [])])
    yield* Judgement.countConflicts(unit, conflicts, stored)
    yield* Judgement.judgeExpectations(unit, stored)
    const outcomes = yield* Judgement.prepare(options.root, settings.settings, unit, stored, now)
    // Operations that come to nothing make no commit, not even for the indexes that a first commit begins.
    const isIdle =
      unit.reindex === undefined &&
      unit.files === undefined &&
      unit.behind === undefined &&
      outcomes.every(({ change }) => !change)
    const { outdated, reindex } = isIdle ? { outdated: [], reindex: [] } : planned.right
    const changes: Array<Change> = [...outdated, ...(unit.files ?? [])]
    for (const { change } of outcomes) if (change !== undefined) changes.push(change)
    const derivations: Array<Derivation> = []
    for (const touched of touchedBy(options.root, unit, reindex, outcomes)) {
      const its = files.get(touched.collection)
      if (its === undefined) continue
      const derivation = yield* derive(parts, unnoted, settings, touched, its, now)
      derivations.push(derivation)
      for (const change of derivation.changes) changes.push(change)
    }
    const found = derivations.flatMap(({ violations = [] }) => violations)
    if (found.length > 0) return yield* violationOf(parts, unit, snapshot, found)
    const record = records && (changes.length > 0 || unit.reindex !== undefined)
    if (record) {
      if (settings.unrecorded) yield* refuseOtherLayout(parts, unnoted, settings)
      const path = under(options.root, settingsFileName)
      changes.push({ _tag: "Put", path, content: printSettings(settings.settings) })
    }
    const commit: NewCommit = {
      message: messageOf(
        unit,
        outcomes.map(({ before }) => before)
      ),
      changes,
      merges: unit.merges,
      author: unit.author ?? options.author,
      committer: options.committer
    }
    const keepsRootFiles =
      !record && unit.files === undefined && derivations.every(({ changes }) => changes.length === 0)
    const parent = keepsRootFiles ? Option.fromNullable(snapshot.known()?.commit) : Option.none()
    return {
      settings,
      outcomes,
      commit: changes.length === 0 && unit.merges === undefined ? Option.none() : Option.some(commit),
      outcome: (blobs: ReadonlyMap<string, Oid>) =>
        outcomes.map((one) => Judgement.outcomeOf(one, blobs.get(one.path))),
      committed: ({ blobs, commit: made }: Pick<Committed, "commit" | "blobs">) => {
        for (const { committed } of derivations) committed(blobs)
        parts.repository.keptRootFiles(parent, made)
      }
    } satisfies EditedUnit
  })

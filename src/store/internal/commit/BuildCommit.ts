import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type UniqueViolation, ValidationError, type WriteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { DocumentChange } from "../../../domain/indexes/IndexFile.js"
import { parseLosslessOrEmpty } from "../../../domain/json/LosslessJson.js"
import { type Layout, printSettings, settingsFileName } from "../../../domain/settings/Settings.js"
import * as Timestamp from "../../../domain/time/Timestamp.js"
import { under } from "../../DocumentPath.js"
import type { Change, Committed, NewCommit } from "../../remote/GitRemote.js"
import type { Derivation } from "../derived/DerivedFile.js"
import { type CollectionWrite, deriveFiles } from "../derived/DerivedWrites.js"
import * as Uniqueness from "../derived/Uniqueness.js"
import type { SettingsAt } from "../snapshot/RepositorySettings.js"
import type { Snapshot } from "../snapshot/Snapshot.js"
import { commitMessage, type DocumentEdit, nameOfDocument, type OperationOutcome } from "./DocumentEdit.js"
import {
  changesOnlyDocuments,
  collectionAt,
  type EditDependencies,
  planEdit,
  prefetchPaths,
  refuseOtherLayout,
  writesOneDocument
} from "./EditPlan.js"
import * as Preconditions from "./Preconditions.js"
import { operationOutcome, type PreparedOperation, prepareOperations } from "./PreparedOperation.js"
import { readStoredVersions } from "./StoredVersions.js"

/** The commit that an edit makes on one snapshot. */
export interface BuiltCommit {
  readonly settings: SettingsAt
  readonly prepared: ReadonlyArray<PreparedOperation>
  readonly commit: Option.Option<NewCommit>
  /** The outcomes of the operations, given the ids of the written blobs. */
  readonly outcomes: (blobs: ReadonlyMap<string, Oid>) => ReadonlyArray<OperationOutcome>
  /** Updates the caches after the commit was made. */
  readonly onCommitted: (made: Pick<Committed, "commit" | "blobs">) => void
}

/** The document before and after an operation. */
export const documentChange = ({ after, before, id }: PreparedOperation): DocumentChange => {
  const was = Option.getOrUndefined(before)
  return {
    id,
    document: after?.lossless ?? after?.document,
    before: was && (() => parseLosslessOrEmpty(was.content))
  }
}

/** If a path is both removed and put (a document replaced by a file, or the reverse), only the put remains. */
const withoutReplaced = (changes: ReadonlyArray<Change>): ReadonlyArray<Change> => {
  const put = new Set(changes.flatMap(({ _tag, path }) => (_tag === "Remove" ? [] : [path])))
  const submodules = new Set(
    changes.flatMap((change) => (change._tag === "Remove" && change.mode === "160000" ? [change.path] : []))
  )
  return changes.flatMap((change): ReadonlyArray<Change> => {
    if (change._tag === "Remove") return put.has(change.path) ? [] : [change]
    const replacesSubmodule = change._tag === "Put" && submodules.has(change.path)
    return [replacesSubmodule ? { ...change, replacesSubmodule } : change]
  })
}

/** The changes of each collection, from which its index and manifest files are derived. */
const collectionWrites = (
  root: string,
  edit: DocumentEdit,
  reindex: ReadonlyArray<string>,
  prepared: ReadonlyArray<PreparedOperation>
): ReadonlyArray<CollectionWrite> => {
  const { onRead } = edit
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
    const existing = touched.get(collection)
    if (existing !== undefined) return existing
    const created = { collection, documents: [], changes: [], rebuild: false, onRead }
    touched.set(collection, created)
    return created
  }
  for (const one of prepared) {
    if (one.change === undefined) continue
    const entry = of(one.collection)
    entry.changes.push(one.change)
    entry.documents.push(documentChange(one))
  }
  for (const collection of reindex) of(collection).rebuild = true
  // Other files in a collection's directory are part of the tree that its indexes record.
  for (const change of edit.files ?? []) {
    const collection = collectionAt(root, change.path)
    if (collection !== undefined) of(collection).changes.push(change)
  }
  return [
    ...Array.from(touched.values(), (one) => ({ ...one, changes: withoutReplaced(one.changes) })),
    ...(edit.missingDerived ?? [])
  ]
}

/** The error for values that two documents would share, with the versions of the other documents. */
const uniqueViolationError = (
  dependencies: EditDependencies,
  edit: DocumentEdit,
  snapshot: Snapshot,
  layout: Layout,
  found: ReadonlyArray<UniqueViolation>
) =>
  Effect.gen(function* () {
    const others = Uniqueness.othersIn(found)
    const versions = yield* readStoredVersions(dependencies, snapshot, layout, others)
    const conflicts = others.map(({ collection, id }) => {
      const version = versions.get(nameOfDocument({ collection, id }))
      return { collection, id, actual: Preconditions.describeVersion(version) }
    })
    return yield* Uniqueness.violationError(edit.operation, found, edit.reindex !== undefined, conflicts)
  })

/**
 * Builds the commit of an edit on a snapshot: checks the preconditions, computes the next versions, and derives index
 * and manifest files. An edit that writes more than one document, or that the settings refuse, is built on a pinned
 * commit.
 */
export const buildCommit = (
  dependencies: EditDependencies,
  edit: DocumentEdit,
  snapshot: Snapshot,
  conflicts: Preconditions.ConflictCount
): Effect.Effect<BuiltCommit, WriteError> =>
  Effect.gen(function* () {
    const { options } = dependencies
    const { untracked } = snapshot
    const onCommit = Effect.zipRight(
      snapshot.prefetch(() => prefetchPaths(dependencies, edit)),
      snapshot.head
    )
    if (snapshot.isPinned() || !writesOneDocument(dependencies, edit)) yield* onCommit
    let planned = yield* Effect.either(planEdit(dependencies, edit, untracked))
    const needsCommit =
      planned._tag === "Left" ? planned.left instanceof ValidationError : !changesOnlyDocuments(planned.right)
    if (needsCommit && !snapshot.isPinned()) {
      yield* onCommit
      planned = yield* Effect.either(planEdit(dependencies, edit, untracked))
    }
    if (planned._tag === "Left") return yield* planned.left
    const { derivedFiles, writesSettings, settings } = planned.right
    const now = edit.derivedAt ?? new Date(yield* Timestamp.now(edit.operation)).toISOString()
    const touched = [...edit.operations, ...(edit.preconditions ?? [])]
    const stored = yield* readStoredVersions(dependencies, snapshot, settings.settings, touched)
    yield* Preconditions.countConflicts(edit, conflicts, stored)
    yield* Preconditions.checkPreconditions(edit, stored)
    const prepared = yield* prepareOperations(options.root, settings.settings, edit, stored, now)
    // Operations without changes make no commit, even if a first commit would create indexes.
    const isIdle =
      edit.reindex === undefined &&
      edit.files === undefined &&
      edit.missingDerived === undefined &&
      prepared.every(({ change }) => !change)
    const { obsoleteFiles, reindex } = isIdle ? { obsoleteFiles: [], reindex: [] } : planned.right
    const changes: Array<Change> = [...obsoleteFiles, ...(edit.files ?? [])]
    for (const { change } of prepared) if (change !== undefined) changes.push(change)
    const derivations: Array<Derivation> = []
    for (const touched of collectionWrites(options.root, edit, reindex, prepared)) {
      const files = derivedFiles.get(touched.collection)
      if (files === undefined) continue
      const derivation = yield* deriveFiles(dependencies, untracked, settings, touched, files, now)
      derivations.push(derivation)
      for (const change of derivation.changes) changes.push(change)
    }
    const found = derivations.flatMap(({ violations = [] }) => violations)
    if (found.length > 0)
      return yield* uniqueViolationError(dependencies, edit, snapshot, settings.settings, found)
    const record = writesSettings && (changes.length > 0 || edit.reindex !== undefined)
    if (record) {
      if (settings.unrecorded) yield* refuseOtherLayout(dependencies, untracked, settings)
      const path = under(options.root, settingsFileName)
      changes.push({ _tag: "Put", path, content: printSettings(settings.settings) })
    }
    const commit: NewCommit = {
      message: commitMessage(
        edit,
        prepared.map(({ before }) => before)
      ),
      changes: edit.files === undefined ? changes : withoutReplaced(changes),
      merges: edit.merges,
      author: edit.author ?? options.author,
      committer: options.committer
    }
    const keepsRootFiles =
      !record && edit.files === undefined && derivations.every(({ changes }) => changes.length === 0)
    const parent = keepsRootFiles ? Option.fromNullable(snapshot.known()?.commit) : Option.none()
    return {
      settings,
      prepared,
      commit: changes.length === 0 && edit.merges === undefined ? Option.none() : Option.some(commit),
      outcomes: (blobs: ReadonlyMap<string, Oid>) =>
        prepared.map((one) => operationOutcome(one, blobs.get(one.path))),
      onCommitted: ({ blobs, commit: made }: Pick<Committed, "commit" | "blobs">) => {
        for (const { onCommitted } of derivations) onCommitted(blobs)
        dependencies.repository.inheritRoot(parent, made)
      }
    } satisfies BuiltCommit
  })

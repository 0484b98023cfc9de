import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { blobSides, submodulesOf } from "../../../git/Tree.js"
import { locate } from "../../DocumentPath.js"
import type { FileMode, Head, PathChange } from "../../remote/GitRemote.js"
import { snapshotAt, snapshotOf } from "../../remote/RemoteSnapshot.js"
import type { StoredVersion } from "../commit/DocumentEdit.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { readVersion } from "../commit/VersionCodec.js"
import type { RecordedSettings } from "../snapshot/RepositorySettings.js"
import { makeSnapshot } from "../snapshot/Snapshot.js"
import { keyOf } from "./OperationQueue.js"

export interface DocumentFile {
  readonly path: string
  readonly oid: Oid
  readonly mode: FileMode
}

/** A document that differs between two commits, with its file in each; undefined if it is missing there. */
export interface ChangedDocument {
  readonly collection: string
  readonly id: string
  readonly before: DocumentFile | undefined
  readonly after: DocumentFile | undefined
}

export interface Changes {
  readonly documents: ReadonlyArray<ChangedDocument>
  /** Documents whose files differ only in their modes. */
  readonly modes: ReadonlyArray<ChangedDocument>
  /** Collections whose index or manifest files differ. */
  readonly derived: ReadonlySet<string>
  /** Changed paths that do not belong to the store. */
  readonly others: ReadonlyArray<string>
  /** The changes of these paths. */
  readonly files: ReadonlyArray<PathChange>
  /** The settings of both commits. */
  readonly settings: { readonly before: RecordedSettings; readonly after: RecordedSettings }
}

/** The documents and files that differ between two commits; none is the empty tree. */
export const changesBetween = (
  core: StoreCore,
  before: Option.Option<Head>,
  after: Head
): Effect.Effect<Changes, ReadError> =>
  Effect.gen(function* () {
    const { root } = core.options
    const changes = yield* core.remote.diff(before, after)
    const settings = {
      before: yield* core.repository.at(makeSnapshot(snapshotOf(core.remote, before))),
      after: yield* core.repository.at(makeSnapshot(snapshotAt(core.remote, after)))
    }
    const documents = new Map<string, { -readonly [K in keyof ChangedDocument]: ChangedDocument[K] }>()
    const derived = new Set<string>()
    const files: Array<PathChange> = []
    const entry = (place: { readonly collection: string; readonly id: string }) => {
      const key = keyOf(place.collection, place.id)
      const found = documents.get(key) ?? { ...place, before: undefined, after: undefined }
      documents.set(key, found)
      return found
    }
    for (const change of changes) {
      const { modes, path } = change
      const { after, before } = blobSides(change)
      const was = Option.isSome(before) ? locate(root, settings.before.settings, path) : undefined
      const is = Option.isSome(after) ? locate(root, settings.after.settings, path) : undefined
      if (was !== undefined && Option.isSome(before)) {
        entry(was).before = { path, oid: before.value, mode: modes?.before ?? "100644" }
      }
      if (is !== undefined && Option.isSome(after)) {
        entry(is).after = { path, oid: after.value, mode: modes?.after ?? "100644" }
      }
      if (was !== undefined || is !== undefined) {
        // A submodule at the path of a document is a file that does not belong to the store.
        const submodule = submodulesOf(change)
        if (submodule !== undefined) files.push(submodule)
        continue
      }
      const inside = root === "" ? path : path.startsWith(`${root}/`) ? path.slice(root.length + 1) : ""
      const derivedFrom = /^_index\/([^/]+)\/|^_manifest\/(?:([^/]+)\.json$|([^/]+)\/)/.exec(inside)
      if (derivedFrom === null) files.push(change)
      else derived.add((derivedFrom[1] ?? derivedFrom[2] ?? derivedFrom[3])!)
    }
    const all = Array.from(documents.values())
    return {
      // A document that moved unchanged to another shard has not changed.
      documents: all.filter(({ after, before }) => before?.oid !== after?.oid),
      modes: all.filter(({ after, before }) => before?.oid === after?.oid && before?.mode !== after?.mode),
      derived,
      others: files.map(({ path }) => path),
      files,
      settings
    }
  })

/** The versions of some files of a commit, by path. */
export const versionsAt = (
  core: StoreCore,
  at: Head,
  files: ReadonlyArray<Pick<DocumentFile, "oid" | "path">>
): Effect.Effect<ReadonlyMap<string, StoredVersion>, ReadError> =>
  Stream.runFoldEffect(
    core.remote.blobs(at, files, { concurrency: core.options.concurrency }),
    new Map<string, StoredVersion>(),
    (all, blob) => Effect.map(readVersion(blob.path, blob), (version) => all.set(blob.path, version))
  )

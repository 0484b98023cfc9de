import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { FileEntry } from "../../../git/Tree.js"
import type { FileMode, Head } from "../../remote/GitRemote.js"
import { snapshotAt } from "../../remote/RemoteSnapshot.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { makeSnapshot } from "../snapshot/Snapshot.js"
import { changesBetween } from "../write/ChangedDocuments.js"
import { keyOf } from "../write/OperationQueue.js"
import { type SettingValues, valuesOf } from "./MergeSettings.js"

/** The file of a document, or another file. */
export interface MergedItem {
  readonly path: string
  readonly document: { readonly collection: string; readonly id: string } | undefined
}

/** An item that differs between two trees, with its files; undefined if it is missing. */
export interface ItemChange extends MergedItem {
  readonly before: FileEntry | undefined
  readonly after: FileEntry | undefined
}

export const sameFile = (a: FileEntry | undefined, b: FileEntry | undefined): boolean =>
  a?.oid === b?.oid && a?.mode === b?.mode

/** The tree of a commit, with changes if it was merged from several merge bases. */
export interface MergeTree {
  readonly head: Head
  /** Items that differ from the tree of `head`, by key. */
  readonly changed: ReadonlyMap<string, ItemChange>
  /** Blobs that no repository contains. */
  readonly blobs: ReadonlyMap<Oid, Uint8Array>
  readonly settings: SettingValues
}

export type ItemChanges = ReadonlyMap<string, ItemChange>

export const nameOfItem = ({ document, path }: MergedItem): string =>
  document === undefined ? `file ${path}` : keyOf(document.collection, document.id)

/** The tree of a commit. */
export const treeOfCommit = (core: StoreCore, head: Head): Effect.Effect<MergeTree, ReadError> =>
  Effect.map(core.repository.at(makeSnapshot(snapshotAt(core.remote, head))), (found) => ({
    head,
    changed: new Map(),
    blobs: new Map(),
    settings: valuesOf(found)
  }))

/** The items that differ between two commits, without settings, indexes and manifests. */
const itemsBetween = (
  core: StoreCore,
  before: Option.Option<Head>,
  after: Head,
  settingsPath: string
): Effect.Effect<ItemChanges, ReadError> =>
  Effect.map(changesBetween(core, before, after), ({ documents, files, modes }) => {
    const items = new Map<string, ItemChange>()
    for (const { after, before, collection, id } of [...documents, ...modes]) {
      const { path } = (after ?? before)!
      items.set(keyOf(collection, id), { path, document: { collection, id }, before, after })
    }
    const fileOf = (oid: Option.Option<Oid>, mode: FileMode = "100644"): FileEntry | undefined =>
      Option.getOrUndefined(Option.map(oid, (found) => ({ oid: found, mode })))
    for (const { after, before, modes, path } of files) {
      if (path === settingsPath) continue
      const item: ItemChange = {
        path,
        document: undefined,
        before: fileOf(before, modes?.before),
        after: fileOf(after, modes?.after)
      }
      items.set(nameOfItem(item), item)
    }
    return items
  })

/** The items that differ between two trees; undefined is the empty tree. */
export const changesOf = (
  core: StoreCore,
  base: MergeTree | undefined,
  side: MergeTree,
  settingsPath: string
): Effect.Effect<ItemChanges, ReadError> =>
  Effect.map(
    itemsBetween(core, Option.fromNullable(base?.head), side.head, settingsPath),
    (plain): ItemChanges => {
      const before = base?.changed ?? new Map<string, ItemChange>()
      if (before.size + side.changed.size === 0) return plain
      const changes = new Map(plain)
      for (const key of new Set([...before.keys(), ...side.changed.keys()])) {
        const [was, is, between] = [before.get(key), side.changed.get(key), plain.get(key)]
        const from = was !== undefined ? was.after : between !== undefined ? between.before : is!.before
        const to = is !== undefined ? is.after : between !== undefined ? between.after : was!.before
        if (sameFile(from, to)) changes.delete(key)
        else changes.set(key, { ...(is ?? between ?? was)!, before: from, after: to })
      }
      return changes
    }
  )

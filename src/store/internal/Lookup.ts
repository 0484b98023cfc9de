import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Json } from "../../domain/Document.js"
import { isDocumentId } from "../../domain/DocumentId.js"
import { type IndexDefinition, isPlainIndex, plainIndex } from "../../domain/IndexDefinition.js"
import { type IndexFile, parseIndex } from "../../domain/IndexFile.js"
import { keysOf, lookupKeys } from "../../domain/IndexKey.js"
import { lazy } from "../../domain/Lazy.js"
import { emptyTree, type Oid } from "../../domain/Oid.js"
import { settingsFileName } from "../../domain/Settings.js"
import type { SpelledObject } from "../../domain/SpelledJson.js"
import type { ReadError } from "../../domain/StoreError.js"
import { under } from "../DocumentPath.js"
import { indexDirectory, treeOf } from "./Derived.js"
import { type LookupPlan, scanOf } from "./LookupPlan.js"
import { headerName, rowsName } from "./ordered-tree/Header.js"
import type { RecordedSettings } from "./RepositorySettings.js"
import type { Snapshot, StoreCore } from "./StoreCore.js"

/** Loaded where a repository has trees. */
export const treeLookups = lazy(() => import("./TreeLookup.js"))

interface Found {
  readonly index: IndexFile
  readonly tree: Oid
}

/** The plain index of a field: one of the field's own name before others. */
const indexOf = (indexes: Iterable<IndexDefinition>, field: string): IndexDefinition | undefined => {
  const fit = Array.from(indexes).filter((index) => isPlainIndex(index) && index.fields[0]!.path === field)
  return fit.find(({ name }) => name === field) ?? fit[0]
}

/** The index file and the collection's tree, both at one commit. */
const atCommit = (core: StoreCore, snapshot: Snapshot, collection: string, name: string) =>
  Effect.gen(function* () {
    const settings = yield* core.repository.at(snapshot)
    const files = yield* core.derived.filesOf(snapshot, settings, collection)
    const oid = files.indexes.get(name)?.oid
    if (oid === undefined) return undefined
    const index = yield* core.derived.index(snapshot, collection, name, oid)
    if (index === undefined) return undefined
    const tree = treeOf(settings, collection)
    return { index, tree } satisfies Found
  })

/**
 * The same by the branch's name, in two requests, or in one where the root shows that neither the collection nor any
 * index file has changed since: a commit in between shows as a stale index.
 */
const byName = (core: StoreCore, snapshot: Snapshot, collection: string, name: string) =>
  Effect.gen(function* () {
    const path = core.derived.indexPath(collection, name)
    const root = Effect.suspend(() => core.snapshot().unnoted.directory(core.options.root))
    const look = Effect.map(root, (root) => {
      const treeAt = (name: string) =>
        Option.isNone(root)
          ? undefined
          : root.value.tree.entries.find((entry) => entry.kind === "tree" && entry.path === name)?.oid
      return { indexes: treeAt(indexDirectory), tree: treeAt(collection) ?? emptyTree }
    })
    const { indexes, tree } = yield* look
    if (indexes === undefined) return undefined
    const remembered = core.derived.seenIndex(path)
    if (remembered?.under === indexes && remembered.index.tree === tree) {
      return { index: remembered.index, tree } satisfies Found
    }
    const file = yield* snapshot.file(path)
    if (Option.isNone(file)) return undefined
    const index = parseIndex(file.value.content)
    if (index === undefined) return undefined
    core.derived.sawIndex(path, { under: indexes, index })
    if (index.tree === undefined || index.tree === tree) return { index, tree } satisfies Found
    // The index was read later than the root: one more look tells a commit in between from an index that is stale.
    return { index, tree: (yield* look).tree } satisfies Found
  })

/** Decides between index and scan for one question, and finds the candidates: a look at the whole collection. */
export const lookup = (
  core: StoreCore,
  snapshot: Snapshot,
  collection: string,
  field: string,
  value: Json
): Effect.Effect<LookupPlan, ReadError> =>
  Effect.gen(function* () {
    const { root } = core.options
    snapshot.reads.directories.add(under(root, collection))
    /** The name of the index; without recorded settings another program may keep one. */
    const nameIn = ({ recorded, settings }: RecordedSettings) =>
      indexOf(settings.indexes.get(collection) ?? [], field)?.name ?? (recorded ? undefined : field)
    const settings = yield* core.settings(snapshot)
    const name = nameIn(settings)
    if (name === undefined) return scanOf(`${field} is not indexed`)
    if (settings.settings.format === 2) {
      const tree = core.derived.indexTreePath(collection, name)
      yield* snapshot.prefetch(() => ({
        files: [under(root, settingsFileName), `${tree}/${headerName}`],
        trees: [root, tree, `${tree}/${rowsName}`]
      }))
      yield* snapshot.head
      const pinned = yield* core.repository.at(snapshot)
      const index = indexOf(pinned.settings.indexes.get(collection) ?? [], field)
      if (pinned.recorded && index === undefined) return scanOf(`${field} is not indexed`)
      if (pinned.settings.format === 2) {
        const { treeLookup } = yield* treeLookups
        return yield* treeLookup(core, snapshot, pinned, collection, index ?? plainIndex(field), value)
      }
    }
    const path = core.derived.indexPath(collection, name)
    if (Array.isArray(value) && value.length === 0) return scanOf("no index holds an empty list", path)
    yield* snapshot.prefetch(() => ({
      files: [under(root, settingsFileName), path],
      trees: [root, under(root, indexDirectory, collection)]
    }))
    const found = yield* (snapshot.isPinned() ? atCommit : byName)(core, snapshot.unnoted, collection, name)
    if (found === undefined) return scanOf(`${field} has no index file`)
    const { index, tree } = found
    if (index.tree === undefined && !core.options.trustForeignIndexes) {
      return scanOf(
        "another program wrote the index: it does not name the version that it describes",
        path,
        false
      )
    }
    if (index.tree !== undefined && index.tree !== tree) {
      return scanOf("the index is stale: somebody else changed the collection", path, false)
    }
    if (index.field !== undefined && index.field !== field) {
      return scanOf(`the index file ${path} is of the field ${index.field}`, path, false)
    }
    const keys = lookupKeys(value, index.values) ?? []
    // A file edited by hand may name what is no id, and never becomes a path.
    const ids = [...new Set(keys.flatMap((key) => index.values.get(key) ?? []))].filter(isDocumentId).sort()
    const names = (_id: string, document: SpelledObject) =>
      Object.hasOwn(document, field) && keysOf(document[field]).some((key) => keys.includes(key))
    const reason =
      index.tree === undefined
        ? `${field} is indexed by another program, which is trusted`
        : `${field} is indexed`
    const current = index.tree !== undefined
    return { _tag: "Index", reason, index: path, current, ids, exact: current, names }
  })

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Json } from "../../domain/Document.js"
import { isDocumentId } from "../../domain/DocumentId.js"
import type { IndexDefinition } from "../../domain/IndexDefinition.js"
import { afterPrefix, equalKeys } from "../../domain/OrderKey.js"
import type { ReadError } from "../../domain/StoreError.js"
import { under } from "../DocumentPath.js"
import { changedBlobs } from "./CollectionChanges.js"
import { treeOf } from "./Derived.js"
import { rowsOfIndex, rowsOfManifest, treeAt } from "./DerivedTree.js"
import { type LookupPlan, scanOf } from "./LookupPlan.js"
import type { BrokenTree } from "./ordered-tree/BrokenTree.js"
import * as Scan from "./ordered-tree/Scan.js"
import type { StoredTree } from "./ordered-tree/StoredTree.js"
import { readerOf } from "./SnapshotReader.js"
import type { SettingsAt, Snapshot, StoreCore } from "./StoreCore.js"

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

/** The rows, from one key to before another, of documents whose field equals a value or is a list that contains it. */
const rangesOf = (value: Json): ReadonlyArray<readonly [string, string]> => {
  const values = isList(value) && value.length > 0 ? [value, value[0]!] : [value]
  return values.map((one) => {
    const [least, greatest] = equalKeys(one)
    return [least, afterPrefix(greatest)]
  })
}

/** The ids in the rows of some ranges. */
const idsIn = (
  tree: StoredTree<ReadError>,
  ranges: ReadonlyArray<readonly [string, string]>
): Effect.Effect<Set<string>, ReadError | BrokenTree> =>
  Stream.runFold(
    Stream.flatMap(Stream.fromIterable(ranges), ([from, until]) => Scan.scan(tree, { from, until })),
    new Set<string>(),
    (ids, { row }) => {
      const id = String(row["_id"])
      // A file edited by hand may name what is no id, and never becomes a path.
      return isDocumentId(id) ? ids.add(id) : ids
    }
  )

/**
 * Finds candidates by a plain index of format 2, in a snapshot that is pinned. Where other programs have changed documents
 * without the index, what differs from the version that it describes is added to the candidates.
 */
export const treeLookup = (
  core: StoreCore,
  snapshot: Snapshot,
  settings: SettingsAt,
  collection: string,
  index: IndexDefinition,
  value: Json
): Effect.Effect<LookupPlan, ReadError> =>
  Effect.gen(function* () {
    const path = core.derived.indexTreePath(collection, index.name)
    const field = index.fields[0]!.path
    const rows = rowsOfIndex(index)
    const state = yield* treeAt(readerOf(core, snapshot.unnoted), core.derived.known.trees, { path, rows })
    if (state._tag === "Missing") return scanOf(`${field} has no index files`)
    if (state._tag === "Damaged") {
      return scanOf(`the index is damaged: ${state.problem.message}`, path, false)
    }
    const current = treeOf(settings, collection)
    const recorded = state.tree.header.tree
    const changed =
      recorded === current
        ? Option.some([])
        : yield* changedBlobs(core.remote, settings.settings, recorded, current)
    if (Option.isNone(changed)) {
      return scanOf("the index is behind, and what has changed since cannot be told", path, false)
    }
    const ranges = rangesOf(value)
    const found = yield* Effect.either(idsIn(state.tree, ranges))
    if (found._tag === "Left") {
      const error = found.left
      if (error._tag !== "BrokenTree") return yield* error
      return scanOf(`the index is damaged: ${error.message}`, path, false)
    }
    const ids = found.right
    const differing = new Set<string>()
    for (const { after, id } of changed.value) {
      differing.add(id)
      if (after === undefined) ids.delete(id)
      else ids.add(id)
    }
    const isCurrent = changed.value.length === 0
    return {
      _tag: "Index",
      reason: isCurrent
        ? `${field} is indexed`
        : `${field} is indexed; ${changed.value.length} documents changed without the index, and are looked at as well`,
      index: path,
      current: isCurrent,
      ids: [...ids].sort(),
      exact: true,
      names: (id, document) =>
        differing.has(id) ||
        Array.from(rows.of("", document).keys()).some((key) =>
          ranges.some(([from, until]) => key >= from && key < until)
        )
    } satisfies LookupPlan
  })

/** How many documents a collection has, by the header of its manifest; none where that describes other documents. */
export const countByManifest = (
  core: StoreCore,
  snapshot: Snapshot,
  settings: SettingsAt,
  collection: string
): Effect.Effect<Option.Option<number>, ReadError> =>
  Effect.gen(function* () {
    const fields = settings.settings.manifests.get(collection)
    if (settings.settings.format !== 2 || fields === undefined) return Option.none()
    snapshot.reads.directories.add(under(core.options.root, collection))
    const path = core.derived.manifestTreePath(collection)
    const rows = rowsOfManifest(fields)
    const state = yield* treeAt(readerOf(core, snapshot.unnoted), core.derived.known.trees, { path, rows })
    return state._tag === "Whole" && state.tree.header.tree === treeOf(settings, collection)
      ? Option.some(state.tree.header.count)
      : Option.none()
  })

import * as Effect from "effect/Effect"
import type { ReadError } from "../../domain/errors/StoreError.js"
import { collectionNameProblem } from "../../domain/identifiers/CollectionName.js"
import { emptyTree, type Oid } from "../../domain/identifiers/Oid.js"
import type { IndexDefinition } from "../../domain/indexes/IndexDefinition.js"
import { compareCodePoints } from "../../domain/text/CodePointOrder.js"
import type { StoredIndex } from "../View.js"
import type { SettingsAt, Snapshot, StoreCore } from "./commit/StoreCore.js"
import { collectionTree } from "./derived/Derived.js"
import { openTreeAt, rowsOfIndex } from "./derived/DerivedTree.js"
import { treeReader } from "./derived/SnapshotReader.js"

/** The number of rows of an index, and the tree of the collection that it describes. */
interface Stored {
  readonly rows: number | undefined
  readonly tree: Oid | undefined
}

const damaged: Stored = { rows: undefined, tree: undefined }

/** A missing index is correct for an empty collection. */
const absentFrom = (current: Oid): Stored => (current === emptyTree ? { rows: 0, tree: emptyTree } : damaged)

const inTree = (core: StoreCore, snapshot: Snapshot, path: string, index: IndexDefinition, current: Oid) =>
  openTreeAt(treeReader(core, snapshot), core.derived.cache.trees, { path, rows: rowsOfIndex(index) }).pipe(
    Effect.map((state): Stored => {
      if (state._tag !== "Whole") return state._tag === "Missing" ? absentFrom(current) : damaged
      const { count, tree } = state.tree.header
      return { rows: count, tree }
    })
  )

const describe = (
  collection: string,
  path: string,
  { fields, name, unique, where }: IndexDefinition,
  { rows, tree }: Stored,
  current: Oid
): StoredIndex => ({
  collection,
  name,
  fields: fields.map(({ order, path }) => ({ field: path, order })),
  unique,
  where: where && Object.fromEntries(where),
  path,
  rows,
  current: tree === current
})

const ofCollection = (core: StoreCore, snapshot: Snapshot, at: SettingsAt, collection: string) =>
  Effect.gen(function* () {
    const { derived } = core
    const current = collectionTree(at, collection)
    if (at.settings.format === 2) {
      return yield* Effect.forEach(derived.treesOf(collection, at.settings).indexes, ({ index, path }) =>
        Effect.map(inTree(core, snapshot, path, index, current), (stored) =>
          describe(collection, path, index, stored, current)
        )
      )
    }
    const { indexes } = yield* derived.filesOf(snapshot, at, collection)
    return yield* Effect.forEach(indexes.values(), ({ definition, oid }) =>
      Effect.gen(function* () {
        const { name } = definition
        const file = oid === undefined ? undefined : yield* derived.index(snapshot, collection, name, oid)
        const stored =
          oid === undefined
            ? absentFrom(current)
            : file === undefined
              ? damaged
              : file.field === undefined || file.field === definition.fields[0]!.path
                ? { rows: file.ids.size, tree: file.tree }
                : damaged
        return describe(collection, derived.indexPath(collection, name), definition, stored, current)
      })
    )
  })

/** The indexes of all collections at one commit. */
export const listIndexes = (core: StoreCore): Effect.Effect<ReadonlyArray<StoredIndex>, ReadError> =>
  Effect.gen(function* () {
    const snapshot = core.snapshot()
    yield* snapshot.head
    yield* core.settings(snapshot)
    const at = yield* core.repository.at(snapshot)
    // Without recorded settings another program may maintain indexes.
    const others = at.recorded
      ? []
      : [...at.entries.values()].filter(
          ({ kind, path }) => kind === "tree" && collectionNameProblem(path) === undefined
        )
    const names = new Set([...at.settings.indexes.keys(), ...others.map(({ path }) => path)])
    const found = yield* Effect.forEach([...names].sort(compareCodePoints), (collection) =>
      ofCollection(core, snapshot.untracked, at, collection)
    )
    return found.flat()
  }).pipe(Effect.withSpan("Store.indexes"))

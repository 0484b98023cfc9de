import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Steps from "../../../domain/concurrency/Steps.js"
import { type ReadError, ValidationError } from "../../../domain/errors/StoreError.js"
import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import {
  definitionText,
  type IndexDefinition,
  indexHolds,
  indexPaths
} from "../../../domain/indexes/IndexDefinition.js"
import type { DocumentChange } from "../../../domain/indexes/IndexFile.js"
import { valueAt } from "../../../domain/json/FieldPath.js"
import type { LosslessObject } from "../../../domain/json/LosslessJson.js"
import { indexable } from "../../../domain/json/LosslessJson.js"
import { makeInMemory, type TemporaryFile } from "../../../git/TemporaryFile.js"
import type { Change } from "../../remote/GitRemote.js"
import { applyEdits } from "../ordered-tree/ApplyEdits.js"
import { BrokenTree } from "../ordered-tree/BrokenTree.js"
import { buildTree } from "../ordered-tree/Build.js"
import { externalSort } from "../ordered-tree/ExternalSort.js"
import { fileEdits, filesIn } from "../ordered-tree/FileEdits.js"
import { headerName } from "../ordered-tree/Header.js"
import { hasTooMany, indexRows, keyOfRows } from "../ordered-tree/IndexRows.js"
import { type Entry, entryOf, type Row } from "../ordered-tree/Leaf.js"
import { type ReadSteps, runAllSteps } from "../ordered-tree/ReadSteps.js"
import { firstWithin } from "../ordered-tree/Scan.js"
import { StoredTree } from "../ordered-tree/StoredTree.js"
import type { TreeCache } from "../ordered-tree/TreeCache.js"
import type { TreeEdit } from "../ordered-tree/TreeEdit.js"
import { formatLimits } from "../ordered-tree/TreeLimits.js"
import type { TreeReader } from "../ordered-tree/TreeReader.js"
import {
  type DerivedFile,
  encodingError,
  noDerivation,
  type Rebuild,
  type StoredFields,
  type UpdateSteps
} from "./DerivedFile.js"
import { type UniqueIndex, violationsInOrder } from "./Uniqueness.js"

/** Maps documents to the rows of a tree. */
export interface RowMapping {
  /** The paths in documents on which the rows depend. */
  readonly fields: ReadonlyArray<string>
  readonly keyOf: (row: Row) => string
  /** Identifies the key function: equal rows have different keys in indexes of different orders. */
  readonly keys: string
  /** The definition of the index, as the header records it: see `Header`. */
  readonly definition: string | undefined
  /** Why the tree cannot contain a document; undefined if it can. */
  readonly problem: (document: LosslessObject) => string | undefined
  /** The rows of a document, by their keys. */
  readonly rowsOf: (id: string, document: LosslessObject) => ReadonlyMap<string, Row>
}

const own = (document: LosslessObject, field: string) =>
  Object.hasOwn(document, field) ? document[field] : undefined

const noRows: ReadonlyMap<string, Row> = new Map()

/** The rows of an index. */
export const rowsOfIndex = (index: IndexDefinition): RowMapping => ({
  fields: indexPaths(index),
  keyOf: keyOfRows(index.fields),
  keys: JSON.stringify(index.fields.map(({ order, path }) => [path, order])),
  definition: definitionText(index),
  problem: (document) =>
    indexHolds(index, document) && hasTooMany(index.fields, (path) => valueAt(document, path))
      ? `its lists have too many combinations for the index ${index.name}`
      : undefined,
  rowsOf: (id, document) =>
    indexHolds(index, document) ? indexRows(index.fields, id, (path) => valueAt(document, path)) : noRows
})

/** The rows of a manifest: one for each document. */
export const rowsOfManifest = (fields: ReadonlyArray<string>): RowMapping => {
  const keyOf = keyOfRows([])
  return {
    fields,
    keyOf,
    keys: "",
    definition: undefined,
    problem: () => undefined,
    rowsOf: (id, document) => {
      const members = fields.flatMap((field) => {
        const value = indexable(own(document, field))
        return value === undefined ? [] : [[field, value] as const]
      })
      const row: Row = Object.fromEntries([...members, ["_id", id]])
      return new Map([[keyOf(row), row]])
    }
  }
}

/** An index or a manifest of format 2. */
export interface TreeDefinition {
  /** The directory of the tree. */
  readonly path: string
  readonly rows: RowMapping
  /** The definition, if it is a unique index. */
  readonly unique?: IndexDefinition | undefined
}

/** The state of a tree in a snapshot. */
export type TreeState =
  | { readonly _tag: "Missing" }
  | { readonly _tag: "Damaged"; readonly problem: BrokenTree }
  | { readonly _tag: "Whole"; readonly tree: StoredTree<ReadError> }

function* openStored<E>(
  reader: TreeReader<E>,
  cache: TreeCache,
  { path, rows }: TreeDefinition
): ReadSteps<StoredTree<E> | undefined> {
  const cached = { headers: cache.headers, leaves: cache.leaves(rows.keys) }
  const tree = yield* StoredTree.open({ reader, path, keyOf: rows.keyOf, known: cached })
  if (tree === undefined || tree.header.index === rows.definition) return tree
  throw new BrokenTree({
    path: headerName,
    message: `${headerName} is of an index that is defined otherwise`
  })
}

/** Opens several trees together. */
export const openTrees = (
  reader: TreeReader<ReadError>,
  cache: TreeCache,
  places: ReadonlyArray<TreeDefinition>
): Effect.Effect<ReadonlyArray<TreeState>, ReadError> =>
  Effect.map(
    runAllSteps(
      reader,
      places.map((place) => () => openStored(reader, cache, place))
    ),
    (all) =>
      all.map(
        Either.match({
          onLeft: (problem): TreeState => ({ _tag: "Damaged", problem }),
          onRight: (tree): TreeState => (tree === undefined ? { _tag: "Missing" } : { _tag: "Whole", tree })
        })
      )
  )

export const openTreeAt = (
  reader: TreeReader<ReadError>,
  cache: TreeCache,
  place: TreeDefinition
): Effect.Effect<TreeState, ReadError> => Effect.map(openTrees(reader, cache, [place]), ([state]) => state!)

/** The unique index of a tree. */
const uniqueTree = (
  collection: string,
  definition: IndexDefinition,
  stored: StoredTree<ReadError> | undefined
): UniqueIndex => ({
  collection,
  definition,
  holders: (values, except) =>
    stored === undefined
      ? Effect.succeedSome(new Map())
      : firstWithin(stored, values.keys(), (row) => !except.has(String(row["_id"]))).pipe(
          Effect.map((found) =>
            Option.some(new Map(Array.from(found, ([key, row]) => [key, String(row["_id"])])))
          ),
          Effect.catchTag("BrokenTree", () => Effect.succeedNone)
        )
})

/** Opens a temporary file for rows that do not fit in memory. */
export type OpenTemporaryFile = Effect.Effect<TemporaryFile, ReadError, Scope.Scope>

const changeOf = (root: string, edit: TreeEdit): Change => {
  const path = `${root}/${edit.path}`
  if (edit._tag === "Put") return { _tag: "Put", path, content: edit.content }
  return edit._tag === "Link" ? { _tag: "Link", path, oid: edit.oid } : { _tag: "Remove", path }
}

/** An index or a manifest of format 2, as stored in a snapshot: a tree of small files. */
export const derivedTree = (
  reader: TreeReader<ReadError>,
  collection: string,
  { path, rows, unique }: TreeDefinition,
  state: TreeState,
  temporaryFile: OpenTemporaryFile = Effect.sync(makeInMemory)
): DerivedFile => {
  const stored = state._tag === "Whole" ? state.tree : undefined

  const rejection = (id: string, document: LosslessObject) => {
    const problem = rows.problem(document)
    return problem === undefined
      ? undefined
      : new ValidationError({
          operation: "Store.write",
          path,
          collection,
          id,
          message: `${collection}/${id} cannot be indexed: ${problem}`,
          hint: "shorten the lists, or index their fields one by one"
        })
  }

  const entriesOf = (id: string, document: LosslessObject): Either.Either<Array<Entry>, ValidationError> => {
    const refusal = rejection(id, document)
    if (refusal !== undefined) return Either.left(refusal)
    return Either.mapLeft(
      Either.all(Array.from(rows.rowsOf(id, document).values(), (row) => entryOf(row, rows.keyOf))),
      encodingError(path, collection)
    )
  }

  function* entriesOfAll(
    documents: ReadonlyArray<StoredFields>
  ): Steps.Steps<{ readonly entries: Array<Entry>; readonly refused: ValidationError | undefined }> {
    const all: Array<Entry> = []
    let refused: ValidationError | undefined
    for (const { document, id } of documents) {
      yield
      const entries = entriesOf(id, document)
      if (Either.isLeft(entries)) refused ??= entries.left
      else for (const entry of entries.right) all.push(entry)
    }
    return { entries: all, refused }
  }

  /** The changes that replace the tree by one of these rows. */
  const replacedBy = (sorted: Stream.Stream<Entry, ReadError>, tree: Oid) =>
    Effect.gen(function* () {
      const before = new Map((yield* filesIn(reader, path)).map((file) => [file.path, file.oid]))
      const storedIds = new Set(before.values())
      const contents = new Map<Oid, Uint8Array>()
      const keep = (content: Uint8Array, oid: Oid) =>
        Effect.sync(() => {
          if (!storedIds.has(oid)) contents.set(oid, content)
        })
      const { files } = yield* buildTree(sorted, tree, keep, formatLimits, rows.definition)
      const changes: Array<Change> = []
      for (const file of files) {
        const at = `${path}/${file.path}`
        const content = contents.get(file.oid)
        if (content !== undefined) changes.push({ _tag: "Put", path: at, content })
        else if (before.get(file.path) !== file.oid) changes.push({ _tag: "Link", path: at, oid: file.oid })
        before.delete(file.path)
      }
      for (const gone of before.keys()) changes.push({ _tag: "Remove", path: `${path}/${gone}` })
      return changes
    })

  const rebuild: DerivedFile["rebuild"] = (tree, judged) =>
    Effect.map(externalSort(rows.keyOf, temporaryFile), (sort): Rebuild => {
      let refused: ValidationError | undefined
      return {
        add: (documents) =>
          Effect.gen(function* () {
            // A unique index goes on after a refused document, to find all duplicates: rows are compared as they are
            // sorted.
            if (refused !== undefined && unique === undefined) return
            const found = yield* Steps.run(() => entriesOfAll(documents))
            refused ??= found.refused
            yield* sort.add(found.entries)
          }),
        end: Effect.gen(function* () {
          const sorted = yield* sort.sorted
          const doubles = unique && violationsInOrder({ collection, definition: unique }, judged)
          const seen =
            doubles === undefined
              ? sorted
              : Stream.tap(sorted, ({ row }) => Effect.sync(() => doubles.add(row)))
          if (refused === undefined) {
            const changes = yield* replacedBy(seen, tree)
            return { made: Either.right({ ...noDerivation, changes }), violations: doubles?.end() }
          }
          if (doubles !== undefined) yield* Stream.runDrain(seen)
          return { made: Either.left(refused), violations: doubles?.end() }
        })
      }
    })

  function* update(documents: ReadonlyArray<DocumentChange>, tree: Oid): UpdateSteps {
    if (stored === undefined) return Either.right(Option.none())
    const edits = new Map<string, Entry | undefined>()
    for (const { before, id } of documents) {
      yield
      if (before !== undefined) for (const key of rows.rowsOf(id, before()).keys()) edits.set(key, undefined)
    }
    for (const { document, id } of documents) {
      yield
      if (document === undefined) continue
      const entries = entriesOf(id, document)
      if (Either.isLeft(entries)) return Either.left(entries.left)
      for (const entry of entries.right) edits.set(entry.key, entry)
    }
    const applied = yield* applyEdits(stored, edits, tree)
    const single = yield* fileEdits(path, applied.edits)
    const changes = single.map((edit) => changeOf(path, edit))
    return Either.right(Option.some({ ...noDerivation, changes }))
  }

  return {
    fields: rows.fields,
    unique: unique && uniqueTree(collection, unique, stored),
    recorded: state._tag === "Missing" ? emptyTree : stored?.header.tree,
    canCatchUp: stored !== undefined,
    rejection,
    update,
    rebuild
  }
}

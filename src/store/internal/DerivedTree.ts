import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { valueAt } from "../../domain/FieldPath.js"
import { definitionText, holds, type IndexDefinition, pathsOf } from "../../domain/IndexDefinition.js"
import type { DocumentChange } from "../../domain/IndexFile.js"
import { emptyTree, type Oid } from "../../domain/Oid.js"
import type { SpelledObject } from "../../domain/SpelledJson.js"
import { held } from "../../domain/SpelledJson.js"
import { type ReadError, ValidationError } from "../../domain/StoreError.js"
import type { Change } from "../remote/GitRemote.js"
import { type Derivation, type DerivedFile, nothing, unprintable } from "./DerivedFile.js"
import { apply } from "./ordered-tree/Apply.js"
import { BrokenTree } from "./ordered-tree/BrokenTree.js"
import { build } from "./ordered-tree/Build.js"
import { fileEdits, filesBelow } from "./ordered-tree/FileEdits.js"
import { headerName } from "./ordered-tree/Header.js"
import { hasTooMany, indexRows, keyOfRows } from "./ordered-tree/IndexRows.js"
import { type Entry, entryOf, type Row } from "./ordered-tree/Leaf.js"
import { formatLimits } from "./ordered-tree/Limits.js"
import type { Reader } from "./ordered-tree/Reader.js"
import { firstWithin } from "./ordered-tree/Scan.js"
import { StoredTree } from "./ordered-tree/StoredTree.js"
import type { TreeEdit } from "./ordered-tree/TreeEdit.js"
import type { Snapshot } from "./Snapshot.js"
import type { UniqueIndex } from "./Uniqueness.js"

/** What the rows of a tree are made of. */
export interface Rows {
  /** The paths of documents that they depend on. */
  readonly fields: ReadonlyArray<string>
  readonly keyOf: (row: Row) => string
  /** The definition that they follow, as the header has it: see `Header`. */
  readonly definition: string | undefined
  /** What is wrong with a document that cannot be in the tree, if anything. */
  readonly problem: (document: SpelledObject) => string | undefined
  /** The rows of a document, by their keys. */
  readonly of: (id: string, document: SpelledObject) => ReadonlyMap<string, Row>
}

const own = (document: SpelledObject, field: string) =>
  Object.hasOwn(document, field) ? document[field] : undefined

const noRows: ReadonlyMap<string, Row> = new Map()

/** The rows of an index. */
export const rowsOfIndex = (index: IndexDefinition): Rows => ({
  fields: pathsOf(index),
  keyOf: keyOfRows(index.fields),
  definition: definitionText(index),
  problem: (document) =>
    holds(index, document) && hasTooMany(index.fields, (path) => valueAt(document, path))
      ? `its lists have too many combinations for the index ${index.name}`
      : undefined,
  of: (id, document) =>
    holds(index, document) ? indexRows(index.fields, id, (path) => valueAt(document, path)) : noRows
})

/** The rows of a manifest: one for each document. */
export const rowsOfManifest = (fields: ReadonlyArray<string>): Rows => {
  const keyOf = keyOfRows([])
  return {
    fields,
    keyOf,
    definition: undefined,
    problem: () => undefined,
    of: (id, document) => {
      const members = fields.flatMap((field) => {
        const value = held(own(document, field))
        return value === undefined ? [] : [[field, value] as const]
      })
      const row: Row = Object.fromEntries([...members, ["_id", id]])
      return new Map([[keyOf(row), row]])
    }
  }
}

/** Reads the tree below a directory of a snapshot. */
export const readerAt = (snapshot: Snapshot, root: string, concurrency: number): Reader<ReadError> => {
  const at = (path: string) => (path === "" ? root : `${root}/${path}`)
  return {
    directory: (path) =>
      Effect.map(snapshot.directory(at(path)), (found) => {
        if (Option.isNone(found)) return undefined
        const { entries, oid } = found.value.tree
        return {
          oid,
          entries: entries.flatMap(({ kind, oid: id, path: name }) =>
            kind === "blob" || kind === "tree" ? [{ kind, oid: id, name }] : []
          )
        }
      }),
    files: (paths) =>
      Effect.map(
        Stream.runFold(
          snapshot.files(paths.map(at), { concurrency }),
          new Map<string, Uint8Array>(),
          (all, { content, path }) => all.set(path, content)
        ),
        (found) => paths.map((path) => found.get(at(path)))
      )
  }
}

/** Where an index or a manifest of format 2 lies, and how it is read. */
export interface TreePlace {
  readonly snapshot: Snapshot
  /** The directory of the tree. */
  readonly path: string
  readonly rows: Rows
  readonly concurrency: number
  /** The index that the rows are of, where it is unique. */
  readonly unique?: IndexDefinition | undefined
}

/** What a snapshot has of a tree: it is missing, damaged, or can be read. */
export type TreeState =
  | { readonly _tag: "Missing" }
  | { readonly _tag: "Damaged"; readonly problem: BrokenTree }
  | { readonly _tag: "Whole"; readonly tree: StoredTree<ReadError> }

/** Opens a tree of a snapshot. */
export const treeAt = ({
  concurrency,
  path,
  rows,
  snapshot
}: TreePlace): Effect.Effect<TreeState, ReadError> =>
  Effect.gen(function* () {
    const reader = readerAt(snapshot, path, concurrency)
    if ((yield* reader.directory("")) === undefined) return { _tag: "Missing" } as const
    return yield* StoredTree.open(reader, rows.keyOf).pipe(
      Effect.filterOrFail(
        ({ header }) => header.index === rows.definition,
        () =>
          new BrokenTree({
            path: headerName,
            message: `${headerName} is of an index that is defined otherwise`
          })
      ),
      Effect.map((tree): TreeState => ({ _tag: "Whole", tree })),
      Effect.catchTag("BrokenTree", (problem) => Effect.succeed<TreeState>({ _tag: "Damaged", problem }))
    )
  })

/** A unique index of format 2. */
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

/** An index or a manifest of format 2, as a snapshot has it: a tree of small files. */
export const derivedTree = (
  place: TreePlace & { readonly collection: string }
): Effect.Effect<DerivedFile, ReadError> =>
  Effect.gen(function* () {
    const { collection, concurrency, path, rows, snapshot } = place
    const reader = readerAt(snapshot, path, concurrency)
    const state = yield* treeAt(place)
    const stored = state._tag === "Whole" ? state.tree : undefined

    const entry = (row: Row) => Either.mapLeft(entryOf(row, rows.keyOf), unprintable(path, collection))

    const check = (id: string, document: SpelledObject) => {
      const problem = rows.problem(document)
      if (problem === undefined) return Effect.void
      return new ValidationError({
        operation: "Store.write",
        path,
        collection,
        id,
        message: `${collection}/${id} cannot be indexed: ${problem}`,
        hint: "shorten the lists, or index their fields one by one"
      })
    }

    const changeOf = (edit: TreeEdit): Change =>
      edit._tag === "Put"
        ? { _tag: "Put", path: `${path}/${edit.path}`, content: edit.content }
        : edit._tag === "Link"
          ? { _tag: "Link", path: `${path}/${edit.path}`, oid: edit.oid }
          : { _tag: "Remove", path: `${path}/${edit.path}` }

    const anew: DerivedFile["anew"] = (documents, tree) =>
      Effect.gen(function* () {
        const entries: Array<Entry> = []
        for (const { document, id } of documents) {
          if (document === undefined) continue
          yield* check(id, document)
          for (const row of rows.of(id, document).values()) entries.push(yield* entry(row))
        }
        entries.sort((a, b) => (a.key < b.key ? -1 : 1))
        const contents = new Map<Oid, Uint8Array>()
        const { files } = yield* build(
          Stream.fromIterable(entries),
          tree,
          (content, oid) => Effect.sync(() => contents.set(oid, content)),
          formatLimits,
          rows.definition
        )
        const before = new Map((yield* filesBelow(reader, "")).map((file) => [file.path, file.oid]))
        const changes: Array<Change> = []
        for (const file of files) {
          if (before.get(file.path) !== file.oid) {
            changes.push({ _tag: "Put", path: `${path}/${file.path}`, content: contents.get(file.oid)! })
          }
          before.delete(file.path)
        }
        for (const gone of before.keys()) changes.push({ _tag: "Remove", path: `${path}/${gone}` })
        return { ...nothing, changes } satisfies Derivation
      })

    const changed = (tree: StoredTree<ReadError>, documents: ReadonlyArray<DocumentChange>, of: Oid) =>
      Effect.gen(function* () {
        const edits = new Map<string, Entry | undefined>()
        for (const { before, id } of documents) {
          if (before !== undefined) for (const key of rows.of(id, before()).keys()) edits.set(key, undefined)
        }
        for (const { document, id } of documents) {
          if (document === undefined) continue
          yield* check(id, document)
          for (const [key, row] of rows.of(id, document)) edits.set(key, yield* entry(row))
        }
        const applied = yield* apply(tree, edits, of)
        const single = yield* fileEdits(reader, applied.edits)
        return { ...nothing, changes: single.map(changeOf) } satisfies Derivation
      })

    return {
      fields: rows.fields,
      unique: place.unique && uniqueTree(collection, place.unique, stored),
      recorded: state._tag === "Missing" ? emptyTree : stored?.header.tree,
      catchesUp: stored !== undefined,
      changed: (documents, tree) =>
        state._tag === "Missing"
          ? Effect.asSome(anew(documents, tree))
          : stored === undefined
            ? Effect.succeedNone
            : Effect.asSome(changed(stored, documents, tree)).pipe(
                Effect.catchTag("BrokenTree", () => Effect.succeedNone)
              ),
      anew
    }
  })

import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { type ReadError, type UniqueViolation, ValidationError } from "../../../domain/errors/StoreError.js"
import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import type { IndexDefinition } from "../../../domain/indexes/IndexDefinition.js"
import {
  applyToIndex,
  type DocumentChange,
  emptyIndex,
  type IndexFile,
  printIndex
} from "../../../domain/indexes/IndexFile.js"
import {
  applyToManifest,
  emptyManifest,
  type ManifestFile,
  printManifest
} from "../../../domain/indexes/ManifestFile.js"
import type { JsonProblem } from "../../../domain/json/CanonicalJson.js"
import { parseObject } from "../../../domain/json/JsonText.js"
import type { LosslessObject } from "../../../domain/json/LosslessJson.js"
import type { LruCache } from "../../../domain/runtime/LruCache.js"
import type { Change } from "../../remote/GitRemote.js"
import type { ReadSteps } from "../ordered-tree/ReadSteps.js"
import { type UniqueIndex, violationsAmong } from "./Uniqueness.js"

/** Changes of index and manifest files. */
export interface Derivation {
  readonly changes: ReadonlyArray<Change>
  /** Values that two documents would share: the edit must not be committed then. */
  readonly violations?: ReadonlyArray<UniqueViolation> | undefined
  readonly onCommitted: (blobs: ReadonlyMap<string, Oid>) => void
}

export const noDerivation: Derivation = { changes: [], onCommitted: () => {} }

/** The computation of an updated index or manifest. The computations of a collection run together. */
export type UpdateSteps = ReadSteps<Either.Either<Option.Option<Derivation>, ValidationError>>

/** An index or a manifest of a collection, as stored in a snapshot. */
export interface DerivedFile {
  /** The fields of documents that it contains. */
  readonly fields: ReadonlyArray<string>
  /** The tree of the collection that it describes. A missing file describes the empty tree, a damaged one none. */
  readonly recorded: Oid | undefined
  /** Whether it can be updated from its recorded tree to another one by the changed documents. */
  readonly canCatchUp: boolean
  /** Finds duplicates, if it is a unique index. */
  readonly unique: UniqueIndex | undefined
  /**
   * Updates it for changed documents; `tree` is the new tree of the collection. None if it is missing or damaged and
   * must be rebuilt.
   */
  readonly update: (documents: ReadonlyArray<DocumentChange>, tree: Oid) => UpdateSteps
  /** Why it cannot contain a document; undefined if it can. */
  readonly rejection: (id: string, document: LosslessObject) => ValidationError | undefined
  /**
   * Rebuilds it from all documents of a tree. A unique index checks the values of the `judged` documents, or of all.
   */
  readonly rebuild: (
    tree: Oid,
    judged: ReadonlyArray<DocumentChange> | undefined
  ) => Effect.Effect<Rebuild, never, Scope.Scope>
}

/** A rebuild in progress. Documents need not be kept in memory. */
export interface Rebuild {
  readonly add: (documents: ReadonlyArray<StoredFields>) => Effect.Effect<void, ReadError>
  /**
   * The result after all documents were added, or why it cannot be written; and the values that two documents would
   * share.
   */
  readonly end: Effect.Effect<
    {
      readonly made: Either.Either<Derivation, ValidationError>
      readonly violations: Derivation["violations"]
    },
    ReadError
  >
}

/** A document, reduced to the fields that indexes and manifests contain. */
export type StoredFields = { readonly id: string; readonly document: LosslessObject }

/** A parsed file with its bytes. */
export interface ParsedFile<A> {
  readonly oid: Oid
  readonly value: A
  readonly content: Uint8Array
}

/** Reads and writes the contents of single files. */
interface FileFormat<A> {
  readonly empty: A
  readonly with: (value: A, documents: ReadonlyArray<DocumentChange>) => A
  readonly print: (value: A, time: string, tree: Oid) => Either.Either<Uint8Array, JsonProblem>
}

/** The path of a single file, and its stored version. */
export interface SingleFile<A> {
  readonly collection: string
  readonly path: string
  /** Undefined if there is none. */
  readonly stored: ParsedFile<A> | undefined
  /** The cache of such files. */
  readonly known: LruCache<ParsedFile<A>>
  /** Whether documents change; if not, a file that would differ only in its time is not written. */
  readonly isTouched: boolean
  readonly now: string
}

/** The error for an index or a manifest that cannot be written because of a stored document. */
export const encodingError =
  (path: string, collection: string) =>
  ({ message, path: inside }: JsonProblem) =>
    new ValidationError({
      operation: "Store.write",
      path,
      collection,
      message: `${path} cannot be written: ${inside} ${message}`,
      hint: "a stored document has a number that JavaScript cannot represent in an indexed or listed field"
    })

const updatedAt = (content: Uint8Array): string | undefined =>
  Either.match(parseObject(content), {
    onLeft: () => undefined,
    onRight: (file) => (typeof file["updated_at"] === "string" ? file["updated_at"] : undefined)
  })

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at])

const singleFile = <A extends { readonly tree: Oid | undefined }>(
  { collection, isTouched, known, now, path, stored }: SingleFile<A>,
  fields: ReadonlyArray<string>,
  form: FileFormat<A>,
  unique?: UniqueIndex | undefined
): DerivedFile => {
  const write = (before: A, documents: ReadonlyArray<DocumentChange>, tree: Oid) =>
    Either.gen(function* () {
      const value = { ...form.with(before, documents), tree }
      const content = yield* Either.mapLeft(form.print(value, now, tree), encodingError(path, collection))
      if (!isTouched && stored !== undefined) {
        const time = updatedAt(stored.content)
        const same = time === undefined ? undefined : Either.getOrUndefined(form.print(value, time, tree))
        if (same !== undefined && sameBytes(same, stored.content)) return noDerivation
      }
      return {
        changes: [{ _tag: "Put", path, content }],
        onCommitted: (blobs) => {
          const oid = blobs.get(path)
          if (oid !== undefined) known.set(path, { oid, value, content })
        }
      } satisfies Derivation
    })
  return {
    fields,
    recorded: stored === undefined ? emptyTree : stored.value.tree,
    canCatchUp: false,
    unique,
    rejection: () => undefined,
    *update(documents, tree) {
      return Either.map(write(stored?.value ?? form.empty, documents, tree), Option.some)
    },
    rebuild: (tree, judged) =>
      Effect.sync(() => {
        const all: Array<StoredFields> = []
        return {
          add: (documents) =>
            Effect.sync(() => {
              for (const document of documents) all.push(document)
            }),
          end: Effect.gen(function* () {
            const violations = unique && (yield* violationsAmong(unique, all, judged))
            return { made: write(form.empty, all, tree), violations }
          })
        }
      })
  }
}

/** An index file of format 1, which indexes top-level members by their whole names. */
export const indexFile = (
  file: SingleFile<IndexFile>,
  { fields }: IndexDefinition,
  unique: UniqueIndex | undefined
): DerivedFile => {
  const field = fields[0]!.path
  const stored = singleFile(
    file,
    [field],
    {
      empty: emptyIndex,
      with: (index, documents) => applyToIndex(index, field, documents),
      print: (index, time, tree) => printIndex(index, file.collection, field, time, tree)
    },
    unique
  )
  // The settings may have changed the field of an index.
  const other = file.stored?.value.field ?? field
  return { ...stored, recorded: other === field ? stored.recorded : undefined }
}

/** A manifest file of format 1. */
export const manifestFile = (
  file: SingleFile<ManifestFile<LosslessObject>>,
  fields: ReadonlyArray<string>
): DerivedFile =>
  singleFile(file, fields, {
    empty: emptyManifest,
    with: (manifest, documents) => applyToManifest(manifest, fields, documents),
    print: (manifest, time, tree) => printManifest(manifest, file.collection, time, tree)
  })

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

/** Changes to index and manifest files, and what to remember of them once they are committed. */
export interface Derivation {
  readonly changes: ReadonlyArray<Change>
  /** Values that two documents would share: nothing may be committed then. */
  readonly violations?: ReadonlyArray<UniqueViolation> | undefined
  readonly committed: (blobs: ReadonlyMap<string, Oid>) => void
}

export const noDerivation: Derivation = { changes: [], committed: () => {} }

/** What becomes of an index or a manifest. Those of a collection are read together. */
export type UpdateSteps = ReadSteps<Either.Either<Option.Option<Derivation>, ValidationError>>

/** An index or a manifest of a collection, as a snapshot has it. */
export interface DerivedFile {
  /** The fields of documents that it holds. */
  readonly fields: ReadonlyArray<string>
  /** The tree of the collection that it describes; what is missing describes the empty one, what is damaged none. */
  readonly recorded: Oid | undefined
  /** Whether it can be brought up to another tree by the documents that differ, each as it was and as it is. */
  readonly canCatchUp: boolean
  /** How the values that documents gain are judged, where it is a unique index. */
  readonly unique: UniqueIndex | undefined
  /** What it becomes where documents change, for a tree of the collection; none where it is missing or damaged, and must be made anew. */
  readonly update: (documents: ReadonlyArray<DocumentChange>, tree: Oid) => UpdateSteps
  /** Why a document cannot be in it, if it cannot. */
  readonly rejection: (id: string, document: LosslessObject) => ValidationError | undefined
  /** Makes it of all documents of a tree. Where it is unique, values of `judged` documents are, or of all. */
  readonly rebuild: (
    tree: Oid,
    judged: ReadonlyArray<DocumentChange> | undefined
  ) => Effect.Effect<Rebuild, never, Scope.Scope>
}

/** An index or a manifest that is being made of all documents, which are not held in memory where they need not be. */
export interface Rebuild {
  readonly add: (documents: ReadonlyArray<StoredFields>) => Effect.Effect<void, ReadError>
  /** What it is, once every document was added, or why it cannot be; and the values that two documents would share. */
  readonly end: Effect.Effect<
    {
      readonly made: Either.Either<Derivation, ValidationError>
      readonly violations: Derivation["violations"]
    },
    ReadError
  >
}

/** A document with the fields that indexes and manifests hold. */
export type StoredFields = { readonly id: string; readonly document: LosslessObject }

/** A file that was read, with its bytes. */
export interface ParsedFile<A> {
  readonly oid: Oid
  readonly value: A
  readonly content: Uint8Array
}

/** What single files say, and how it is written. */
interface FileFormat<A> {
  readonly empty: A
  readonly with: (value: A, documents: ReadonlyArray<DocumentChange>) => A
  readonly print: (value: A, time: string, tree: Oid) => Either.Either<Uint8Array, JsonProblem>
}

/** Where a single file lies, and what is known of it. */
export interface SingleFile<A> {
  readonly collection: string
  readonly path: string
  /** Undefined where there is none. */
  readonly stored: ParsedFile<A> | undefined
  /** What is remembered of such files. */
  readonly known: LruCache<ParsedFile<A>>
  /** Whether documents change: else a file that would differ by its time alone stays as it is. */
  readonly isTouched: boolean
  readonly now: string
}

/** The error for an index or a manifest that what is stored keeps from being written. */
export const encodingError =
  (path: string, collection: string) =>
  ({ message, path: inside }: JsonProblem) =>
    new ValidationError({
      operation: "Store.write",
      path,
      collection,
      message: `${path} cannot be written: ${inside} ${message}`,
      hint: "a stored document holds a number that JavaScript cannot hold in an indexed or listed field"
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
        committed: (blobs) => {
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

/** The file of an index of format 1, which knows members by their whole names. */
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
  // The settings may have given the name to another field.
  const other = file.stored?.value.field ?? field
  return { ...stored, recorded: other === field ? stored.recorded : undefined }
}

/** The file of a manifest of format 1. */
export const manifestFile = (
  file: SingleFile<ManifestFile<LosslessObject>>,
  fields: ReadonlyArray<string>
): DerivedFile =>
  singleFile(file, fields, {
    empty: emptyManifest,
    with: (manifest, documents) => applyToManifest(manifest, fields, documents),
    print: (manifest, time, tree) => printManifest(manifest, file.collection, time, tree)
  })

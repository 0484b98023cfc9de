import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { DocumentChange } from "../../domain/IndexFile.js"
import type { Layout } from "../../domain/Settings.js"
import { type ReadError, ValidationError } from "../../domain/StoreError.js"
import { documentPath, under } from "../DocumentPath.js"
import type { Change, GitRemoteService, Head, TreeEntry } from "../remote/GitRemote.js"
import type { ResolvedOptions } from "../StoreOptions.js"
import type { Touched } from "./Derived.js"
import type { Prepared } from "./Judgement.js"
import { listAt } from "./Listing.js"
import { versionOf } from "./Versions.js"
import { nameOf, type StoredVersion, type Unit } from "./WriteUnit.js"

interface Reading {
  readonly remote: GitRemoteService
  readonly options: ResolvedOptions
  readonly free: boolean
  readonly rootEntries: (head: Head) => Effect.Effect<ReadonlyMap<string, TreeEntry>, ReadError>
}

const requireDirectory = (
  parts: Reading,
  unit: Pick<Unit, "operation">,
  head: Head,
  collections: Iterable<string>
) =>
  Effect.flatMap(parts.rootEntries(head), (entries) => {
    for (const collection of collections) {
      const entry = entries.get(collection)
      if (entry !== undefined && entry.kind !== "tree") {
        const path = under(parts.options.root, collection)
        return new ValidationError({
          operation: unit.operation,
          path,
          collection,
          message: `${path} is a file: the collection ${collection} cannot be a directory there`,
          hint: "remove or rename the file in a commit, or use another name"
        })
      }
    }
    return Effect.void
  })

/** The touched documents at a head, read in bulk: by name of those that exist. */
export const read = (
  parts: Reading,
  unit: Pick<Unit, "operation" | "operations" | "expectations">,
  head: Option.Option<Head>,
  layout: Layout
): Effect.Effect<ReadonlyMap<string, StoredVersion>, ReadError> =>
  Effect.gen(function* () {
    const { free, options, remote } = parts
    const found = new Map<string, StoredVersion>()
    if (Option.isNone(head)) return found
    const documents = new Map<string, { readonly collection: string; readonly id: string }>()
    for (const document of unit.operations) documents.set(nameOf(document), document)
    for (const document of unit.expectations ?? []) documents.set(nameOf(document), document)
    const collections = new Set([...documents.values()].map(({ collection }) => collection))
    yield* requireDirectory(parts, unit, head.value, collections)

    const wanted = new Map<string, string>()
    for (const [name, { collection, id }] of documents) {
      wanted.set(documentPath(options.root, layout, collection, id), name)
    }
    if (wanted.size === 1) {
      for (const [path, name] of wanted) {
        const file = yield* remote.file(head.value, path)
        if (Option.isSome(file)) found.set(name, versionOf(path, file.value))
      }
      return found
    }
    let files: Array<
      | { readonly path: string; readonly oid?: never }
      | { readonly path: string; readonly oid: StoredVersion["oid"] }
    > = [...wanted.keys()].map((path) => ({ path }))
    if (!free) {
      const known = new Map<string, StoredVersion["oid"]>()
      for (const collection of collections) {
        const directory = under(options.root, collection)
        const listing = yield* listAt(remote, head.value, directory, layout)
        for (const path of wanted.keys()) {
          if (!path.startsWith(`${directory}/`)) continue
          const oid = listing.find(path.slice(directory.length + 1))
          if (oid !== undefined) known.set(path, oid)
        }
      }
      files = files.flatMap(({ path }) => {
        const oid = known.get(path)
        return oid === undefined ? [] : [{ path, oid }]
      })
    }
    if (files.length === 0) return found
    yield* Stream.runForEach(remote.blobs(head.value, files, { concurrency: options.concurrency }), (blob) =>
      Effect.sync(() => {
        const name = wanted.get(blob.path)
        if (name !== undefined) found.set(name, versionOf(blob.path, blob))
      })
    )
    return found
  })

/** What a unit does to each collection, for its index and manifest files. */
export const collections = (unit: Unit, prepared: ReadonlyArray<Prepared>): ReadonlyArray<Touched> => {
  const { onRead } = unit
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
    const known = touched.get(collection)
    if (known !== undefined) return known
    const made = { collection, documents: [], changes: [], rebuild: false, onRead }
    touched.set(collection, made)
    return made
  }
  for (const { after, change, collection, id } of prepared) {
    if (change === undefined) continue
    const entry = of(collection)
    entry.changes.push(change)
    entry.documents.push({ id, document: after?.document })
  }
  for (const collection of unit.reindex ?? []) of(collection).rebuild = true
  return [...touched.values(), ...(unit.behind ?? [])]
}

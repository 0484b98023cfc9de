import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { IndexDefinition } from "../../../domain/indexes/IndexDefinition.js"
import type { DocumentChange } from "../../../domain/indexes/IndexFile.js"
import type { Layout } from "../../../domain/settings/Settings.js"
import type { GitRemoteService } from "../../remote/GitRemote.js"
import { filesIn } from "../ordered-tree/FileEdits.js"
import type { TreeCache } from "../ordered-tree/TreeCache.js"
import type { TreeReader } from "../ordered-tree/TreeReader.js"
import { changedBlobs, changedDocuments } from "../snapshot/CollectionChanges.js"
import type { DerivedFile } from "./DerivedFile.js"
import { derivedTree, type OpenTemporaryFile, openTrees, rowsOfIndex, rowsOfManifest } from "./DerivedTree.js"

/** The trees of a collection's indexes and manifest. */
export interface CollectionTrees {
  /** The indexes, with the directories of their trees. */
  readonly indexes: ReadonlyArray<{ readonly index: IndexDefinition; readonly path: string }>
  readonly manifest: { readonly fields: ReadonlyArray<string>; readonly path: string } | undefined
}

/** The definitions of a collection's trees. */
export const treeDefinitions = ({ indexes, manifest }: CollectionTrees) => [
  ...indexes.map(({ index, path }) => ({
    kind: "index" as const,
    path,
    rows: rowsOfIndex(index),
    unique: index.unique ? index : undefined,
    isPartial: index.where !== undefined
  })),
  ...(manifest === undefined
    ? []
    : [
        {
          kind: "manifest" as const,
          path: manifest.path,
          rows: rowsOfManifest(manifest.fields),
          unique: undefined,
          isPartial: false
        }
      ])
]

/** The trees of a collection as stored in a snapshot. */
export const storedTrees = (
  reader: TreeReader<ReadError>,
  cache: TreeCache,
  collection: string,
  places: CollectionTrees,
  temporaryFile: OpenTemporaryFile | undefined
): Effect.Effect<ReadonlyArray<DerivedFile>, ReadError> =>
  Effect.suspend(() => {
    const trees = treeDefinitions(places)
    return Effect.map(openTrees(reader, cache, trees), (states) =>
      trees.map((place, at) => derivedTree(reader, collection, place, states[at]!, temporaryFile))
    )
  })

/** The documents that changed from each recorded tree of some files to the tree `after`, by recorded tree. */
export const changesSinceRecorded = (
  remote: GitRemoteService,
  layout: Layout,
  files: ReadonlyArray<DerivedFile>,
  after: Oid,
  concurrency: number
): Effect.Effect<ReadonlyMap<Oid, ReadonlyArray<DocumentChange>>, ReadError> =>
  Effect.gen(function* () {
    const found = new Map<Oid, ReadonlyArray<DocumentChange>>()
    for (const { canCatchUp, recorded } of files) {
      if (!canCatchUp || recorded === undefined || recorded === after || found.has(recorded)) continue
      const blobs = yield* changedBlobs(remote, layout, recorded, after)
      if (Option.isNone(blobs)) continue
      const trees = { before: recorded, after }
      found.set(recorded, yield* changedDocuments(remote, trees, blobs.value, concurrency))
    }
    return found
  })

/** All files of a tree. */
export const filesOfTree = (
  reader: TreeReader<ReadError>,
  path: string
): Effect.Effect<ReadonlyArray<string>, ReadError> =>
  Effect.map(filesIn(reader, path), (files) => files.map((file) => `${path}/${file.path}`))

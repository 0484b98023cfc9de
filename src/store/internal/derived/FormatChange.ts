import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { collectionNameProblem, fieldNameProblem } from "../../../domain/identifiers/CollectionName.js"
import { plainIndex } from "../../../domain/indexes/IndexDefinition.js"
import { parseLosslessManifest, projectedFields } from "../../../domain/indexes/ManifestFile.js"
import { projectedFieldProblem, type Settings } from "../../../domain/settings/Settings.js"
import { compareCodePoints } from "../../../domain/text/CodePointOrder.js"
import type { Change, GitRemoteService } from "../../remote/GitRemote.js"
import type { ResolvedOptions } from "../../StoreOptions.js"
import type { SettingsAt } from "../snapshot/RepositorySettings.js"
import type { Snapshot } from "../snapshot/Snapshot.js"
import type { Derived } from "./Derived.js"
import { filesOfTree } from "./DerivedTrees.js"
import { treeReader } from "./SnapshotReader.js"

interface Parts {
  readonly remote: GitRemoteService
  readonly derived: Derived
  readonly options: ResolvedOptions
}

/**
 * The settings for a repository without a settings file, including the indexes and manifests that other programs have
 * written.
 */
export const adoptForeignFiles = (
  { derived, options: { given } }: Parts,
  snapshot: Snapshot,
  at: SettingsAt
): Effect.Effect<Settings, ReadError> =>
  Effect.gen(function* () {
    const { settings } = at
    const asFiles = { ...at, settings: { ...settings, format: 1 as const } }
    const indexes = new Map(settings.indexes)
    const manifests = new Map(settings.manifests)
    for (const [collection, { kind }] of at.entries) {
      if (kind !== "tree" || collectionNameProblem(collection) !== undefined) continue
      const files = yield* derived.filesOf(snapshot, asFiles, collection)
      const found = [...files.indexes.keys()].filter((name) => fieldNameProblem(name) === undefined)
      if (given.indexes === undefined && found.length > 0) {
        indexes.set(collection, found.sort(compareCodePoints).map(plainIndex))
      }
      if (given.manifests === undefined && files.manifest !== undefined) {
        const file = yield* snapshot.file(derived.manifestPath(collection))
        const manifest = Option.isNone(file) ? undefined : parseLosslessManifest(file.value.content)
        const names = manifest === undefined ? [] : projectedFields(manifest)
        manifests.set(
          collection,
          names.filter((name) => projectedFieldProblem(name) === undefined)
        )
      }
    }
    return { ...settings, indexes, manifests }
  })

/** Removes the existing index and manifest files of a format for some collections. */
export const removeFiles = (
  parts: Parts,
  snapshot: Snapshot,
  { format, ...settings }: Settings,
  collections: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<Change>, ReadError> =>
  Effect.gen(function* () {
    const { derived } = parts
    const files: Array<string> = []
    for (const collection of collections) {
      if (format === 2) {
        for (const path of derived.treePaths(collection, settings)) {
          for (const file of yield* filesOfTree(treeReader(parts, snapshot), path)) files.push(file)
        }
        continue
      }
      const paths = (settings.indexes.get(collection) ?? []).map(({ name }) =>
        derived.indexPath(collection, name)
      )
      if (settings.manifests.has(collection)) paths.push(derived.manifestPath(collection))
      for (const path of paths) if (Option.isSome(yield* snapshot.file(path))) files.push(path)
    }
    return files.map((path): Change => ({ _tag: "Remove", path }))
  })

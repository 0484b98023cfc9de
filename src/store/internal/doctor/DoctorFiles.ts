import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import { applyToIndex, emptyIndex, type IndexFile, parseIndex } from "../../../domain/indexes/IndexFile.js"
import {
  applyToManifest,
  emptyManifest,
  type ManifestFile,
  parseLosslessManifest,
  printManifest,
  projectedFields
} from "../../../domain/indexes/ManifestFile.js"
import { parseObject } from "../../../domain/json/JsonText.js"
import type { LosslessObject } from "../../../domain/json/LosslessJson.js"
import type { Finding } from "../../Doctor.js"
import type { SettingsAt, Snapshot, StoreCore } from "../commit/StoreCore.js"
import { type DerivedExamination, type DerivedKind, findingsOn } from "./DoctorDerived.js"
import { largeFileBytes } from "./DoctorDocuments.js"

const sameLists = (
  a: ReadonlyMap<string, ReadonlyArray<string>>,
  b: ReadonlyMap<string, ReadonlyArray<string>>
): boolean =>
  a.size === b.size &&
  [...a].every(([key, list]) => {
    const other = b.get(key)
    return other !== undefined && other.length === list.length && list.every((item, at) => item === other[at])
  })

/** A file that describes the current documents. */
interface StoredFile<A> {
  readonly kind: DerivedKind
  readonly path: string
  readonly value: A
  readonly content: Uint8Array
}

const hasCount = (content: Uint8Array, count: number): boolean =>
  Either.match(parseObject(content), {
    onLeft: () => false,
    onRight: (file) => file["count"] === count
  })

const manifestAgrees = (
  { content, value }: StoredFile<ManifestFile<LosslessObject>>,
  fields: ReadonlyArray<string>,
  changes: Parameters<typeof applyToManifest>[2]
): boolean => {
  const rebuilt = applyToManifest(emptyManifest, fields, changes)
  const print = (manifest: ManifestFile<LosslessObject>) =>
    Either.map(printManifest(manifest, "", "", emptyTree), (bytes) => new TextDecoder().decode(bytes))
  return (
    hasCount(content, value.ids.length) && Either.getOrNull(print(value)) === Either.getOrNull(print(rebuilt))
  )
}

/** Examines the index and manifest files of format 1. `current` is the tree of the collection. */
export const examineFiles = (
  core: StoreCore,
  snapshot: Snapshot,
  settings: SettingsAt,
  collection: string,
  current: Oid
): Effect.Effect<DerivedExamination, ReadError> =>
  Effect.gen(function* () {
    const { finding, missing, stale, wrong } = findingsOn(collection)
    const findings: Array<Finding> = []
    const add = (...found: ReadonlyArray<Finding>) => void findings.push(...found)

    const load = <A extends { readonly tree: string | undefined }>(
      kind: DerivedKind,
      path: string,
      parse: (content: Uint8Array) => A | undefined
    ): Effect.Effect<StoredFile<A> | undefined, ReadError> =>
      Effect.map(snapshot.file(path), (file) => {
        if (Option.isNone(file)) return add(missing(kind, path))
        const { content } = file.value
        if (content.length > largeFileBytes) {
          const size = (content.length / 1e6).toFixed(1)
          const message = `${path} has ${size} MB, which every write of ${collection} writes again`
          add(
            finding("warning", kind, "large", message, "run reindex --format 2, or drop it from the settings")
          )
        }
        const value = parse(content)
        if (value === undefined) {
          return add(finding("error", kind, "unreadable", `${path} contains no JSON object`))
        }
        if (value.tree === undefined) {
          const message = `${path} does not record the version that it describes: another program wrote it`
          return add(finding("warning", kind, "foreign", message))
        }
        if (value.tree !== current) return add(stale(kind, path))
        return { kind, path, value, content }
      })

    const files = yield* core.derived.filesOf(snapshot, settings, collection)
    const indexes = new Map<string, StoredFile<IndexFile>>()
    for (const name of files.indexes.keys()) {
      const index = yield* load("index", core.derived.indexPath(collection, name), parseIndex)
      if (index !== undefined) indexes.set(name, index)
    }
    const fieldOf = (name: string) => files.indexes.get(name)!.definition.fields[0]!.path
    const manifest =
      files.manifest === undefined
        ? undefined
        : yield* load("manifest", core.derived.manifestPath(collection), parseLosslessManifest)
    const projected =
      files.manifest?.fields ?? (manifest === undefined ? [] : projectedFields(manifest.value))
    const wrongOnes = (isWrong: (file: StoredFile<unknown>) => boolean) =>
      [...indexes.values(), ...(manifest === undefined ? [] : [manifest])]
        .filter(isWrong)
        .map(({ kind, path }) => wrong(kind, path))

    return {
      findings,
      indexes: indexes.size,
      manifest: manifest !== undefined,
      fields: new Set([...Array.from(indexes.keys(), fieldOf), ...projected]),
      againstListing: (listing) => {
        const ids = listing.ids()
        const there = new Set(ids)
        return wrongOnes((file) => {
          if (file !== manifest) {
            return !Array.from((file as StoredFile<IndexFile>).value.ids.keys()).every((id) => there.has(id))
          }
          const { ids: held } = manifest.value
          const same = held.length === ids.length && held.every((id) => there.has(id))
          return !same || !hasCount(manifest.content, held.length)
        })
      },
      againstDocuments: (documents) =>
        Effect.sync(() => {
          const changes = Array.from(documents, ([id, document]) => ({ id, document }))
          const nameOf = new Map(Array.from(indexes, ([name, file]) => [file as StoredFile<unknown>, name]))
          return wrongOnes((file) => {
            const name = nameOf.get(file)
            if (name === undefined) return !manifestAgrees(manifest!, projected, changes)
            const rebuilt = applyToIndex(emptyIndex, fieldOf(name), changes)
            const { ids, values } = indexes.get(name)!.value
            return !sameLists(values, rebuilt.values) || !sameLists(ids, rebuilt.ids)
          })
        })
    }
  })

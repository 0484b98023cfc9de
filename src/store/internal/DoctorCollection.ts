import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { applyToIndex, emptyIndex, type IndexFile, parseIndex } from "../../domain/IndexFile.js"
import { parseObject } from "../../domain/JsonText.js"
import {
  applyToManifest,
  emptyManifest,
  type ManifestFile,
  parseSpelledManifest,
  printManifest,
  projectedFields
} from "../../domain/ManifestFile.js"
import { emptyTree } from "../../domain/Oid.js"
import type { SpelledObject } from "../../domain/SpelledJson.js"
import type { ReadError } from "../../domain/StoreError.js"
import type { DoctorOptions, Finding } from "../Doctor.js"
import { idAt, placeOf, under } from "../DocumentPath.js"
import type { Head, Tree } from "../remote/GitRemote.js"
import { documentFindings, large, readDocuments, sizeFindings } from "./DoctorDocuments.js"
import { type Listing, listingOf } from "./Listing.js"
import type { SettingsAt, Snapshot, StoreCore } from "./StoreCore.js"

/** Names that differ only in case. */
export const twins = (names: Iterable<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const groups = new Map<string, Array<string>>()
  for (const name of names) {
    const key = name.toLowerCase()
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [name])
    else group.push(name)
  }
  return [...groups.values()].filter((group) => group.length > 1)
}

const sameLists = (
  a: ReadonlyMap<string, ReadonlyArray<string>>,
  b: ReadonlyMap<string, ReadonlyArray<string>>
): boolean =>
  a.size === b.size &&
  [...a].every(([key, list]) => {
    const other = b.get(key)
    return other !== undefined && other.length === list.length && list.every((item, at) => item === other[at])
  })

/** What the directory alone tells: names, places and sizes of files. */
const examineListing = (
  collection: string,
  tree: Tree,
  listing: Listing,
  settings: SettingsAt
): Array<Finding> => {
  const found: Array<Finding> = []
  const same = twins(listing.ids())
  if (same.length > 0) {
    found.push({
      severity: "warning",
      code: "case-twins",
      collection,
      ids: same.flat(),
      message: `${collection} has ids that differ only in case`,
      hint: "they are different documents here, but share one file in a checkout on Windows or macOS"
    })
  }
  const { settings: layout } = settings
  const outside = tree.entries.filter(({ kind, path }) => {
    const id = kind === "blob" ? idAt(layout, path) : undefined
    return kind !== "tree" && (id === undefined || placeOf(layout, id) !== path)
  })
  if (outside.length > 0) {
    found.push({
      severity: "warning",
      code: "misplaced",
      collection,
      ids: outside.slice(0, 20).map(({ path }) => path),
      message: `${collection} has ${outside.length} files that its layout does not put there: they are no documents`,
      hint: "move or remove them in a commit, or correct the shard settings"
    })
  }
  return found
}

/** An index or manifest file as it lies there; `describes` says whether it names the collection's present tree. */
interface DerivedFile<A> {
  readonly what: "index" | "manifest"
  readonly path: string
  readonly value: A
  readonly content: Uint8Array
}

const manifestAgrees = (
  { content, value }: DerivedFile<ManifestFile<SpelledObject>>,
  fields: ReadonlyArray<string>,
  changes: Parameters<typeof applyToManifest>[2]
): boolean => {
  const rebuilt = applyToManifest(emptyManifest, fields, changes)
  const print = (manifest: ManifestFile<SpelledObject>) =>
    Either.map(printManifest(manifest, "", "", emptyTree), (bytes) => new TextDecoder().decode(bytes))
  return (
    hasCount(content, value.ids.length) && Either.getOrNull(print(value)) === Either.getOrNull(print(rebuilt))
  )
}

const hasCount = (content: Uint8Array, count: number): boolean =>
  Either.match(parseObject(content), {
    onLeft: () => false,
    onRight: (file) => file["count"] === count
  })

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`

/** Looks at one collection: at its listing, at the version that indexes and manifest name, and `deep` at every document. */
export const examineCollection = (
  core: StoreCore,
  snapshot: Snapshot,
  head: Head,
  settings: SettingsAt,
  collection: string,
  deep: boolean,
  onProgress: DoctorOptions["onProgress"]
) =>
  Effect.gen(function* () {
    const directory = under(core.options.root, collection)
    const whole = yield* core.remote.tree(head, directory, { recursive: true })
    const tree: Tree = Option.getOrElse(whole, () => ({ oid: emptyTree, entries: [] }))
    const listing = listingOf(tree, settings.settings)
    const found = examineListing(collection, tree, listing, settings)
    const again = `run reindex on ${collection}`
    const add = (severity: Finding["severity"], code: string, message: string, hint: string) =>
      void found.push({ severity, code, collection, message, hint })

    /** A file that names the collection's present tree; what is wrong with another one is a finding. */
    const load = <A extends { readonly tree: string | undefined }>(
      what: "index" | "manifest",
      path: string,
      parse: (content: Uint8Array) => A | undefined
    ): Effect.Effect<DerivedFile<A> | undefined, ReadError> =>
      Effect.map(snapshot.file(path), (file) => {
        if (Option.isNone(file)) {
          return add(
            "warning",
            `${what}-missing`,
            `${path} is missing`,
            `the next write makes it, or ${again}`
          )
        }
        const { content } = file.value
        if (content.length > large) {
          const size = (content.length / 1e6).toFixed(1)
          const message = `${path} has ${size} MB, which every write of ${collection} writes again`
          add("warning", `${what}-large`, message, "drop it from the settings, or split the collection")
        }
        const value = parse(content)
        if (value === undefined) {
          return add("error", `${what}-unreadable`, `${path} holds no JSON object`, again)
        }
        if (value.tree === undefined) {
          const message = `${path} does not name the version that it describes: another program wrote it`
          return add("warning", `${what}-foreign`, message, again)
        }
        if (value.tree !== tree.oid) {
          const message = `${path} is behind the documents: somebody else changed them`
          return add("warning", `${what}-stale`, message, again)
        }
        return { what, path, value, content }
      })
    const wrong = ({ path, what }: Pick<DerivedFile<unknown>, "path" | "what">) =>
      add("error", `${what}-wrong`, `${path} does not agree with the documents`, again)

    const files = yield* core.derived.filesOf(snapshot, settings, collection)
    const indexes = new Map<string, DerivedFile<IndexFile>>()
    for (const field of files.indexes.keys()) {
      const index = yield* load("index", core.derived.indexPath(collection, field), parseIndex)
      if (index !== undefined) indexes.set(field, index)
    }
    const manifest =
      files.manifest === undefined
        ? undefined
        : yield* load("manifest", core.derived.manifestPath(collection), parseSpelledManifest)

    if (deep) {
      const projected =
        files.manifest?.fields ?? (manifest === undefined ? [] : projectedFields(manifest.value))
      const fields = new Set([...indexes.keys(), ...projected])
      const read = yield* readDocuments(core, head, collection, listing, fields, onProgress)
      found.push(...documentFindings(collection, read), ...sizeFindings(collection, read.oversized))
      const changes = [...read.documents].map(([id, document]) => ({ id, document }))
      for (const [field, index] of indexes) {
        const rebuilt = applyToIndex(emptyIndex, field, changes)
        const { ids, values } = index.value
        if (!sameLists(values, rebuilt.values) || !sameLists(ids, rebuilt.ids)) wrong(index)
      }
      if (manifest !== undefined && !manifestAgrees(manifest, projected, changes)) wrong(manifest)
    } else {
      const ids = listing.ids()
      const there = new Set(ids)
      const oversized = tree.entries.filter(({ size = 0 }) => size > large)
      found.push(
        ...sizeFindings(
          collection,
          oversized.flatMap(({ path }) => idAt(settings.settings, path) ?? [])
        )
      )
      for (const index of indexes.values()) {
        if (![...index.value.ids.keys()].every((id) => there.has(id))) wrong(index)
      }
      if (manifest !== undefined) {
        const { ids: held } = manifest.value
        const same = held.length === ids.length && held.every((id) => there.has(id))
        if (!same || !hasCount(manifest.content, held.length)) wrong(manifest)
      }
    }
    found.push(
      summary(collection, listing.length, indexes.size, manifest !== undefined, deep, found.length === 0)
    )
    return found
  })

/** What was looked at: nothing else is vouched for. */
const summary = (
  collection: string,
  documents: number,
  indexes: number,
  manifest: boolean,
  deep: boolean,
  agrees: boolean
): Finding => {
  const derived = [
    ...(indexes === 0 ? [] : [plural(indexes, "index file")]),
    ...(manifest ? ["the manifest"] : [])
  ].join(" and ")
  const count = plural(documents, "document")
  const checked = deep
    ? `${count} read${derived === "" ? "" : `, ${derived} compared with a rebuild`}`
    : `${count} listed${derived === "" ? "" : `, the version and ids of ${derived} checked`}`
  const rest = deep
    ? agrees
      ? ": everything agrees"
      : ""
    : `; the documents were not read${derived === "" ? "" : ", values were not compared"}`
  return {
    severity: "ok",
    code: "collection",
    collection,
    message: `${collection}: ${checked}${rest}`,
    ...(deep ? {} : { hint: "doctor --deep, or doctorWith({ deep: true }), reads every document" })
  }
}

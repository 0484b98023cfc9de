import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { emptyTree } from "../../../domain/identifiers/Oid.js"
import { indexPaths } from "../../../domain/indexes/IndexDefinition.js"
import type { DoctorOptions, Finding } from "../../Doctor.js"
import { idAt, placeOf, under } from "../../DocumentPath.js"
import type { Head, Tree } from "../../remote/GitRemote.js"
import type { SettingsAt, Snapshot, StoreCore } from "../commit/StoreCore.js"
import { storageAdvice } from "../derived/StorageAdvice.js"
import { type Listing, listingOf } from "../snapshot/Listing.js"
import { documentFindings, largeFileBytes, readDocuments, sizeFindings } from "./DoctorDocuments.js"
import { examineFiles } from "./DoctorFiles.js"
import { examineTrees } from "./DoctorTrees.js"
import { duplicateFindings } from "./DoctorUnique.js"

/** Groups of names that differ only in case. */
export const caseCollisions = (names: Iterable<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const groups = new Map<string, Array<string>>()
  for (const name of names) {
    const key = name.toLowerCase()
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [name])
    else group.push(name)
  }
  return [...groups.values()].filter((group) => group.length > 1)
}

/** Problems that the listing shows: names, paths and sizes of files. */
const examineListing = (
  collection: string,
  tree: Tree,
  listing: Listing,
  settings: SettingsAt
): Array<Finding> => {
  const found: Array<Finding> = []
  const same = caseCollisions(listing.ids())
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
      message: `${collection} has ${outside.length} files at paths outside its layout: they are not documents`,
      hint: "move or remove them in a commit, or correct the shard settings"
    })
  }
  return found
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`

/** The number of entries in the fullest directory of a collection. */
const fullestDirectory = ({ entries }: Tree): number => {
  const counts = new Map<string, number>()
  let most = 0
  for (const { path } of entries) {
    const directory = path.slice(0, Math.max(path.lastIndexOf("/"), 0))
    const count = (counts.get(directory) ?? 0) + 1
    counts.set(directory, count)
    if (count > most) most = count
  }
  return most
}

/**
 * Examines one collection: its listing, the versions that indexes and manifest record, and with `deep` every document.
 */
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
    const listing = yield* listingOf(tree, settings.settings)
    const found = examineListing(collection, tree, listing, settings)
    const examine = settings.settings.format === 2 ? examineTrees : examineFiles
    const derived = yield* examine(core, snapshot, settings, collection, tree.oid)
    found.push(...derived.findings)
    if (deep) {
      const unique = (settings.settings.indexes.get(collection) ?? []).filter((index) => index.unique)
      const fields = new Set([...derived.fields, ...unique.flatMap(indexPaths)])
      const read = yield* readDocuments(core, head, collection, listing, fields, onProgress)
      for (const index of unique) found.push(...(yield* duplicateFindings(collection, index, read.documents)))
      found.push(...documentFindings(collection, read), ...sizeFindings(collection, read.oversized))
      found.push(...(yield* derived.againstDocuments(read.documents)))
    } else {
      const oversized = tree.entries.filter(({ size = 0 }) => size > largeFileBytes)
      found.push(
        ...sizeFindings(
          collection,
          oversized.flatMap(({ path }) => idAt(settings.settings, path) ?? [])
        )
      )
      found.push(...derived.againstListing(listing))
    }
    const agrees = found.length === 0
    const size = {
      documents: listing.length,
      indexes: derived.indexes,
      manifest: derived.manifest,
      fullest: fullestDirectory(tree)
    }
    for (const { hint, reason, setting } of storageAdvice(size, settings.settings)) {
      found.push({
        severity: "ok",
        code: setting,
        collection,
        message: `${collection} has ${listing.length} documents: ${reason}`,
        hint
      })
    }
    found.push(summary(collection, listing.length, derived.indexes, derived.manifest, deep, agrees))
    return found
  })

/** The finding that states what was examined. */
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

import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type ReadError, type Unmerged, ValidationError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { isPlainObject } from "../../../domain/json/CanonicalJson.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import {
  fieldsOfSchema,
  type MergeConflict,
  type MergeRules,
  type Settlement
} from "../../../domain/merge/index.js"
import type { Settings } from "../../../domain/settings/Settings.js"
import { compareCodePoints } from "../../../domain/text/CodePointOrder.js"
import { kindOf } from "../../../domain/text/ValueKind.js"
import * as GitObject from "../../../git/GitObject.js"
import type { FileEntry } from "../../../git/Tree.js"
import type { Resolution } from "../../Branches.js"
import type { CollectionDefinition } from "../../CollectionDefinition.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { rulesOfLevels } from "../write/RuleLevels.js"
import { type ContentMerge, type Contents, DecisionFailed, mergeContents, readable } from "./MergeContent.js"
import {
  type ItemChange,
  type ItemChanges,
  type MergedItem,
  type MergeTree,
  nameOfItem,
  sameFile
} from "./MergeTree.js"

/** An item that both sides changed differently. */
export interface BothChanged extends MergedItem {
  readonly base: FileEntry | undefined
  readonly ours: FileEntry | undefined
  readonly theirs: FileEntry | undefined
}

export interface SplitChanges {
  /** The changes of their side that do not conflict, with the files of our side and of the merge. */
  readonly taken: ReadonlyArray<ItemChange>
  readonly both: ReadonlyArray<BothChanged>
}

const isRegular = ({ mode }: FileEntry): boolean => mode === "100644" || mode === "100755"

/** The merged value if at most one side changed it, or both changed it equally; undefined otherwise. */
const mergedValue = <A>(base: A | undefined, ours: A, theirs: A): A | undefined =>
  ours === theirs || theirs === base ? ours : ours === base ? theirs : undefined

/**
 * Merges two changes of a file without its content: content and mode are merged separately, as in Git. The mode of a
 * document's file never conflicts, because it is not part of the document.
 */
const mergeEntries = ({
  base,
  document,
  ours,
  theirs
}: BothChanged): Pick<ItemChange, "after"> | undefined => {
  if (sameFile(ours, theirs)) return { after: ours }
  if (ours === undefined || theirs === undefined) {
    const isKept = document !== undefined && (ours ?? theirs)!.oid === base?.oid
    return isKept ? { after: undefined } : undefined
  }
  if (!isRegular(ours) || !isRegular(theirs)) return undefined
  const oid = mergedValue(base?.oid, ours.oid, theirs.oid)
  const mode = mergedValue(base?.mode, ours.mode, theirs.mode) ?? (document && ours.mode)
  return oid === undefined || mode === undefined ? undefined : { after: { oid, mode } }
}

/** Separates the changes that merge without reading contents from those that both sides made. */
export const splitChanges = (ours: ItemChanges, theirs: ItemChanges): SplitChanges => {
  const taken: Array<ItemChange> = []
  const both: Array<BothChanged> = []
  for (const [key, change] of theirs) {
    const own = ours.get(key)
    if (own === undefined) {
      taken.push(change)
      continue
    }
    const { document, path } = change
    const item = { path, document, base: change.before, ours: own.after, theirs: change.after }
    const result = mergeEntries(item)
    if (result === undefined) both.push(item)
    else if (!sameFile(result.after, own.after)) taken.push({ path, document, before: own.after, ...result })
  }
  const byName = (a: MergedItem, b: MergedItem) => compareCodePoints(nameOfItem(a), nameOfItem(b))
  return { taken: taken.sort(byName), both: both.sort(byName) }
}

/**
 * Conflicts between paths: the merge would put a file where ours has a directory, or below a file of ours, or a
 * document where the other side has a submodule. No tree can contain both.
 */
export const pathConflicts = (ours: ItemChanges, put: ReadonlyArray<ItemChange>): ReadonlyArray<Unmerged> => {
  const files = new Map<string, string>()
  const directories = new Set<string>()
  for (const item of ours.values()) {
    if (item.after === undefined) continue
    files.set(item.path, nameOfItem(item))
    for (const directory of directoriesOf(item.path)) directories.add(directory)
  }
  const problemOf = (item: ItemChange): string | undefined => {
    const { path } = item
    const file = directoriesOf(path).find((above) => files.has(above))
    if (file !== undefined || directories.has(path)) {
      return `${file ?? path} is a file on one branch and a directory on the other`
    }
    const other = files.get(path)
    return other === undefined || other === nameOfItem(item)
      ? undefined
      : `${path} is a document on one branch and a submodule on the other`
  }
  return put.flatMap((item): ReadonlyArray<Unmerged> => {
    const { after, path } = item
    const problem = after === undefined ? undefined : problemOf(item)
    if (problem === undefined) return []
    const theirs = after?.oid
    return [{ kind: "file", path, base: undefined, ours: undefined, theirs, conflicts: [], problem }]
  })
}

/** The directories above a path. */
const directoriesOf = (path: string): ReadonlyArray<string> =>
  Array.from(path.matchAll(/\//g), ({ index }) => path.slice(0, index))

/** The contents of files, including blobs that no repository contains. */
export const contentsOf = (
  core: StoreCore,
  trees: readonly [MergeTree, ...ReadonlyArray<MergeTree | undefined>],
  wanted: ReadonlyArray<{ readonly path: string; readonly file: FileEntry | undefined }>
): Effect.Effect<ReadonlyMap<Oid, Uint8Array>, ReadError> =>
  Effect.suspend(() => {
    const found = new Map<Oid, Uint8Array>()
    for (const tree of trees) for (const [oid, content] of tree?.blobs ?? []) found.set(oid, content)
    const files = new Map<Oid, { readonly path: string; readonly oid: Oid }>()
    for (const { file, path } of wanted) {
      if (file !== undefined && !found.has(file.oid)) files.set(file.oid, { path, oid: file.oid })
    }
    if (files.size === 0) return Effect.succeed(found)
    const { concurrency } = core.options
    return Effect.as(
      Stream.runForEach(
        core.remote.blobs(trees[0].head, [...files.values()], { concurrency }),
        ({ content, oid }) => Effect.sync(() => void found.set(oid, content))
      ),
      found
    )
  })

/** The rules and schemas by which documents are merged. */
export interface MergeContext {
  readonly rulesOf: (collection: string) => MergeRules
  readonly definitionOf: (collection: string) => CollectionDefinition | undefined
}

/** The rules of the definitions and their schemas, combined with the given ones. */
export const mergeContext = (
  definitions: ReadonlyArray<CollectionDefinition>,
  rules: { readonly [collection: string]: MergeRules } = {}
): MergeContext => {
  const byName = new Map(definitions.map((definition) => [definition.name as string, definition]))
  const byCollection = new Map<string, MergeRules>()
  return {
    definitionOf: (collection) => byName.get(collection),
    rulesOf: (collection) => {
      const definition = byName.get(collection)
      const given = Object.hasOwn(rules, collection) ? rules[collection] : undefined
      const schema = definition && { fields: fieldsOfSchema(definition.schema) }
      const found = byCollection.get(collection) ?? rulesOfLevels(given, definition?.merge, schema)
      byCollection.set(collection, found)
      return found
    }
  }
}

/** Adds the rules that a repository has recorded, which have the lowest precedence. */
export const withRecorded = (merging: MergeContext, recorded: Settings["merge"]): MergeContext => {
  if (recorded.size === 0) return merging
  const byCollection = new Map<string, MergeRules>()
  return {
    ...merging,
    rulesOf: (collection) => {
      const found =
        byCollection.get(collection) ??
        rulesOfLevels(merging.rulesOf(collection), { fields: recorded.get(collection) })
      byCollection.set(collection, found)
      return found
    }
  }
}

/** An item that both sides changed, with its contents and their merge. */
export type Compared = {
  readonly item: BothChanged
  readonly contents: Contents
} & (
  | { readonly merge: Extract<ContentMerge, { readonly _tag: "Merged" }>; readonly conflict: undefined }
  | { readonly merge: ContentMerge | undefined; readonly conflict: Unmerged }
)

const versions = ({ base, ours, theirs }: Contents) => ({
  base: readable(base),
  ours: readable(ours),
  theirs: readable(theirs)
})

/** A side for all conflicts, or a function that settles each. */
type Settle = Exclude<Resolution, JsonObject | null | undefined>

const settlementOf = (settle: Settle, conflict: MergeConflict): Settlement | undefined => {
  if (typeof settle !== "function") return settle
  const field = conflict.path.join(".") || "the whole document"
  let settlement: unknown
  try {
    settlement = settle(conflict)
  } catch (cause) {
    throw new DecisionFailed(
      `onConflict failed at ${field}: ${cause instanceof Error ? cause.message : String(cause)}`
    )
  }
  if (settlement === undefined || settlement === "ours" || settlement === "theirs") return settlement
  // The merge of documents validates the value.
  if (isPlainObject(settlement) && Object.hasOwn(settlement, "value"))
    return settlement as unknown as Settlement
  const returned =
    typeof settlement === "string" ? JSON.stringify(settlement.slice(0, 40)) : kindOf(settlement)
  throw new DecisionFailed(`onConflict returned ${returned} for ${field}`)
}

/** Merges an item that both sides changed. */
export const compareSides = (
  item: BothChanged,
  blobs: ReadonlyMap<Oid, Uint8Array>,
  { rulesOf }: MergeContext,
  settle?: Settle
): Effect.Effect<Compared, ValidationError> => {
  const { base, document, ours, path, theirs } = item
  const contentOf = (file: FileEntry | undefined) => (file === undefined ? undefined : blobs.get(file.oid))
  const contents = { base: contentOf(base), ours: contentOf(ours), theirs: contentOf(theirs) }
  const at = { path, conflicts: [] }
  if (document === undefined) {
    const problem =
      ours === undefined || theirs === undefined
        ? `${path} was deleted on one branch and changed on the other`
        : `${path} was changed on both branches`
    // A base that was merged from several conflicting merge bases is in no repository.
    const shown = contents.base === undefined ? base?.oid : undefined
    const [left, right] = [ours?.oid, theirs?.oid]
    const conflict: Unmerged = { ...at, kind: "file", base: shown, ours: left, theirs: right, problem }
    return Effect.succeed({ item, contents, merge: undefined, conflict })
  }
  const { collection, id } = document
  const name = `${collection}/${id}`
  const blobIds = { ours: ours?.oid, theirs: theirs?.oid }
  const place = { ...at, ...document, ...versions(contents), blobs: blobIds }
  if (ours === undefined || theirs === undefined) {
    const [gone, kept] = ours === undefined ? ["ours", "theirs"] : ["theirs", "ours"]
    const conflict: Unmerged = {
      ...place,
      kind: "deleted",
      problem: `${name} was deleted by ${gone} and changed by ${kept}`
    }
    return Effect.succeed({ item, contents, merge: undefined, conflict })
  }
  const rules = rulesOf(collection)
  return mergeContents(
    contents,
    settle === undefined
      ? rules
      : { ...rules, settle: (conflict) => rules.settle?.(conflict) ?? settlementOf(settle, conflict) }
  ).pipe(
    Effect.mapBoth({
      onFailure: (problem) =>
        new ValidationError({
          operation: "Store.merge",
          collection,
          id,
          path,
          message: `${name}: ${problem instanceof DecisionFailed ? problem.message : problem}`,
          ...(problem instanceof DecisionFailed ? { hint: problem.hint } : {})
        }),
      onSuccess: (merge): Compared => {
        if (merge._tag === "Unreadable") {
          const problem = `${path} was changed on both branches, and the file of ${merge.problem}`
          return { item, contents, merge, conflict: { ...place, kind: "unreadable", problem } }
        }
        if (merge.conflicts.length === 0) return { item, contents, merge, conflict: undefined }
        const paths = merge.conflicts.map(({ path }) => path.join(".") || "the whole document").join(", ")
        const conflict: Unmerged = {
          ...place,
          kind: "changed",
          document: readable(merge.content),
          conflicts: merge.conflicts,
          problem: `${name} was changed on both branches at ${paths}`
        }
        return { item, contents, merge, conflict }
      }
    })
  )
}

export const oidOf = (content: Uint8Array): Oid => GitObject.hash("blob", content)

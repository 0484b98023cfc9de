import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { type Unmerged, ValidationError, type WriteError } from "../../../domain/errors/StoreError.js"
import { collectionNameProblem } from "../../../domain/identifiers/CollectionName.js"
import type { Json } from "../../../domain/json/Json.js"
import { type Settings, sameLayout, settingsFileName } from "../../../domain/settings/Settings.js"
import type { FileEntry } from "../../../git/Tree.js"
import type { MergeOptions } from "../../Branches.js"
import { under } from "../../DocumentPath.js"
import type { Head } from "../../remote/GitRemote.js"
import { snapshotAt } from "../../remote/RemoteSnapshot.js"
import type { StoreCore } from "../commit/StoreCore.js"
import type { SettingsAt } from "../snapshot/RepositorySettings.js"
import { makeSnapshot, type Snapshot } from "../snapshot/Snapshot.js"
import { mergeBasesOf } from "./Branches.js"
import { mergeBaseTree } from "./MergeBase.js"
import { type ResolvedItem, resolveItem } from "./MergeDecisions.js"
import {
  contentsOf,
  type MergeContext,
  oidOf,
  pathConflicts,
  splitChanges,
  withRecorded
} from "./MergeItems.js"
import type { Resolutions } from "./MergeResolutions.js"
import { collectionsChanged, mergeSettings, rulesAgreed, settingsOf } from "./MergeSettings.js"
import { changesOf, type ItemChange, type MergedItem, sameFile, treeOfCommit } from "./MergeTree.js"

/** The change of an item on our side: to an existing file, or to new content. */
export interface MergedChange extends MergedItem {
  readonly before: FileEntry | undefined
  /** Undefined if the item is removed. */
  readonly after: FileEntry | undefined
  /** The content, if the merge creates the blob. */
  readonly content: Uint8Array | undefined
}

/** How one commit is merged into another one. */
export type MergePlan =
  | { readonly kind: "upToDate" }
  | { readonly kind: "fastForward"; readonly ours: Head }
  | {
      readonly kind: "merge"
      readonly ours: Head
      readonly settings: SettingsAt
      /** The merged settings if they differ from ours, and the collections whose indexes or manifests they change. */
      readonly changed:
        | { readonly settings: Settings; readonly collections: ReadonlyArray<string> }
        | undefined
      readonly changes: ReadonlyArray<MergedChange>
      /** The conflicts that `onConflict` resolved; `unmerged` are the unresolved ones. */
      readonly decided: ReadonlyArray<Unmerged>
      readonly unmerged: ReadonlyArray<Unmerged>
    }

export interface MergeRequest {
  readonly theirs: Head
  readonly merging: MergeContext
  readonly options: MergeOptions
  readonly resolutions: Resolutions
  /** Whether rules and `onConflict` see the sides swapped, as in a merge of our side into theirs. */
  readonly isSwapped: boolean
}

const operation = "Store.merge"

const unrelated = (core: StoreCore, theirs: Head) =>
  new ValidationError({
    operation,
    message: `${core.branch} and ${theirs.commit.slice(0, 7)} have no commit in common: they are unrelated histories`,
    hint: "merge them once with `git merge --allow-unrelated-histories`, or import the documents of one into the other"
  })

const otherLayout = new ValidationError({
  operation,
  path: settingsFileName,
  message: "the two branches keep documents at different places: their shard settings differ",
  hint: "give both branches the same shardBy, shardDepth and shardWidth, then merge"
})

/** Whether a side has collections, or has recorded a layout. */
const hasDocuments = ({ entries, recorded }: SettingsAt): boolean =>
  recorded ||
  [...entries].some(([name, { kind }]) => kind === "tree" && collectionNameProblem(name) === undefined)

/** The merged settings, with the remaining conflicts. */
const settingsFor = (
  path: string,
  base: ReadonlyMap<string, string>,
  ours: ReadonlyMap<string, string>,
  theirs: ReadonlyMap<string, string>,
  resolutions: Resolutions
) =>
  Effect.gen(function* () {
    const merged = mergeSettings(base, ours, theirs)
    const decided: Array<Unmerged> = []
    const unmerged: Array<Unmerged> = []
    const parsed = (text: string | undefined): Json | undefined =>
      text === undefined ? undefined : JSON.parse(text)
    for (const { base, name, ours, theirs } of merged.conflicts) {
      const conflict: Unmerged = {
        kind: "setting",
        path,
        base: parsed(base),
        ours: parsed(ours),
        theirs: parsed(theirs),
        conflicts: [],
        problem: `the setting ${name} was changed on both branches`
      }
      const resolution = resolutions.get(conflict)
      if (resolution !== "ours" && resolution !== "theirs") unmerged.push(conflict)
      else {
        decided.push(conflict)
        if (resolution === "theirs") {
          if (theirs === undefined) merged.values.delete(name)
          else merged.values.set(name, theirs)
        }
      }
    }
    return { values: merged.values, decided, unmerged }
  })

const changeOf = ({ decision, item }: ResolvedItem): MergedChange | undefined => {
  if (decision._tag === "Conflict") return undefined
  const { document, ours, path } = item
  if (decision._tag === "File") {
    const { file } = decision
    return sameFile(file, ours)
      ? undefined
      : { path, document, before: ours, after: file, content: undefined }
  }
  const { content } = decision
  const oid = oidOf(content)
  return oid === ours?.oid
    ? undefined
    : { path, document, before: ours, after: { oid, mode: "100644" }, content }
}

/** Plans how a commit is merged into the commit of a snapshot. */
export const planMerge = (
  core: StoreCore,
  snapshot: Snapshot,
  ours: Head,
  { isSwapped, merging, options, resolutions, theirs }: MergeRequest
): Effect.Effect<MergePlan, WriteError> =>
  Effect.gen(function* () {
    const bases = yield* mergeBasesOf(core, ours, theirs)
    if (bases.length === 0) return yield* unrelated(core, theirs)
    if (bases.includes(theirs.commit)) return { kind: "upToDate" } as const
    const settings = yield* core.repository.at(snapshot)
    const other = yield* core.repository.at(makeSnapshot(snapshotAt(core.remote, theirs)))
    const frozen = other.frozen ?? settings.frozen
    if (frozen !== undefined) {
      return yield* new ValidationError({
        operation,
        message: frozen,
        hint: "use a newer version of this program to write"
      })
    }
    if (bases.includes(ours.commit) && options.fastForward !== false)
      return { kind: "fastForward", ours } as const
    if (!sameLayout(settings.settings, other.settings) && hasDocuments(settings) && hasDocuments(other)) {
      return yield* otherLayout
    }
    const settingsPath = under(core.options.root, settingsFileName)
    const ourTree = yield* treeOfCommit(core, ours)
    const theirTree = yield* treeOfCommit(core, theirs)
    const said = rulesAgreed(new Map(), ourTree.settings, theirTree.settings)
    const base = yield* mergeBaseTree(core, bases, withRecorded(merging, said), settingsPath)
    const recorded = rulesAgreed(base?.settings ?? new Map(), ourTree.settings, theirTree.settings)
    const ruled = withRecorded(merging, recorded)
    const own = yield* changesOf(core, base, ourTree, settingsPath)
    const { both, taken } = splitChanges(own, yield* changesOf(core, base, theirTree, settingsPath))
    const blobs = yield* contentsOf(
      core,
      [theirTree, ourTree, base],
      both.flatMap(({ base, document, ours, path, theirs }) =>
        document === undefined ? [] : [base, ours, theirs].map((file) => ({ path, file }))
      )
    )
    const all: Array<ResolvedItem> = []
    for (const item of both) {
      const told = isSwapped ? { ...item, ours: item.theirs, theirs: item.ours } : item
      all.push({ ...(yield* resolveItem(told, blobs, ruled, resolutions)), item })
    }
    const sides = [ourTree.settings, theirTree.settings] as const
    const [left, right] = isSwapped ? ([sides[1], sides[0]] as const) : sides
    const merged = yield* settingsFor(settingsPath, base?.settings ?? new Map(), left, right, resolutions)
    const put = all.flatMap((one): ReadonlyArray<ItemChange> => {
      const change = changeOf(one)
      return change?.after === undefined ? [] : [{ ...change, after: one.item.theirs ?? change.after }]
    })
    const isOpen = ({ decision }: ResolvedItem) => decision._tag === "Conflict"
    const conflictsOf = (some: ReadonlyArray<ResolvedItem>) => some.flatMap(({ conflict }) => conflict ?? [])
    const isSame =
      [...merged.values].every(([name, value]) => ourTree.settings.get(name) === value) &&
      merged.values.size === ourTree.settings.size
    const changedSettings = isSame
      ? undefined
      : yield* Either.mapLeft(
          settingsOf(merged.values),
          (problem) =>
            new ValidationError({
              operation,
              path: settingsPath,
              message: `the settings of both branches cannot be combined: ${problem}`,
              hint: "change them on one of the branches, then merge"
            })
        )
    return {
      kind: "merge",
      ours,
      settings,
      changed:
        changedSettings === undefined
          ? undefined
          : { settings: changedSettings, collections: collectionsChanged(ourTree.settings, merged.values) },
      changes: [
        ...taken.map(({ after, before, document, path }) => ({
          path,
          document,
          before,
          after,
          content: undefined
        })),
        ...all.flatMap((one) => changeOf(one) ?? [])
      ],
      decided: [...conflictsOf(all.filter((one) => !isOpen(one))), ...merged.decided],
      unmerged: [
        ...conflictsOf(all.filter(isOpen)),
        ...pathConflicts(own, [...taken, ...put]),
        ...merged.unmerged
      ]
    } as const
  })

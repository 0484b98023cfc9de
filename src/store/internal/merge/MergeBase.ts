import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { NotFoundError, type ReadError, type ValidationError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { markedContent } from "./MergeContent.js"
import { compareSides, contentsOf, type MergeContext, oidOf, splitChanges } from "./MergeItems.js"
import { mergeSettings, noSetting } from "./MergeSettings.js"
import { changesOf, type ItemChange, type MergeTree, nameOfItem, treeOfCommit } from "./MergeTree.js"

const treeAt = (core: StoreCore, oid: Oid): Effect.Effect<MergeTree, ReadError> =>
  Effect.flatMap(core.remote.resolve(oid), (head) =>
    Option.isSome(head)
      ? treeOfCommit(core, head.value)
      : new NotFoundError({
          operation: "Store.merge",
          message: `the commit ${oid}, which both branches have, is not in ${core.remote.name}`
        })
  )

/**
 * The tree with which both sides are compared. If there are several merge bases, they are merged with each other first,
 * on their own merge base, as Git does. Where they conflict, the two sides must agree or are in conflict too.
 */
export const mergeBaseTree = (
  core: StoreCore,
  bases: ReadonlyArray<Oid>,
  merging: MergeContext,
  settingsPath: string
): Effect.Effect<MergeTree | undefined, ReadError | ValidationError> =>
  Effect.gen(function* () {
    const [first, ...others] = bases
    if (first === undefined) return undefined
    let tree = yield* treeAt(core, first)
    for (const other of others) {
      const common = yield* core.remote.mergeBases(first, other)
      const base = yield* mergeBaseTree(core, common, merging, settingsPath)
      tree = yield* mergeBaseTrees(core, base, tree, yield* treeAt(core, other), merging, settingsPath)
    }
    return tree
  })

const mergeBaseTrees = (
  core: StoreCore,
  base: MergeTree | undefined,
  ours: MergeTree,
  theirs: MergeTree,
  merging: MergeContext,
  settingsPath: string
): Effect.Effect<MergeTree, ReadError | ValidationError> =>
  Effect.gen(function* () {
    const { both, taken } = splitChanges(
      yield* changesOf(core, base, ours, settingsPath),
      yield* changesOf(core, base, theirs, settingsPath)
    )
    const blobs = new Map([...ours.blobs, ...theirs.blobs, ...(base?.blobs ?? [])])
    const changed = new Map(ours.changed)
    const set = (item: ItemChange) => {
      const key = nameOfItem(item)
      const before = changed.get(key)
      changed.set(key, before === undefined ? item : { ...item, before: before.before })
    }
    for (const change of taken) set(change)
    const documents = both.filter(({ document }) => document !== undefined)
    const contents = yield* contentsOf(
      core,
      [theirs, ours, base],
      documents.flatMap(({ base, ours, path, theirs }) =>
        [base, ours, theirs].map((file) => ({ path, file }))
      )
    )
    for (const item of both) {
      const compared = yield* compareSides(item, contents, merging)
      const content =
        compared.conflict === undefined
          ? compared.merge.content
          : markedContent(compared.merge, [item.ours?.oid, item.theirs?.oid])
      const oid = oidOf(content)
      blobs.set(oid, content)
      const { mode } = (item.ours ?? item.theirs)!
      set({ path: item.path, document: item.document, before: item.ours, after: { oid, mode } })
    }
    const settings = mergeSettings(base?.settings ?? new Map(), ours.settings, theirs.settings)
    for (const { name } of settings.conflicts) settings.values.set(name, noSetting)
    return { head: ours.head, changed, blobs, settings: settings.values }
  })

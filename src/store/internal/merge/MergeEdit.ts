import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import type { Change, Head } from "../../remote/GitRemote.js"
import type { ResolvedOptions } from "../../StoreOptions.js"
import type { DocumentEdit, DocumentOperation } from "../commit/DocumentEdit.js"
import type { NextVersion } from "../commit/NextVersion.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { givenVersion } from "../commit/VersionCodec.js"
import { removeFiles } from "../derived/FormatChange.js"
import type { SettingsAt } from "../snapshot/RepositorySettings.js"
import type { Snapshot } from "../snapshot/Snapshot.js"
import { contentsOf } from "./MergeItems.js"
import type { MergedChange, MergePlan } from "./MergePlan.js"
import { removedDerived } from "./MergeSettings.js"
import { treeOfCommit } from "./MergeTree.js"

type Planned = Extract<MergePlan, { readonly kind: "merge" }>

/** Whether only the file mode changes. */
export const isOfMode = ({ after, before }: MergedChange): boolean => before?.oid === after?.oid

const fileChange = ({ after, before, content, path }: MergedChange): Change =>
  after === undefined
    ? { _tag: "Remove", path, mode: before?.mode }
    : content === undefined
      ? { _tag: "Link", path, ...after }
      : { _tag: "Put", path, content }

const operationOf = (
  { after, content: made, document }: MergedChange,
  content: Uint8Array | undefined
): DocumentOperation => ({
  ...document!,
  needs: "any",
  next: () =>
    Effect.succeed<NextVersion>(
      content === undefined
        ? givenVersion(null)
        : // The content contains the document.
          { ...givenVersion({}), content, file: made === undefined ? after : undefined }
    )
})

/** The later of the times of two commits, so that everyone who merges them writes the same time. */
const laterCommitTime = (core: StoreCore, ours: Head, theirs: Head): Effect.Effect<string, ReadError> =>
  Effect.map(
    Effect.forEach([ours, theirs], ({ commit }) => core.remote.commitInfo(commit)),
    (infos) => {
      const times = infos.flatMap((info) =>
        Option.isSome(info) ? [Date.parse(info.value.committer.date)] : []
      )
      return new Date(Math.max(0, ...times.filter((time) => !Number.isNaN(time)))).toISOString()
    }
  )

/**
 * The edit of a merge. Documents of collections with an index or a manifest are operations, because their contents are
 * needed to derive these files. Everything else is linked by its blob.
 */
export const mergeEdit = (
  core: StoreCore,
  snapshot: Snapshot,
  plan: Planned,
  theirs: Head,
  text: Pick<DocumentEdit, "operation" | "message" | "author">
): Effect.Effect<DocumentEdit, ReadError> =>
  Effect.gen(function* () {
    const { changed, changes, ours } = plan
    const settings: SettingsAt =
      changed === undefined ? plan.settings : { ...plan.settings, recorded: true, settings: changed.settings }
    const derived = new Set<string>()
    for (const collection of new Set(changes.flatMap(({ document }) => document?.collection ?? []))) {
      const { indexes, manifest } = yield* core.derived.filesOf(snapshot.untracked, settings, collection)
      if (indexes.size > 0 || manifest !== undefined) derived.add(collection)
    }
    const isDerived = (change: MergedChange) =>
      change.document !== undefined && derived.has(change.document.collection) && !isOfMode(change)
    const operated = changes.filter(isDerived)
    const contents = yield* contentsOf(
      core,
      [yield* treeOfCommit(core, theirs)],
      operated.flatMap(({ after, before, content, path }) =>
        content === undefined
          ? [
              { path, file: before },
              { path, file: after }
            ]
          : [{ path, file: before }]
      )
    )
    const contentOf = ({ after, content }: MergedChange): Uint8Array | undefined =>
      content ?? (after === undefined ? undefined : contents.get(after.oid))
    const operations = operated.map((change) => operationOf(change, contentOf(change)))
    const files = changes.filter((change) => !isDerived(change)).map(fileChange)
    const gone = changed === undefined ? undefined : removedDerived(plan.settings.settings, changed.settings)
    if (gone !== undefined) {
      const parts = { derived: core.derived, remote: core.remote, options: core.options as ResolvedOptions }
      const collections = [...gone.indexes.keys(), ...gone.manifests.keys()]
      const before = { ...plan.settings.settings, ...gone }
      for (const change of yield* removeFiles(parts, snapshot.untracked, before, [...new Set(collections)]))
        files.push(change)
    }
    const isOtherFormat = changed !== undefined && changed.settings.format !== plan.settings.settings.format
    return {
      ...text,
      mode: "batch",
      operations,
      files,
      merges: [theirs.commit],
      derivedAt:
        operations.length === 0 && changed === undefined
          ? undefined
          : yield* laterCommitTime(core, ours, theirs),
      ...(changed === undefined
        ? {}
        : { settings: changed.settings, reindex: isOtherFormat ? "all" : changed.collections })
    } satisfies DocumentEdit
  })

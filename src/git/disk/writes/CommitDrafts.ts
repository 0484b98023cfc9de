import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import type { RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import * as Timestamp from "../../../domain/time/Timestamp.js"
import type { Change, Head, NewCommit, Signature } from "../../Commit.js"
import { linkTargetError, makeCommitObject, missingMergeParentError, putBlobOids } from "../../CommitDraft.js"
import * as GitObject from "../../GitObject.js"
import { commitTextError } from "../../Names.js"
import type { PathEdit } from "../../TreeEdit.js"
import type { NativeReads } from "../objects/NativeReads.js"
import type { ObjectDatabase } from "../objects/ObjectDatabase.js"
import type { PackableObject } from "../packs/PackBuilder.js"
import { type NewTree, rewriteTree } from "../packs/TreeRewriter.js"
import type { TreeChange } from "../port/GitRepository.js"
import type { Draft } from "./Staging.js"

/** The number of changes that are hashed before other fibers may run. */
const slice = 64

export type CommitDrafts = ReturnType<typeof make>

/** Turns commits into objects, without writing them. */
export const make = (objects: ObjectDatabase, native: NativeReads, signature: Signature) => {
  const packableTrees = (trees: ReadonlyArray<NewTree>): Array<PackableObject> =>
    trees.map(({ delta, oid, tree }) => {
      objects.cacheTree(oid, tree)
      return { oid, type: "tree", content: tree.bytes, delta }
    })

  /** The edits of a commit, and its new blobs if `withBlobs`. Hashed in slices. */
  const editsOf = (operation: string, changes: ReadonlyArray<Change>, withBlobs: boolean) =>
    Effect.gen(function* () {
      const edits: Array<PathEdit> = []
      const blobs: Array<PackableObject> = []
      const timeSlice = TimeSlice.make()
      for (let from = 0; from < changes.length; from += slice) {
        if (timeSlice.isSpent()) yield* timeSlice.pause
        yield* native.runChecked(operation, () => {
          edits.length = from
          if (from === 0) blobs.length = 0
          const part = changes.slice(from, from + slice)
          if (part.some(({ _tag }) => _tag === "Link")) objects.files.rescan()
          for (const change of part) {
            if (change._tag === "Remove") {
              edits.push({ path: change.path, mode: "100644", oid: undefined })
            } else if (change._tag === "Link") {
              const { mode = "100644" } = change
              checkTarget(operation, change.path, change.oid, mode)
              // The blob belongs to a commit that is not yet written, and that may fail although this one succeeds.
              const staged = objects.staged.get(change.oid)
              if (withBlobs && staged !== undefined) {
                blobs.push({ oid: change.oid, type: "blob", content: staged.object.content })
              }
              edits.push({ path: change.path, mode, oid: change.oid })
            } else {
              const oid = GitObject.hash("blob", change.content)
              if (withBlobs) blobs.push({ oid, type: "blob", content: change.content })
              const keepsSubmodule = change.replacesSubmodule !== true
              edits.push({ path: change.path, mode: "100644", oid, keepsSubmodule })
            }
          }
        })
      }
      return { edits, blobs }
    })

  const checkTarget = (operation: string, at: string, oid: Oid, mode: TreeChange["mode"]) => {
    const invalid = linkTargetError(operation, at, oid, mode, objects.info(oid)?.type)
    if (invalid !== undefined) throw invalid
  }

  const draft = (
    head: Option.Option<Head>,
    commit: NewCommit
  ): Effect.Effect<Draft, RemoteError | ValidationError> =>
    Effect.gen(function* () {
      const operation = "GitRepository.commitNext"
      for (const oid of commit.merges ?? []) {
        const found = yield* native.find(operation, oid)
        if (!Option.exists(found, ({ type }) => type === "commit"))
          return yield* missingMergeParentError(operation, oid)
      }
      const { blobs, edits } = yield* editsOf(operation, commit.changes, true)
      const now = yield* Timestamp.now(operation)
      return yield* native.runStepsChecked(operation, function* () {
        const invalid = commitTextError(operation, commit)
        if (invalid !== undefined) throw invalid
        const base = Option.getOrUndefined(Option.map(head, (at) => at.tree))
        const rewritten = yield* rewriteTree(objects, base, edits, { operation, removesDirectories: false })
        const content = GitObject.encodeCommit(makeCommitObject(head, rewritten.root, commit, now, signature))
        const oid = GitObject.hash("commit", content)
        objects.cacheCommit(oid, content)
        const put = putBlobOids(commit, (index) => edits[index]?.oid)
        return {
          committed: { commit: oid, tree: rewritten.root, blobs: put },
          objects: [...blobs, ...packableTrees(rewritten.trees), { oid, type: "commit" as const, content }]
        }
      })
    })

  return { draft, editsOf, checkTarget } as const
}

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RefMoved } from "../../../../domain/errors/RefMoved.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import { branchRef } from "../../../../git/Names.js"
import type { Change, CommitText, CreatedCommit } from "../../GitRemote.js"
import type { RemoteOperation, WriteCheck } from "../client/RemoteOperation.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import type { ObjectCache } from "../objects/ObjectCache.js"
import type { BranchSnapshots } from "../reads/BranchSnapshots.js"
import type { FileReader } from "../reads/FileReader.js"
import type { makeContentsWrite } from "./ContentsWrite.js"
import type { DeriveTrees } from "./DerivedTrees.js"

interface Parts {
  readonly cache: ObjectCache
  readonly deriveTrees: DeriveTrees
  readonly branchHeads: BranchHeads
  readonly files: FileReader
  readonly snapshots: BranchSnapshots
  readonly writeFile: ReturnType<typeof makeContentsWrite>
  readonly asOperation: RemoteOperation
  readonly checkWrite: WriteCheck
}

/** The change of one file, with its current version as the precondition. */
export interface ContentsCommit {
  readonly branch: string
  readonly change: Exclude<Change, { readonly _tag: "Link" }>
  /** None: the file must not exist. */
  readonly expected: Option.Option<Oid>
  readonly text: CommitText
}

/** Commits one file by the Contents API and updates the caches of the branch. `RefMoved`: the file has changed. */
export const makeContentsCommit = ({
  branchHeads,
  cache,
  files,
  deriveTrees,
  snapshots,
  asOperation,
  checkWrite,
  writeFile
}: Parts) => {
  const updateCaches = ({ branch, change, expected }: ContentsCommit, made: CreatedCommit, begun: number) =>
    Effect.gen(function* () {
      const { path } = change
      const before = Option.getOrUndefined(branchHeads.cachedHead(branch) ?? Option.none())
      const blob = Option.fromNullable(made.blobs.get(path))
      if (change._tag === "Put" && Option.isSome(blob)) cache.putBlob(blob.value, change.content)
      files.forgetValidator(branch, path)
      snapshots.forgetFile(branch, path)
      yield* branchHeads.recordFileWrite(branch, path, expected, blob, begun)
      yield* branchHeads.recordMove(
        branch,
        Option.fromNullable(made.parents?.[0] ?? before?.commit),
        made,
        begun
      )
      if (Option.isNone(made.tree)) return
      const parent = before?.commit === made.parents?.[0] ? before : undefined
      deriveTrees(parent, [change], { commit: made.commit, tree: made.tree.value })
    })

  return ({ branch, change: given, expected, text }: ContentsCommit) =>
    Effect.flatMap(branchHeads.now, (begun) => {
      const change = given._tag === "Put" ? { ...given, content: given.content.slice() } : given
      const content = change._tag === "Put" ? Option.some(change.content) : Option.none()
      const { path } = change
      return checkWrite("commitNext", branch, path).pipe(
        Effect.zipRight(
          writeFile({ operation: "GitRemote.commitNext", branch, path, content, expected, text })
        ),
        branchHeads.forgetOnFailure(branch),
        snapshots.forgetOnFailure(branch),
        Effect.tap((made) => updateCaches({ branch, change, expected, text }, made, begun)),
        Effect.catchTag(
          "ConflictError",
          () => new RefMoved({ ref: branchRef(branch), expected: Option.none(), actual: Option.none() })
        ),
        asOperation("putFile", path)
      )
    })
}

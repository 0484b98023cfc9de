import * as Option from "effect/Option"
import { ValidationError } from "../domain/errors/StoreError.js"
import type { Oid } from "../domain/identifiers/Oid.js"
import type { CommitText, Head, NewCommit, Signature } from "./Commit.js"
import { type CommitObject, type ObjectType, withFinalNewline } from "./GitObject.js"
import type { TreeEntry } from "./Tree.js"

/** The default author and committer. */
export const defaultSignature: Signature = { name: "Chainstore", email: "chainstore@localhost" }

/** The commit object of a new commit on `head` at the time `millis`. `signature` is the default author. */
export const makeCommitObject = (
  head: Option.Option<Head>,
  tree: Oid,
  { author, committer, merges = [], message }: CommitText & Pick<NewCommit, "merges">,
  millis: number,
  signature: Signature = defaultSignature
): CommitObject => {
  const dated = (who: Signature) => ({ ...who, seconds: Math.floor(millis / 1000), offset: 0 })
  const datedAuthor = dated(author ?? signature)
  return {
    tree,
    parents: [...new Set([...Option.toArray(Option.map(head, ({ commit }) => commit)), ...merges])],
    author: datedAuthor,
    committer: committer === undefined ? datedAuthor : dated(committer),
    message: withFinalNewline(message)
  }
}

/** The error for a linked object that is missing or has another type than the mode requires. */
export const linkTargetError = (
  operation: string,
  path: string,
  oid: Oid,
  mode: TreeEntry["mode"],
  actual: ObjectType | undefined
): ValidationError | undefined => {
  const required = mode === "040000" ? "tree" : "blob"
  // The commit of a submodule is an object of another repository.
  return mode === "160000" || actual === required
    ? undefined
    : new ValidationError({
        operation,
        path,
        message: `${oid} is ${actual === undefined ? "not in the repository" : `a ${actual}, not a ${required}`}`,
        hint: "Write the object first"
      })
}

/** The error for a merged commit that is not in the repository. */
export const missingMergeParentError = (operation: string, oid: Oid): ValidationError =>
  new ValidationError({
    operation,
    message: `${oid} is not a commit of this repository, so that it cannot be merged`,
    hint: "Give the id of a commit that the repository has"
  })

/** The blob ids of the `Put` paths of a commit. `oidOf` returns the id of a change by its position. */
export const putBlobOids = (
  { changes }: NewCommit,
  oidOf: (index: number) => Oid | undefined
): ReadonlyMap<string, Oid> =>
  new Map(
    changes.flatMap(({ _tag, path }, index) => {
      const oid = _tag === "Put" ? oidOf(index) : undefined
      return oid === undefined ? [] : [[path, oid] as const]
    })
  )

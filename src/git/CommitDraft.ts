import * as Option from "effect/Option"
import { ValidationError } from "../domain/errors/StoreError.js"
import type { Oid } from "../domain/identifiers/Oid.js"
import type { CommitText, Head, NewCommit, Signature } from "./Commit.js"
import { type CommitObject, type ObjectType, withFinalNewline } from "./GitObject.js"
import type { TreeEntry } from "./Tree.js"

/** Who commits, where nobody says. */
export const defaultSignature: Signature = { name: "Chainstore", email: "chainstore@localhost" }

/** The commit object of a new commit, made at `millis` on `head` by `signature` where the text names nobody. */
export const makeCommitObject = (
  head: Option.Option<Head>,
  tree: Oid,
  { author, committer, merges = [], message }: CommitText & Pick<NewCommit, "merges">,
  millis: number,
  signature: Signature = defaultSignature
): CommitObject => {
  const person = (who: Signature) => ({ ...who, seconds: Math.floor(millis / 1000), offset: 0 })
  const by = person(author ?? signature)
  return {
    tree,
    parents: [...new Set([...Option.toArray(Option.map(head, ({ commit }) => commit)), ...merges])],
    author: by,
    committer: committer === undefined ? by : person(committer),
    message: withFinalNewline(message)
  }
}

/** The error for a path that is to be an object which is missing or of another type. */
export const linkTargetError = (
  operation: string,
  path: string,
  oid: Oid,
  mode: TreeEntry["mode"],
  actual: ObjectType | undefined
): ValidationError | undefined => {
  const wanted = mode === "040000" ? "tree" : "blob"
  // A submodule's commit lies in another repository.
  return mode === "160000" || actual === wanted
    ? undefined
    : new ValidationError({
        operation,
        path,
        message: `${oid} is ${actual === undefined ? "not in the repository" : `a ${actual}, not a ${wanted}`}`,
        hint: "Write the object first"
      })
}

/** The error for a commit that is to be merged and is not in the repository. */
export const missingMergeParentError = (operation: string, oid: Oid): ValidationError =>
  new ValidationError({
    operation,
    message: `${oid} is not a commit of this repository, so that it cannot be merged`,
    hint: "Give the id of a commit that the repository has"
  })

/** The ids of the paths that a commit puts, by the ids of its changes in their order. */
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

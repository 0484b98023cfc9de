import { Effect, Option } from "effect"
import { Oid } from "../../domain/Oid.js"
import type { RemoteError } from "../../domain/StoreError.js"
import type { CommitInfo } from "../../store/GitRemote.js"
import type { GitRepository } from "../../store/git/GitRepository.js"
import { isAbbreviation, isRefName } from "./Names.js"

/** Whether a repository has no branch at all. */
export const isEmpty = (git: GitRepository): Effect.Effect<boolean, RemoteError> =>
  Effect.map(git.refs("refs/heads/"), (refs) => refs.length === 0)

/** The commit that a branch, tag, ref name or commit id names; none when there is none. */
export const commitOf = (
  git: GitRepository,
  revision: string
): Effect.Effect<Option.Option<CommitInfo>, RemoteError> => {
  if (revision === "HEAD")
    return Effect.flatMap(git.defaultBranch, (branch) => commitOf(git, `refs/heads/${branch}`))
  if (!isRefName(revision) && !isAbbreviation(revision)) return Effect.succeedNone
  return Effect.flatMap(git.resolve(revision), (oid) =>
    Option.isSome(oid) ? git.commit(oid.value) : Effect.succeedNone
  )
}

/** The tree that a tree id, a revision, or `revision:path` names. */
export const treeOf = (
  git: GitRepository,
  expression: string
): Effect.Effect<Option.Option<Oid>, RemoteError> =>
  Effect.gen(function* () {
    const colon = expression.indexOf(":")
    const revision = colon < 0 ? expression : expression.slice(0, colon)
    const path = colon < 0 ? "" : expression.slice(colon + 1)
    const root = yield* rootOf(git, revision)
    if (Option.isNone(root) || path === "") return root
    const entry = yield* git.lookup(root.value, path)
    return Option.isSome(entry) && entry.value.kind === "tree" ? Option.some(entry.value.oid) : Option.none()
  })

const rootOf = (git: GitRepository, revision: string) =>
  Effect.gen(function* () {
    const oid = asOid(revision)
    if (oid !== undefined) {
      const info = yield* git.objectInfo(oid)
      if (Option.isSome(info) && info.value.type === "tree") return Option.some(oid)
    }
    return Option.map(yield* commitOf(git, revision), ({ tree }) => tree)
  })

/** A whole object id, as it is or undefined. */
export const asOid = (text: unknown): Oid | undefined =>
  typeof text === "string" && /^[0-9a-f]{40}$/i.test(text) ? Oid.make(text.toLowerCase()) : undefined

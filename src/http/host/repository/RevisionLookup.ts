import { Effect, Option } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { Oid } from "../../../domain/identifiers/Oid.js"
import type { CommitInfo } from "../../../git/Commit.js"
import { tagTarget } from "../../../git/disk/packs/ObjectParsing.js"
import type { GitRepository, ObjectType } from "../../../git/disk/port/GitRepository.js"
import { isRefName } from "../../../git/Names.js"
import { parseRevision } from "../../../git/Revision.js"
import { isAbbreviation } from "./HostNames.js"

type Lookup<A> = Effect.Effect<Option.Option<A>, RemoteError>

/** Whether a repository has no branches. */
export const isEmpty = (git: GitRepository): Effect.Effect<boolean, RemoteError> =>
  Effect.map(git.refs("refs/heads/"), (refs) => refs.length === 0)

/** The commit of a branch, tag, ref name or commit id, optionally with steps such as `~2`; none if there is none. */
export const commitOf = (git: GitRepository, revision: string): Lookup<CommitInfo> => {
  if (hasSteps(revision)) return Effect.flatMap(objectOf(git, revision), (oid) => commitBelow(git, oid))
  if (revision === "HEAD")
    return Effect.flatMap(git.defaultBranch, (branch) => commitOf(git, `refs/heads/${branch}`))
  if (!isRefName(revision) && !isAbbreviation(revision)) return Effect.succeedNone
  return git.commitAt(revision)
}

/** The tree of a tree id, a revision or `revision:path`. */
export const treeOf = (git: GitRepository, expression: string): Lookup<Oid> =>
  Effect.gen(function* () {
    const colon = expression.indexOf(":")
    const revision = colon < 0 ? expression : expression.slice(0, colon)
    const path = colon < 0 ? "" : expression.slice(colon + 1)
    const root = yield* rootOf(git, revision)
    if (Option.isNone(root) || path === "") return root
    const entry = yield* git.lookup(root.value, path)
    return Option.isSome(entry) && entry.value.kind === "tree" ? Option.some(entry.value.oid) : Option.none()
  })

const rootOf = (git: GitRepository, revision: string): Lookup<Oid> =>
  Effect.gen(function* () {
    if (hasSteps(revision)) {
      const named = yield* objectOf(git, revision)
      return Option.isSome(named) ? yield* peeled(git, named.value, "tree") : Option.none()
    }
    const oid = oidFrom(revision)
    if (oid !== undefined) {
      const info = yield* git.objectInfo(oid)
      if (Option.isSome(info) && info.value.type === "tree") return Option.some(oid)
    }
    return Option.map(yield* commitOf(git, revision), ({ tree }) => tree)
  })

/** Parses a full object id; undefined if it is not one. */
export const oidFrom = (text: unknown): Oid | undefined =>
  typeof text === "string" && /^[0-9a-f]{40}$/i.test(text) ? Oid.make(text.toLowerCase()) : undefined

// Ref names contain neither character.
const hasSteps = (revision: string) => /[~^]/.test(revision)

/** The object of a name or id without peeling: an annotated tag is returned itself. */
const nameOf = (git: GitRepository, name: string): Lookup<Oid> =>
  Effect.gen(function* () {
    if (name === "HEAD") return Option.map(yield* commitOf(git, name), ({ commit }) => commit)
    const oid = oidFrom(name)
    if (oid !== undefined && Option.isSome(yield* git.objectInfo(oid))) return Option.some(oid)
    const whole = name.startsWith("refs/") ? [""] : ["refs/heads/", "refs/tags/", "refs/"]
    for (const prefix of isRefName(name) ? whole : []) {
      const found = yield* git.ref(prefix + name)
      if (Option.isSome(found)) return found
    }
    return isAbbreviation(name) ? yield* git.resolve(name) : Option.none()
  })

/** The object of a name or id with steps, such as `main~2`, `v1^{}` or `HEAD^2`. */
export const objectOf = (git: GitRepository, revision: string): Lookup<Oid> =>
  Effect.gen(function* () {
    const parsed = parseRevision(revision)
    if (parsed === undefined) return Option.none()
    let at = yield* nameOf(git, parsed.name)
    for (const step of parsed.steps) {
      if (Option.isNone(at)) return at
      if (step._tag === "Ancestor") at = yield* ancestor(git, at, step.back, step.nth)
      else if (step.type !== "object") {
        at = yield* peeled(git, at.value, step.type === "any" ? undefined : step.type)
      }
    }
    return at
  })

const commitBelow = (git: GitRepository, oid: Option.Option<Oid>): Lookup<CommitInfo> =>
  Effect.gen(function* () {
    const at = Option.isSome(oid) ? yield* peeled(git, oid.value, "commit") : oid
    return Option.isSome(at) ? yield* git.commit(at.value) : Option.none()
  })

/** The ancestor `back` steps away, each step by the nth parent. */
const ancestor = (git: GitRepository, from: Option.Option<Oid>, back: number, nth: number): Lookup<Oid> =>
  Effect.gen(function* () {
    let at = yield* commitBelow(git, from)
    for (let left = back; left > 0 && Option.isSome(at); left--) {
      const parent = at.value.parents[nth - 1]
      at = parent === undefined ? Option.none() : yield* git.commit(parent)
    }
    return Option.map(at, ({ commit }) => commit)
  })

/** Peels an object to the given type, or, without a type, to the first object that is not a tag. */
const peeled = (git: GitRepository, oid: Oid, wanted: string | undefined): Lookup<Oid> =>
  Effect.gen(function* () {
    let at = oid
    for (;;) {
      const info = yield* git.objectInfo(at)
      if (Option.isNone(info)) return Option.none()
      const type: ObjectType = info.value.type
      if (wanted === undefined ? type !== "tag" : type === wanted) return Option.some(at)
      if (type === "commit" && wanted === "tree") return Option.map(yield* git.commit(at), ({ tree }) => tree)
      if (type !== "tag") return Option.none()
      const tag = yield* git.object(at)
      const target = Option.isSome(tag) ? tagTarget(tag.value.content) : undefined
      if (target === undefined) return Option.none()
      at = target
    }
  })

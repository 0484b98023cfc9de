import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { isOid, type Oid } from "../../domain/identifiers/Oid.js"
import type { GitRepository } from "../disk/port/GitRepository.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { Repository } from "../Repository.js"
import { parseRevision } from "../Revision.js"
import type { LocalBranches } from "./LocalBranches.js"
import type { ObjectFetcher } from "./ObjectFetcher.js"
import { oidOf, type ServerHeads } from "./ServerHeads.js"

type ResolveOptions = NonNullable<Parameters<Repository["resolve"]>[1]>

/** An invalid ref name, which resolves to no object. */
const unresolvable = "refs/.."

/** The refs that a name may stand for, in Git's order: the full name, a tag, a branch. */
const candidateRefs = (name: string): ReadonlyArray<string> =>
  name.startsWith("refs/") ? [name] : [`refs/${name}`, `refs/tags/${name}`, `refs/heads/${name}`]

export interface RevisionResolverOptions {
  readonly engine: GitRepository
  readonly objects: Pick<ObjectFetcher, "deepen" | "fetchCommit" | "fetchingMissing" | "setRef">
  readonly heads: ServerHeads
  readonly local: LocalBranches
}

/** Resolves revisions against the refs of the server. Their commits are fetched into the clone. */
export const make = ({ engine, heads, local, objects }: RevisionResolverOptions) => {
  const { deepen, fetchCommit, fetchingMissing, setRef } = objects
  const serverHead = Effect.map(heads.listRefs(["HEAD"]), (refs) => oidOf(refs, "HEAD"))

  /** Copies the refs that a name may stand for into the clone. Returns the name or id to resolve in the clone. */
  const mirrorRefs = (name: string, how: ResolveOptions): Effect.Effect<string, ServerFailure> =>
    Effect.gen(function* () {
      if (name === "") return unresolvable
      if (name === "HEAD") {
        const head = yield* serverHead
        if (head !== undefined) yield* fetchCommit(head)
        return head ?? unresolvable
      }
      if (isOid(name)) return (yield* fetchCommit(name, how)) ? name : unresolvable
      const localTip = local.tip(name.replace(/^(refs\/)?heads\//, ""))
      if (localTip !== undefined) return localTip
      const candidates = candidateRefs(name)
      const refs = yield* heads.listRefs(candidates)
      for (const ref of candidates) {
        const oid = oidOf(refs, ref)
        if (oid !== undefined) yield* fetchCommit(oid)
        yield* setRef(ref, oid)
      }
      if (candidates.every((ref) => oidOf(refs, ref) === undefined) && /^[0-9a-f]{4,39}$/.test(name)) {
        // A server does not resolve abbreviated ids: the clone searches the whole history instead.
        const head = yield* serverHead
        if (head !== undefined && (yield* fetchCommit(head))) yield* deepen(head)
      }
      return name
    })

  return (revision: string, how: ResolveOptions = {}): Effect.Effect<Option.Option<Oid>, ServerFailure> =>
    Effect.gen(function* () {
      const parsed = parseRevision(revision)
      if (parsed === undefined) return Option.none()
      const name = yield* mirrorRefs(parsed.name, how)
      const steps = revision.slice(parsed.name.length)
      if (steps !== "") {
        const start = yield* engine.resolve(name)
        if (Option.isSome(start)) yield* deepen(start.value)
      }
      return yield* fetchingMissing(engine.resolve(`${name}${steps}`))
    })
}

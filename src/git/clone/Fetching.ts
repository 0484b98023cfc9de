import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RemoteError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { NewCommit } from "../Commit.js"
import { MissingObject } from "../disk/files/EngineError.js"
import type { GitRepository } from "../disk/port/GitRepository.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { LocalBranches } from "./LocalBranches.js"
import type { Origin } from "./Origin.js"
import type { Reached } from "./PushOutcome.js"
import type { Shallow } from "./Shallow.js"

/** Commits that a fetch says are here, at most. */
const mostHaves = 64
/** Commits that are fetched with a head that has moved: they tell by themselves how it stands to what was there. */
const lately = 8
/** Commits of a history that are looked at in the first step back, and how many times more in each next one. */
const firstStep = 64
const factor = 8
/** As deep as any history. */
const everything = 2_147_483_647

/** Where a clone notes the heads that it has seen, each by its branch's name in one segment: none is above another. */
const seenPrefix = "refs/chainstore/seen/"

const missing = (error: unknown): Oid | undefined =>
  error instanceof RemoteError && error.cause instanceof MissingObject ? (error.cause.oid as Oid) : undefined

export interface FetchingOptions {
  readonly url: string
  readonly engine: GitRepository
  readonly origin: Origin
  readonly shallow: Shallow
  readonly local: LocalBranches
}

export type Fetching = ReturnType<typeof make>

/** How objects come into a clone when they are first read. */
export const make = ({ engine, local, origin, shallow, url }: FetchingOptions) => {
  const has = (oid: Oid) => Effect.map(engine.objectInfo(oid), Option.isSome)

  const haves = Effect.map(Effect.zip(engine.refs("refs/heads/"), engine.refs(seenPrefix)), ([heads, seen]) =>
    [...new Set([...seen, ...heads].map(({ oid }) => local.published(oid)))].slice(0, mostHaves)
  )

  const shallows = Effect.sync(() => [...shallow.all])

  /** The error for an object that has to be there, and that the server does not have. */
  const lost = (oid: Oid) =>
    new RemoteError({
      operation: "GitHost.fetch",
      reason: "Corrupt",
      path: url,
      message: `the server does not have the object ${oid}`,
      hint: "run `git fsck` in the repository on the server"
    })

  /** Brings a commit with its trees into the clone; false where the server does not have it. */
  const bring = (oid: Oid): Effect.Effect<boolean, ServerFailure> =>
    Effect.gen(function* () {
      if (yield* has(oid)) return true
      const held = yield* haves
      return yield* origin.fetch({
        wants: [oid],
        haves: held,
        shallow: yield* shallows,
        depth: held.length === 0 ? 1 : lately,
        filter: "blob:none"
      })
    })

  /** Brings one object into the clone. A server leaves out what it takes to be here with a commit, so none is named. */
  const bringAlone = (oid: Oid): Effect.Effect<boolean, ServerFailure> =>
    Effect.flatMap(shallows, (cut) =>
      origin.fetch({ wants: [oid], shallow: cut, depth: 1, filter: "blob:none" })
    )

  /** The history of a commit with its trees, so many commits deep; true where that has brought something. */
  const bringHistory = (oid: Oid, depth = everything): Effect.Effect<boolean, ServerFailure> =>
    Effect.gen(function* () {
      const before = yield* shallows
      if (before.length === 0) return false
      yield* origin.fetch({ wants: [local.published(oid)], shallow: before, depth, filter: "blob:none" })
      const after = shallow.all
      return before.length !== after.size || before.some((cut) => !after.has(cut))
    })

  /** Runs what reads objects, again with each one that had to be brought. */
  const fetching = <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    last?: Oid
  ): Effect.Effect<A, E | ServerFailure, R> =>
    Effect.catchAll(effect, (error) => {
      const oid = missing(error)
      if (oid === undefined || oid === last) return Effect.fail(error)
      return Effect.flatMap(
        bringAlone(oid),
        (found): Effect.Effect<A, E | ServerFailure, R> => (found ? fetching(effect, oid) : lost(oid))
      )
    })

  /** Reads what may have to be brought: none where the server does not have it either. */
  const brought = <A>(
    read: Effect.Effect<Option.Option<A>, RemoteError>,
    bringing: Effect.Effect<boolean, ServerFailure>
  ) =>
    Effect.flatMap(read, (found) =>
      Option.isSome(found)
        ? Effect.succeed(found)
        : Effect.flatMap(bringing, (there) => (there ? read : Effect.succeed(found)))
    )

  const parentsOf = (oid: Oid) =>
    Effect.map(
      engine.commit(oid),
      Option.match({ onNone: () => [] as ReadonlyArray<Oid>, onSome: ({ parents }) => parents })
    )

  /** Walks back from a head until one of two commits is met; history that is not here is brought step by step. */
  const reaches = (
    head: Oid,
    above: Oid,
    base: Oid | undefined,
    depth = firstStep
  ): Effect.Effect<Reached, ServerFailure> =>
    Effect.gen(function* () {
      if (!(yield* bring(head))) return "neither"
      const cuts = shallow.all
      const waiting: Array<Oid> = [head]
      const walked = new Set<Oid>(waiting)
      let isCut = false
      let isBaseMet = false
      for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
        if (at === above) return "above"
        const parents = yield* parentsOf(at)
        // Of a merge, one parent may lead to the base, and another one to the commit above it.
        if (at === base || parents.includes(base as Oid)) isBaseMet = true
        if (at === base) continue
        for (const parent of parents) {
          // The parents of a commit are known also where they are not here.
          if (parent === above) return "above"
          if (parent === base) continue
          if (!cuts.has(at) && !walked.has(parent)) waiting.push(parent)
          walked.add(parent)
        }
        if (cuts.has(at) && parents.some((parent) => parent !== base)) isCut = true
      }
      if (!isCut || !(yield* bringHistory(head, depth))) return isBaseMet ? "base" : "neither"
      return yield* reaches(head, above, base, Math.min(depth * factor, everything))
    })

  /** The merge bases of two commits; history that is not here is brought step by step. */
  const mergeBases = (a: Oid, b: Oid, depth = firstStep): Effect.Effect<ReadonlyArray<Oid>, ServerFailure> =>
    Effect.catchAll(engine.mergeBases(a, b), (error) => {
      const oid = missing(error)
      if (oid === undefined) return Effect.fail(error)
      return Effect.gen(function* () {
        const before = yield* shallows
        const fetched = yield* origin.fetch({
          wants: [local.published(a), local.published(b)],
          haves: yield* haves,
          shallow: before,
          depth,
          filter: "blob:none"
        })
        if (!fetched || (depth === everything && !(yield* has(oid)))) return yield* lost(oid)
        return yield* mergeBases(a, b, Math.min(depth * factor, everything))
      })
    })

  /** Brings the commits that a new commit merges and the files that it links to: the engine looks for them here. */
  const bringReferenced = ({ changes, merges = [] }: NewCommit): Effect.Effect<void, ServerFailure> =>
    Effect.gen(function* () {
      for (const oid of merges) yield* bring(oid)
      const wants: Array<Oid> = []
      for (const change of changes) {
        // A submodule's commit lies in another repository.
        if (change._tag !== "Link" || change.mode === "160000") continue
        if (!(yield* has(change.oid))) wants.push(change.oid)
      }
      if (wants.length > 0) yield* origin.fetch({ wants: [...new Set(wants)] })
    })

  /** Moves a ref of the clone; what is in the way of its name there is not on the server any more. */
  const place = (name: string, at: Oid | undefined): Effect.Effect<void, RemoteError> =>
    Effect.gen(function* () {
      const here = yield* engine.ref(name)
      if (Option.getOrUndefined(here) === at) return
      if (Option.isNone(here)) {
        for (const other of yield* engine.refs("refs/")) {
          if (!other.name.startsWith(`${name}/`) && !name.startsWith(`${other.name}/`)) continue
          yield* Effect.ignore(engine.updateRef(other.name, Option.some(other.oid), Option.none()))
        }
      }
      yield* engine
        .updateRef(name, here, Option.fromNullable(at))
        .pipe(Effect.catchTags({ RefMoved: () => Effect.void, AmbiguousWriteError: () => Effect.void }))
    })

  return {
    has,
    lost,
    bring,
    bringAlone,
    bringHistory,
    fetching,
    brought,
    reaches,
    mergeBases,
    bringReferenced,
    place,
    /** Notes a head that is here: the next fetch brings what is new alone. */
    note: (branch: string, at: Oid) =>
      place(`${seenPrefix}${encodeURIComponent(branch).replaceAll(".", "%2E")}`, at)
  } as const
}

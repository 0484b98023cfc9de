import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import { makeGatheredCalls } from "../../domain/concurrency/GatheredCalls.js"
import { makeSharedCalls } from "../../domain/concurrency/SharedCalls.js"
import { RemoteError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { NewCommit } from "../Commit.js"
import { MissingInBuild, MissingObject, toRemoteError } from "../disk/files/EngineError.js"
import type { GitRepository } from "../disk/port/GitRepository.js"
import type { ServerFailure } from "../protocol/Transport.js"
import { maxDepth } from "../protocol/UploadPack.js"
import { ownRefs } from "./CloneConfig.js"
import type { LocalBranches } from "./LocalBranches.js"
import type { Origin } from "./Origin.js"
import type { FirstMet } from "./PushOutcome.js"
import type { ShallowFile } from "./ShallowFile.js"

/** The largest number of `have` lines of a fetch. */
const maxHaves = 64
/** The largest number of objects of one fetch for concurrent callers, and for how long it waits for the end of another one. */
const maxGathered = 256
const maxGatherMillis = 250
/** The largest number of blobs of one fetch. */
export const maxBlobsPerFetch = 10_000
/** The depth of a fetch of a new head: usually enough history to compare it with the previous head. */
const headDepth = 8
/** The depth of the first fetch of a history, and the factor by which each next fetch is deeper. */
const firstDepth = 64
const depthFactor = 8

/**
 * The clone keeps one ref for each head that it has seen. The branch name is encoded into a single path segment, so that
 * no such ref is a prefix of another one.
 */
const seenPrefix = `${ownRefs}seen/`

const seenRef = (branch: string): string =>
  `${seenPrefix}${encodeURIComponent(branch).replaceAll(".", "%2E")}`

const missingOid = (error: unknown): Oid | undefined =>
  error instanceof RemoteError && error.cause instanceof MissingObject ? (error.cause.oid as Oid) : undefined

const missingOids = (error: unknown): ReadonlyArray<Oid> => {
  if (error instanceof MissingInBuild) return error.oids
  const oid = missingOid(error)
  return oid === undefined ? [] : [oid]
}

/**
 * Whether the outcome of a fetch may be due to one of its objects: the server lacks it, or cannot read it, or all of them are
 * larger than a fetch is allowed to be.
 */
const isDueToObjects = (exit: Exit.Exit<boolean, ServerFailure>): boolean =>
  Exit.match(exit, {
    onSuccess: (found) => !found,
    onFailure: (cause) =>
      Option.exists(
        Cause.failureOption(cause),
        (error) => error._tag === "RemoteError" && (error.reason === "Denied" || error.reason === "Server")
      )
  })

export interface ObjectFetcherOptions {
  readonly url: string
  readonly engine: GitRepository
  readonly origin: Origin
  readonly shallow: ShallowFile
  readonly local: LocalBranches
}

export type ObjectFetcher = ReturnType<typeof make>

/** Fetches objects into a clone when they are first read. */
export const make = ({ engine, local, origin, shallow, url }: ObjectFetcherOptions) => {
  const hasObject = (oid: Oid) => Effect.map(engine.objectInfo(oid), Option.isSome)
  /** Concurrent callers share one fetch of a commit. */
  const commitFetches = makeSharedCalls<boolean, ServerFailure>()
  /** The objects that the running build lacks; undefined outside of a build. */
  const missingInBuild = FiberRef.unsafeMake<Set<Oid> | undefined>(undefined)

  const haves = Effect.map(Effect.zip(engine.refs("refs/heads/"), engine.refs(seenPrefix)), ([heads, seen]) =>
    [...new Set([...seen, ...heads].map(({ oid }) => local.publishedAncestor(oid)))].slice(0, maxHaves)
  )

  const shallowCommits = Effect.sync(() => [...shallow.commits])

  /** The error for a required object that the server does not have. */
  const missingOnServer = (oid: Oid) =>
    new RemoteError({
      operation: "GitHost.fetch",
      reason: "Corrupt",
      path: url,
      message: `the server does not have the object ${oid}`,
      hint: "run `git fsck` in the repository on the server"
    })

  const fetchMissingCommit = (oid: Oid, withParents: boolean): Effect.Effect<boolean, ServerFailure> =>
    Effect.gen(function* () {
      const commits = yield* haves
      return yield* origin.fetch({
        wants: [oid],
        haves: commits,
        shallow: yield* shallowCommits,
        depth: commits.length > 0 ? headDepth : withParents ? 2 : 1,
        filter: "blob:none"
      })
    })

  /**
   * Fetches a commit and its trees, with `withParents` also its parents. Returns false if the server does not have the commit.
   */
  const fetchCommit = (
    oid: Oid,
    { withParents = false }: { readonly withParents?: boolean | undefined } = {}
  ): Effect.Effect<boolean, ServerFailure> =>
    Effect.gen(function* () {
      if (yield* hasObject(oid)) return true
      return yield* commitFetches(`${oid} ${withParents}`, fetchMissingCommit(oid, withParents))
    })

  /**
   * Fetches objects. The request has no `have` lines: a server leaves out every object that is reachable from such a commit,
   * although a partial clone may not have the object.
   */
  const fetchObjects = (wants: ReadonlyArray<Oid>): Effect.Effect<boolean, ServerFailure> =>
    Effect.flatMap(shallowCommits, (shallow) =>
      origin.fetch({ wants, shallow, depth: 1, filter: "blob:none" })
    )

  /**
   * Fetches those of some objects that another caller has not fetched while they were gathered. An object of a commit that is
   * not pushed may go meanwhile.
   */
  const fetchGathered = (oids: ReadonlyArray<Oid>): Effect.Effect<boolean, ServerFailure> =>
    Effect.gen(function* () {
      const wants = yield* Effect.filter(oids, (oid) => Effect.negate(hasObject(oid)))
      if (wants.length === 0) return true
      return (
        (yield* fetchObjects(wants)) && (yield* fetchGathered(oids.filter((oid) => !wants.includes(oid))))
      )
    })

  const gatheredFetches = makeGatheredCalls({
    run: (wants: ReadonlyArray<Oid>) =>
      Effect.map(Effect.exit(fetchGathered(wants)), (exit) => ({ exit, wants: wants.length })),
    maxSize: maxGathered,
    maxWaitMillis: maxGatherMillis
  })

  /** Fetches some objects. Concurrent callers share requests. Returns false if the server does not have one of them. */
  const fetchTogether = (oids: ReadonlyArray<Oid>): Effect.Effect<boolean, ServerFailure> =>
    Effect.flatMap(gatheredFetches.call(oids), ({ exit, wants }) =>
      wants > oids.length && isDueToObjects(exit) ? fetchObjects(oids) : exit
    )

  /**
   * Fetches one object. In the build of a commit it fails instead, as the server may take long to reply, and
   * other builds wait for this one.
   */
  const fetchObject = (oid: Oid): Effect.Effect<boolean, ServerFailure> =>
    orLeaveBuild([oid], fetchTogether([oid]))

  /** Fetches the blobs that the clone does not have. In a build it fails as `fetchObject` does. */
  const prefetchBlobs = (oids: ReadonlyArray<Oid>): Effect.Effect<void, ServerFailure> =>
    Effect.gen(function* () {
      const missing = yield* Effect.filter([...new Set(oids)], (oid) => Effect.negate(hasObject(oid)))
      if (missing.length > 0) yield* orLeaveBuild(missing, fetchAll(missing))
    })

  /** Fails with the error for one of some objects that the server does not have all of: halves are fetched until it is known. */
  const missingAmong = (oids: ReadonlyArray<Oid>): Effect.Effect<never, ServerFailure> => {
    if (oids.length === 1) return missingOnServer(oids[0]!)
    const middle = oids.length >> 1
    return Effect.flatMap(fetchObjects(oids.slice(0, middle)), (found) =>
      missingAmong(found ? oids.slice(middle) : oids.slice(0, middle))
    )
  }

  /** Fetches objects, and fails if the server does not have one of them. */
  const fetchAll = (oids: ReadonlyArray<Oid>): Effect.Effect<void, ServerFailure> =>
    Effect.gen(function* () {
      if (oids.length <= maxGathered) {
        if (!(yield* fetchTogether(oids))) return yield* missingAmong(oids)
        return
      }
      for (let at = 0; at < oids.length; at += maxBlobsPerFetch) {
        const wants = oids.slice(at, at + maxBlobsPerFetch)
        if (!(yield* origin.fetch({ wants }))) return yield* missingAmong(wants)
      }
    })

  /** Runs an effect, or, in a build, records the objects as missing and fails. */
  const orLeaveBuild = <A, E>(oids: ReadonlyArray<Oid>, effect: Effect.Effect<A, E>) =>
    Effect.flatMap(FiberRef.get(missingInBuild), (missing): Effect.Effect<A, E | RemoteError> => {
      if (missing === undefined) return effect
      for (const oid of oids) missing.add(oid)
      return Effect.fail(toRemoteError("GitHost.fetch", url, new MissingObject(oids[0]!)))
    })

  /** Runs the build of a commit. If the clone lacks objects that it reads, it fails with `MissingInBuild`. */
  const leavingForMissing = <A, E, R>(
    build: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | MissingInBuild, R> =>
    Effect.suspend(() => {
      const missing = new Set<Oid>()
      return Effect.catchAllCause(
        Effect.locally(build, missingInBuild, missing),
        (cause): Effect.Effect<never, E | MissingInBuild> =>
          missing.size === 0 || Cause.isInterrupted(cause)
            ? Effect.failCause(cause)
            : new MissingInBuild({ oids: [...missing] })
      )
    })

  /** Fetches the history of a commit, with its trees, to a depth. Returns true if the clone has more history than before. */
  const deepen = (oid: Oid, depth = maxDepth): Effect.Effect<boolean, ServerFailure> =>
    Effect.gen(function* () {
      const before = yield* shallowCommits
      if (before.length === 0) return false
      yield* origin.fetch({
        wants: [local.publishedAncestor(oid)],
        shallow: before,
        depth,
        filter: "blob:none"
      })
      const after = shallow.commits
      return before.length !== after.size || before.some((commit) => !after.has(commit))
    })

  /** Runs an effect that reads objects. When it fails because of missing objects, fetches them and runs it again. */
  const fetchingMissing = <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    lastFetched?: Oid
  ): Effect.Effect<A, Exclude<E, MissingInBuild> | ServerFailure, R> =>
    Effect.catchAll(effect, (error) => {
      const oids = missingOids(error)
      const [first] = oids
      if (first === undefined || first === lastFetched)
        return error instanceof MissingInBuild
          ? Effect.flatMap(
              Effect.findFirst(error.oids, (oid) => Effect.negate(hasObject(oid))),
              (missing) => missingOnServer(Option.getOrElse(missing, () => error.oids[0]!))
            )
          : Effect.fail(error as Exclude<E, MissingInBuild>)
      return Effect.zipRight(orLeaveBuild(oids, fetchAll(oids)), fetchingMissing(effect, first))
    })

  /** Reads a value, and fetches it if the clone does not have it. None if the server does not have it either. */
  const readOrFetch = <A>(
    read: Effect.Effect<Option.Option<A>, RemoteError>,
    fetch: Effect.Effect<boolean, ServerFailure>
  ) =>
    Effect.flatMap(read, (found) =>
      Option.isSome(found)
        ? Effect.succeed(found)
        : Effect.flatMap(fetch, (fetched) => (fetched ? read : Effect.succeed(found)))
    )

  const parentsOf = (oid: Oid) =>
    Effect.map(
      engine.commit(oid),
      Option.match({ onNone: () => [] as ReadonlyArray<Oid>, onSome: ({ parents }) => parents })
    )

  /**
   * Walks the history of `head` until it meets `commit` or `base`, whichever is newer. History that the clone does not have
   * is fetched in growing steps.
   */
  const firstMet = (
    head: Oid,
    commit: Oid,
    base: Oid | undefined,
    depth = firstDepth
  ): Effect.Effect<FirstMet, ServerFailure> =>
    Effect.gen(function* () {
      if (!(yield* fetchCommit(head))) return "neither"
      const cut = shallow.commits
      const queue: Array<Oid> = [head]
      const visited = new Set<Oid>(queue)
      let isIncomplete = false
      let isBaseMet = false
      for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
        if (at === commit) return "commit"
        const parents = yield* parentsOf(at)
        // One parent of a merge may lead to the base, and another one to the commit.
        if (at === base || parents.includes(base as Oid)) isBaseMet = true
        if (at === base) continue
        for (const parent of parents) {
          // The ids of a commit's parents are known even if the parents are missing.
          if (parent === commit) return "commit"
          if (parent === base) continue
          if (!cut.has(at) && !visited.has(parent)) queue.push(parent)
          visited.add(parent)
        }
        if (cut.has(at) && parents.some((parent) => parent !== base)) isIncomplete = true
      }
      if (!isIncomplete || !(yield* deepen(head, depth))) return isBaseMet ? "base" : "neither"
      return yield* firstMet(head, commit, base, Math.min(depth * depthFactor, maxDepth))
    })

  /** The merge bases of two commits. History that the clone does not have is fetched in growing steps. */
  const mergeBases = (a: Oid, b: Oid, depth = firstDepth): Effect.Effect<ReadonlyArray<Oid>, ServerFailure> =>
    Effect.catchAll(engine.mergeBases(a, b), (error) => {
      const oid = missingOid(error)
      if (oid === undefined) return Effect.fail(error)
      return Effect.gen(function* () {
        const fetched = yield* origin.fetch({
          wants: [local.publishedAncestor(a), local.publishedAncestor(b)],
          haves: yield* haves,
          shallow: yield* shallowCommits,
          depth,
          filter: "blob:none"
        })
        if (!fetched || (depth === maxDepth && !(yield* hasObject(oid)))) return yield* missingOnServer(oid)
        return yield* mergeBases(a, b, Math.min(depth * depthFactor, maxDepth))
      })
    })

  /** Fetches the merged commits and the linked blobs of a new commit: the engine requires them in the clone. */
  const fetchReferenced = ({ changes, merges = [] }: NewCommit): Effect.Effect<void, ServerFailure> =>
    Effect.gen(function* () {
      for (const oid of merges) yield* fetchCommit(oid)
      const wants: Array<Oid> = []
      for (const change of changes) {
        // The commit of a submodule is an object of another repository.
        if (change._tag !== "Link" || change.mode === "160000") continue
        if (!(yield* hasObject(change.oid))) wants.push(change.oid)
      }
      if (wants.length > 0) yield* origin.fetch({ wants: [...new Set(wants)] })
    })

  /**
   * Sets a ref of the clone, which mirrors a ref of the server. Refs whose names conflict with it (`a` and `a/b`) do not exist
   * on the server any more, and are deleted.
   */
  const setRef = (name: string, oid: Oid | undefined): Effect.Effect<void, RemoteError> =>
    Effect.gen(function* () {
      const current = yield* engine.ref(name)
      if (Option.getOrUndefined(current) === oid) return
      if (Option.isNone(current)) {
        for (const other of yield* engine.refs("refs/")) {
          if (!other.name.startsWith(`${name}/`) && !name.startsWith(`${other.name}/`)) continue
          yield* Effect.ignore(engine.updateRef(other.name, Option.some(other.oid), Option.none()))
        }
      }
      yield* engine
        .updateRef(name, current, Option.fromNullable(oid))
        .pipe(Effect.catchTags({ RefMoved: () => Effect.void, AmbiguousWriteError: () => Effect.void }))
    })

  return {
    missingOnServer,
    fetchCommit,
    fetchObject,
    deepen,
    fetchingMissing,
    leavingForMissing,
    /** Announces a caller to fetches of objects, see `GatheredCalls`. */
    announce: gatheredFetches.announce,
    prefetchBlobs,
    readOrFetch,
    firstMet,
    mergeBases,
    fetchReferenced,
    setRef,
    /** Records a head that the clone has, so that the next fetch transfers only newer objects. */
    recordSeen: (branch: string, head: Oid) => setRef(seenRef(branch), head)
  } as const
}

import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { makeExclusively } from "../../domain/Mutex.js"
import { isOid, type Oid } from "../../domain/Oid.js"
import { RefMoved } from "../../domain/Ref.js"
import { type AmbiguousWriteError, RemoteError, StoreError } from "../../domain/StoreError.js"
import type { Head, Signature } from "../Commit.js"
import * as Engine from "../disk/Engine.js"
import { MissingObject } from "../disk/Fault.js"
import type { FlushOutcome, Portion } from "../disk/Flush.js"
import type { GitRepository } from "../disk/GitRepository.js"
import { PackBuilder } from "../disk/PackBuilder.js"
import { branchRef } from "../Names.js"
import type { ServerFailure, SmartHttp } from "../protocol/SmartHttp.js"
import type { ListedRef } from "../protocol/UploadPack.js"
import type { Repository } from "../Repository.js"
import * as Origin from "./Origin.js"
import * as Push from "./Push.js"
import { Shallow } from "./Shallow.js"

export interface CloneOptions {
  readonly url: string
  readonly http: SmartHttp
  readonly agent: string
  /** The bare repository that keeps what was fetched. */
  readonly directory: string
  readonly signature?: Signature | undefined
  readonly maxRetries: number
  readonly mostPack: number
  /** Between the beginnings of two pushes of commits, at least. */
  readonly pushInterval: Duration.Duration
}

/** Why a clone did not answer. */
export type CloneFailure = ServerFailure

const headPrefix = "refs/heads/"
/** Blobs that one fetch asks for at most. */
const mostBlobs = 10_000
/** Commits that are fetched with a head that has moved: they tell by themselves how it stands to what was there. */
const lately = 8
/** Commits that a fetch says are here, at most. */
const mostHaves = 64
/** Commits of a history that are looked at in the first step back, and how many times more in each next one. */
const firstStep = 64
/** As deep as any history. */
const everything = 2_147_483_647

/** Whether a server refuses what was pushed, not who pushes or how often. */
const isForItself = (failure: ServerFailure): boolean =>
  failure._tag === "RemoteError" && failure.reason === "Denied"

/** The error of the server below what the engine made of it. */
const underlying = <E>(error: E): E | ServerFailure =>
  error instanceof RemoteError && error.cause instanceof StoreError ? (error.cause as ServerFailure) : error

const missing = (error: unknown): Oid | undefined =>
  error instanceof RemoteError && error.cause instanceof MissingObject ? (error.cause.oid as Oid) : undefined

const isRefMoved = (cause: Cause.Cause<unknown>): boolean =>
  Option.exists(Cause.failureOption(cause), (error) => error instanceof RefMoved)

/**
 * A repository on a server, through a partial and shallow clone of it: objects are fetched when they are first read,
 * commits are made here and pushed before they are acknowledged, and refs are the server's.
 */
export const open = (
  options: CloneOptions
): Effect.Effect<Repository<CloneFailure>, CloneFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const { agent, directory, http, maxRetries, mostPack, pushInterval, url } = options
    let nextPush = 0

    const publish = (
      portions: ReadonlyArray<Portion>,
      pack: () => Promise<ReadonlyArray<Uint8Array>>
    ): Promise<ReadonlyArray<FlushOutcome>> => Effect.runPromise(publishing(portions, Effect.promise(pack)))

    const engine: GitRepository = yield* Engine.open({
      directory,
      create: true,
      durability: "none",
      signature: options.signature,
      publish,
      pace: Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sleep(Math.max(0, nextPush - now)))
    })
    const shallow = new Shallow(directory)
    const hasParents = (oid: Oid) =>
      Effect.flatMap(engine.commit(oid), (commit) =>
        Effect.every(Option.isNone(commit) ? [] : commit.value.parents, (parent) =>
          Effect.map(engine.objectInfo(parent), Option.isSome)
        )
      )
    const origin = yield* Origin.make({
      url,
      http,
      agent,
      directory,
      shallow,
      hasParents,
      maxRetries,
      mostPack
    })

    /** Where each branch was when it was last seen or moved; `undefined` where it was absent. */
    const seen = new Map<string, Oid | undefined>()
    let pushes = 0

    /** Branches on which a group of commits was refused, and how many of them still go by themselves. */
    const apart = new Map<string, number>()
    const oneByOne = makeExclusively()

    const saw = (branch: string, at: Oid | undefined) => void seen.set(branch, at)

    const listed = (refs: ReadonlyArray<ListedRef>, name: string) =>
      refs.find((ref) => ref.name === name)?.oid

    const has = (oid: Oid) => Effect.map(engine.objectInfo(oid), Option.isSome)

    const haves = Effect.map(engine.refs(headPrefix), (refs) =>
      refs.slice(0, mostHaves).map(({ oid }) => oid)
    )

    /** Brings a commit with its trees into the clone. */
    const bring = (oid: Oid): Effect.Effect<boolean, ServerFailure> =>
      Effect.flatMap(has(oid), (there) =>
        there
          ? Effect.succeed(true)
          : Effect.flatMap(haves, (held) =>
              origin.fetch({
                wants: [oid],
                haves: held,
                shallow: shallow.all,
                depth: held.length === 0 ? 1 : lately,
                filter: "blob:none"
              })
            )
      )

    /** Brings one object into the clone. A server leaves out what it takes to be here with a commit, so none is named. */
    const bringAlone = (oid: Oid): Effect.Effect<boolean, ServerFailure> =>
      origin.fetch({ wants: [oid], shallow: shallow.all, depth: 1, filter: "blob:none" })

    /** Runs what reads objects, again with each one that had to be fetched. */
    const fetching = <A, E, R>(
      effect: Effect.Effect<A, E, R>,
      last?: Oid
    ): Effect.Effect<A, E | ServerFailure, R> =>
      Effect.catchAll(effect, (error) => {
        const oid = missing(error)
        if (oid === undefined || oid === last) return Effect.fail(error)
        return Effect.flatMap(
          bringAlone(oid),
          (found): Effect.Effect<A, E | ServerFailure, R> =>
            found ? fetching(effect, oid) : Origin.lostObject(url, oid)
        )
      })

    /** Reads what may have to be brought: none where the server does not have it either. */
    const brought = <A>(
      read: Effect.Effect<Option.Option<A>, RemoteError>,
      bring: Effect.Effect<boolean, ServerFailure>
    ) =>
      Effect.flatMap(read, (found) =>
        Option.isSome(found)
          ? Effect.succeed(found)
          : Effect.flatMap(bring, (there) => (there ? read : Effect.succeed(found)))
      )

    /** The whole history of a commit, with its trees. */
    const bringHistory = (oid: Oid, filter: "blob:none" | "tree:0", depth = everything) =>
      shallow.all.length === 0
        ? Effect.void
        : origin.fetch({ wants: [oid], shallow: shallow.all, depth, filter })

    const parentsOf = (oid: Oid) =>
      Effect.map(
        engine.commit(oid),
        Option.map(({ parents }) => parents)
      )

    /** Walks back from a head until one of two commits is met; history that is not here is fetched step by step. */
    const reaches = (
      head: Oid,
      above: Oid,
      base: Oid | undefined,
      depth = firstStep
    ): Effect.Effect<Push.Reached, ServerFailure> =>
      Effect.gen(function* () {
        if (!(yield* bring(head))) return "neither"
        const waiting: Array<Oid> = [head]
        const walked = new Set<Oid>(waiting)
        let cut = false
        for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
          if (at === above) return "above"
          if (at === base) return "base"
          const parents = Option.getOrElse(yield* parentsOf(at), () => [])
          for (const parent of parents) {
            if (parent === above) return "above"
            if (parent === base) return "base"
            if (!shallow.has(at) && !walked.has(parent)) waiting.push(parent)
            walked.add(parent)
          }
          if (shallow.has(at) && parents.length > 0) cut = true
        }
        if (!cut) return "neither"
        yield* bringHistory(head, "tree:0", depth)
        return yield* reaches(head, above, base, Math.min(depth * 8, everything))
      })

    const emptyPack = () => new PackBuilder(0).finish().chunks
    const push = yield* Push.make({ url, http, origin, agent, reaches, maxRetries, emptyPack })

    const publishing = (
      portions: ReadonlyArray<Portion>,
      pack: Effect.Effect<ReadonlyArray<Uint8Array>>
    ): Effect.Effect<ReadonlyArray<FlushOutcome>> =>
      Effect.map(
        Effect.zipRight(
          Effect.map(Clock.currentTimeMillis, (now) => {
            nextPush = now + Duration.toMillis(pushInterval)
          }),
          push(
            portions.map(({ base, branch, tip }) => ({
              name: branchRef(branch),
              from: base,
              to: tip,
              unique: true
            })),
            pack
          )
        ),
        (outcomes) =>
          outcomes.map((outcome, at): FlushOutcome => {
            const { base, branch, commits, tip } = portions[at]!
            pushes++
            switch (outcome._tag) {
              case "Done":
                saw(branch, tip)
                return { _tag: "Done" }
              case "Moved":
                saw(branch, outcome.actual)
                return { _tag: "Moved", actual: outcome.actual }
              case "Unknown":
                seen.delete(branch)
                return outcome.failure
              case "Refused":
                if (commits > 1 && isForItself(outcome.failure)) {
                  // One of them is to blame: each is pushed by itself, and the others do not fail with it.
                  apart.set(branch, commits)
                  return { _tag: "Moved", actual: base }
                }
                return new RemoteError({
                  operation: "Repository.commitNext",
                  reason: "Server",
                  message: outcome.failure.message,
                  cause: outcome.failure
                })
            }
          })
      )

    /** Where a branch is now, never from before a push of this process. */
    const look = (branch: string): Effect.Effect<Oid | undefined, ServerFailure> =>
      Effect.suspend(() => {
        const before = pushes
        const name = branchRef(branch)
        return Effect.flatMap(origin.refs([name]), (refs) => {
          if (before !== pushes) return look(branch)
          const at = listed(refs, name)
          saw(branch, at)
          return Effect.succeed(at)
        })
      })

    let asked = false
    /** The same before the first write: the server says it with what it says of itself to those that push. */
    const lookToWrite = (branch: string): Effect.Effect<Oid | undefined, ServerFailure> =>
      Effect.suspend(() => {
        if (asked) return look(branch)
        asked = true
        return Effect.map(origin.receiver, ({ refs }) => {
          const at = refs.get(branchRef(branch))
          saw(branch, at)
          return at
        })
      })

    /** Puts a branch of the clone where the server's was seen, with what a commit on it needs. */
    const follow = (branch: string): Effect.Effect<void, ServerFailure> =>
      Effect.gen(function* () {
        const name = branchRef(branch)
        const at = seen.has(branch) ? seen.get(branch) : yield* lookToWrite(branch)
        const here = Option.getOrUndefined(yield* engine.ref(name))
        if (here === at) return
        if (at !== undefined && !(yield* bring(at))) return yield* Origin.lostObject(url, at)
        yield* engine
          .updateRef(name, Option.fromNullable(here), Option.fromNullable(at))
          .pipe(Effect.catchTags({ RefMoved: () => Effect.void, AmbiguousWriteError: () => Effect.void }))
      })

    const commitNext: Repository<CloneFailure>["commitNext"] = (branch, build) =>
      Effect.suspend(() => {
        const left = apart.get(branch) ?? 0
        if (left === 0) return commitOn(branch, build)
        if (left === 1) apart.delete(branch)
        else apart.set(branch, left - 1)
        return oneByOne(branch)(commitOn(branch, build))
      })

    const commitOn: Repository<CloneFailure>["commitNext"] = (branch, build) =>
      Effect.gen(function* () {
        let looked = !seen.has(branch)
        for (;;) {
          yield* follow(branch)
          const before = seen.get(branch)
          let judged = false
          const judge = (is: boolean) =>
            Effect.sync(() => {
              judged = is
            })
          const building = (head: Option.Option<Head>) =>
            build(head).pipe(
              Effect.tapErrorCause(() => judge(true)),
              Effect.tap(({ commit }) => judge(Option.isNone(commit)))
            )
          const answer = yield* Effect.exit(
            Effect.mapError(fetching(engine.commitNext(branch, building)), underlying)
          )
          // The head was believed, not looked at: what was refused, changed nothing or lost a race is judged once more.
          const isStale = Exit.isFailure(answer) && isRefMoved(answer.cause)
          if (looked || !(judged || isStale) || (Exit.isFailure(answer) && Exit.isInterrupted(answer))) {
            return yield* answer
          }
          looked = true
          if (isStale && seen.has(branch)) continue
          if ((yield* look(branch)) === before) return yield* answer
        }
      })

    const failed = (
      outcome: Push.Outcome,
      { from, name }: Push.Move
    ): Effect.Effect<void, RefMoved | ServerFailure | AmbiguousWriteError> => {
      switch (outcome._tag) {
        case "Done":
          return Effect.void
        case "Moved":
          return Effect.fail(
            new RefMoved({
              ref: name,
              expected: Option.fromNullable(from),
              actual: Option.fromNullable(outcome.actual)
            })
          )
        case "Refused":
        case "Unknown":
          return Effect.fail<ServerFailure | AmbiguousWriteError>(outcome.failure)
      }
    }

    /** Runs an effect when every commit that was queued for these refs has been pushed. */
    const inTurns = <A, E>(moves: ReadonlyArray<Push.Move>, effect: Effect.Effect<A, E>) =>
      [...new Set(moves.map(({ name }) => name))]
        .sort()
        .reduceRight<Effect.Effect<A, E | RemoteError>>(
          (inner, name) => engine.inTurn(name, () => inner),
          effect
        )

    /** Takes a branch that is gone from the clone. */
    const drop = (name: string) =>
      Effect.ignore(
        Effect.flatMap(engine.ref(name), (here) =>
          Option.isNone(here) ? Effect.void : engine.updateRef(name, here, Option.none())
        )
      )

    const moveRefs = (moves: ReadonlyArray<Push.Move>, atomic: boolean) =>
      Effect.gen(function* () {
        const outcomes = yield* inTurns(moves, push(moves, undefined, { atomic }))
        pushes++
        for (const [at, { name, to }] of moves.entries()) {
          if (!name.startsWith(headPrefix)) continue
          const branch = name.slice(headPrefix.length)
          if (outcomes[at]!._tag !== "Done") seen.delete(branch)
          else if (to !== undefined) saw(branch, to)
          else {
            seen.delete(branch)
            yield* drop(name)
          }
        }
        // Of several that move together the one that is elsewhere says why none did.
        const first = outcomes.findIndex(({ _tag }) => _tag === "Moved")
        const at = first < 0 ? outcomes.findIndex(({ _tag }) => _tag !== "Done") : first
        if (at >= 0) yield* failed(outcomes[at]!, moves[at]!)
      })

    const revisionNames = (revision: string) => {
      const name = revision.replace(/[~^@:].*$/s, "")
      return name === "" || name === "HEAD"
        ? ["HEAD"]
        : name.startsWith("refs/")
          ? [name]
          : [`refs/tags/${name}`, `refs/heads/${name}`]
    }

    /** Puts a ref of the clone where the server's is. */
    const mirror = (name: string, at: Oid | undefined) =>
      Effect.gen(function* () {
        if (name.startsWith(headPrefix)) return yield* follow(name.slice(headPrefix.length))
        const here = yield* engine.ref(name)
        if (Option.getOrUndefined(here) === at) return
        if (at !== undefined) yield* bring(at)
        yield* engine
          .updateRef(name, here, Option.fromNullable(at))
          .pipe(Effect.catchTags({ RefMoved: () => Effect.void, AmbiguousWriteError: () => Effect.void }))
      })

    const resolve = (revision: string): Effect.Effect<Option.Option<Oid>, ServerFailure> =>
      Effect.gen(function* () {
        if (isOid(revision)) return (yield* bring(revision)) ? yield* engine.resolve(revision) : Option.none()
        const names = revisionNames(revision)
        const before = pushes
        const refs = yield* origin.refs(names)
        for (const name of names.filter((one) => one !== "HEAD")) {
          const at = listed(refs, name)
          if (name.startsWith(headPrefix) && before === pushes) saw(name.slice(headPrefix.length), at)
          yield* mirror(name, at)
        }
        if (/[~^]/.test(revision)) {
          const start = yield* engine.resolve(revision.replace(/[~^].*$/s, ""))
          if (Option.isSome(start)) yield* bringHistory(start.value, "tree:0")
        }
        return yield* fetching(engine.resolve(revision))
      })

    const repository: Repository<CloneFailure> = {
      name: url,

      object: (oid) => brought(engine.object(oid), bringAlone(oid)),

      blobs: (oids) =>
        Stream.flatMap(
          Stream.fromIterable(
            Array.from({ length: Math.ceil(oids.length / mostBlobs) }, (_, at) =>
              oids.slice(at * mostBlobs, (at + 1) * mostBlobs)
            )
          ),
          (group) =>
            Stream.unwrap(
              Effect.gen(function* () {
                const absent: Array<Oid> = []
                for (const oid of new Set(group)) if (!(yield* has(oid))) absent.push(oid)
                if (absent.length > 0 && !(yield* origin.fetch({ wants: absent }))) {
                  return Stream.fail(Origin.lostObject(url, absent[0]!))
                }
                return engine.blobs(group)
              })
            )
        ),

      resolve,
      commit: (oid) => brought(engine.commit(oid), bring(oid)),
      lookup: (root, path) => fetching(engine.lookup(root, path)),
      entries: (root, paths) => fetching(engine.entries(root, paths)),
      tree: (root, path, how) => fetching(engine.tree(root, path, how)),
      treeAfter: (base, path, changes) => fetching(engine.treeAfter(base, path, changes)),

      ref: (name) =>
        name.startsWith(headPrefix)
          ? Effect.map(look(name.slice(headPrefix.length)), Option.fromNullable)
          : Effect.map(origin.refs([name]), (refs) => Option.fromNullable(listed(refs, name))),

      refs: (prefix) =>
        Effect.map(origin.refs([prefix]), (refs) =>
          refs.flatMap(({ name, oid }) => (oid === undefined ? [] : [{ name, oid }]))
        ),

      updateRef: (name, expected, next) =>
        moveRefs(
          [{ name, from: Option.getOrUndefined(expected), to: Option.getOrUndefined(next), unique: false }],
          false
        ),

      updateRefs: (updates) =>
        moveRefs(
          updates.map(({ expected, name, next }) => ({
            name,
            from: Option.getOrUndefined(expected),
            to: Option.getOrUndefined(next),
            unique: false
          })),
          true
        ),

      defaultBranch: Effect.map(origin.refs(["HEAD"]), (refs) => {
        const target = refs.find(({ name }) => name === "HEAD")?.target
        return target?.startsWith(headPrefix) === true ? target.slice(headPrefix.length) : "main"
      }),

      commitNext,

      log: (from, how) =>
        Stream.unwrap(
          Effect.as(Effect.zipRight(bring(from), bringHistory(from, "blob:none")), engine.log(from, how))
        ),

      diff: (before, after, under) => fetching(engine.diff(before, after, under)),

      isAncestor: (ancestor, descendant) =>
        Effect.gen(function* () {
          if (!(yield* bring(descendant))) return false
          return (yield* reaches(descendant, ancestor, undefined)) === "above"
        })
    }
    return repository
  })

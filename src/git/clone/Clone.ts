import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { makeExclusively } from "../../domain/Mutex.js"
import type { Oid } from "../../domain/Oid.js"
import { RefMoved } from "../../domain/Ref.js"
import { RemoteError, StoreError, type ValidationError } from "../../domain/StoreError.js"
import type { Head, Signature } from "../Commit.js"
import * as Engine from "../disk/Engine.js"
import type { FlushOutcome, Portion } from "../disk/Flush.js"
import type { GitRepository } from "../disk/GitRepository.js"
import { PackBuilder } from "../disk/PackBuilder.js"
import { branchRef } from "../Names.js"
import type { ServerFailure, SmartHttp } from "../protocol/SmartHttp.js"
import type { Repository } from "../Repository.js"
import { bindTo } from "./CloneConfig.js"
import * as Fetching from "./Fetching.js"
import * as Origin from "./Origin.js"
import * as Push from "./Push.js"
import * as RefMoves from "./RefMoves.js"
import * as Revisions from "./Revisions.js"
import { Shallow } from "./Shallow.js"
import { listed, Sight } from "./Sight.js"

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

/** Whether a server refuses what was pushed, not who pushes or how often. */
const isForItself = (failure: ServerFailure): boolean =>
  failure._tag === "RemoteError" && failure.reason === "Denied"

/** The error of the server below what the engine made of it. */
const underlying = <E>(error: E): E | ServerFailure =>
  error instanceof RemoteError && error.cause instanceof StoreError ? (error.cause as ServerFailure) : error

const isRefMoved = (cause: Cause.Cause<unknown>): boolean =>
  Option.exists(Cause.failureOption(cause), (error) => error instanceof RefMoved)

/**
 * A repository on a server, through a partial and shallow clone of it: objects are fetched when they are first read,
 * commits are made here and pushed before they are acknowledged, and refs are the server's.
 */
export const open = (
  options: CloneOptions
): Effect.Effect<Repository<CloneFailure>, CloneFailure | ValidationError, Scope.Scope> =>
  Effect.gen(function* () {
    const { agent, directory, http, maxRetries, mostPack, pushInterval, url } = options
    let nextPush = 0

    const publish = (
      portions: ReadonlyArray<Portion>,
      pack: (how: { readonly thin: boolean }) => Promise<ReadonlyArray<Uint8Array>>
    ): Promise<ReadonlyArray<FlushOutcome>> =>
      Effect.runPromise(publishing(portions, (how) => Effect.promise(() => pack(how))))

    const engine: GitRepository = yield* Engine.open({
      directory,
      create: true,
      durability: "none",
      signature: options.signature,
      publish,
      pace: Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sleep(Math.max(0, nextPush - now)))
    })
    yield* bindTo(directory, url, (yield* engine.refs("refs/")).length === 0)
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
      ingest: engine.ingest,
      shallow,
      hasParents,
      maxRetries,
      mostPack
    })

    const sight = new Sight(origin)

    /** Commits of a push that was refused which still go by themselves. */
    let apart = 0
    const oneByOne = makeExclusively()

    const objects = Fetching.make({ url, engine, origin, shallow })
    const {
      bring,
      bringAlone,
      bringHistory,
      bringReferenced,
      brought,
      fetching,
      has,
      lost,
      note,
      place,
      reaches
    } = objects

    const emptyPack = () => new PackBuilder(0).finish().chunks
    const push = yield* Push.make({ url, http, origin, agent, reaches, maxRetries, emptyPack })

    const publishing = (
      portions: ReadonlyArray<Portion>,
      pack: (how: { readonly thin: boolean }) => Effect.Effect<ReadonlyArray<Uint8Array>>
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
        (outcomes) => {
          const together = portions.reduce((sum, { commits }) => sum + commits, 0)
          sight.pushed()
          return outcomes.map((outcome, at): FlushOutcome => {
            const { base, branch, commits, tip } = portions[at]!
            switch (outcome._tag) {
              case "Done":
                sight.set(branch, tip)
                return { _tag: "Done" }
              case "Moved":
                sight.set(branch, outcome.actual)
                return { _tag: "Moved", actual: outcome.actual }
              case "Unknown":
                sight.forget(branch)
                return outcome.failure
              case "Refused":
                if (together > 1 && isForItself(outcome.failure)) {
                  // One of them is to blame: each is pushed by itself, and the others do not fail with it.
                  apart += commits
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
        }
      )

    /** Puts a branch of the clone where the server's was seen, with what a commit on it needs. */
    const follow = (branch: string): Effect.Effect<void, ServerFailure> =>
      Effect.gen(function* () {
        const at = sight.has(branch) ? sight.at(branch) : yield* sight.branchToWrite(branch)
        if (at !== undefined && !(yield* bring(at))) return yield* lost(at)
        yield* place(branchRef(branch), at)
      })

    const commitNext: Repository<CloneFailure>["commitNext"] = (branch, build) =>
      Effect.suspend(() => {
        if (apart === 0) return commitOn(branch, build)
        apart--
        return oneByOne("")(commitOn(branch, build))
      })

    const commitOn: Repository<CloneFailure>["commitNext"] = (branch, build) =>
      Effect.gen(function* () {
        let looked = !sight.has(branch)
        for (;;) {
          yield* follow(branch)
          const before = sight.at(branch)
          let judged = false
          const judge = (is: boolean) =>
            Effect.sync(() => {
              judged = is
            })
          const building = (head: Option.Option<Head>) =>
            Effect.tap(build(head), ({ commit }) =>
              Option.isNone(commit) ? Effect.void : bringReferenced(commit.value)
            ).pipe(
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
          if (isStale && sight.has(branch)) continue
          if ((yield* sight.branch(branch)) === before) return yield* answer
        }
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
                  return Stream.fail(lost(absent[0]!))
                }
                return engine.blobs(group)
              })
            )
        ),

      resolve: Revisions.make({ engine, fetching: objects, sight }),
      commit: (oid) => brought(engine.commit(oid), bring(oid)),
      lookup: (root, path) => fetching(engine.lookup(root, path)),
      entries: (root, paths) => fetching(engine.entries(root, paths)),
      tree: (root, path, how) => fetching(engine.tree(root, path, how)),
      treeAfter: (base, path, changes) => fetching(engine.treeAfter(base, path, changes)),

      ref: (name) =>
        name.startsWith(headPrefix)
          ? Effect.gen(function* () {
              const branch = name.slice(headPrefix.length)
              const at = yield* sight.branch(branch)
              if (at !== undefined && (yield* bring(at))) yield* note(branch, at)
              return Option.fromNullable(at)
            })
          : Effect.map(origin.refs([name]), (refs) => Option.fromNullable(listed(refs, name))),

      refs: (prefix) =>
        Effect.map(origin.refs([prefix]), (refs) =>
          refs.flatMap(({ name, oid }) => (oid === undefined ? [] : [{ name, oid }]))
        ),

      ...RefMoves.make({ engine, push, place, sight }),

      defaultBranch: Effect.map(origin.refs(["HEAD"]), (refs) => {
        const target = refs.find(({ name }) => name === "HEAD")?.target
        return target?.startsWith(headPrefix) === true ? target.slice(headPrefix.length) : "main"
      }),

      commitNext,

      log: (from, how) =>
        Stream.unwrap(Effect.as(Effect.zipRight(bring(from), bringHistory(from)), engine.log(from, how))),

      diff: (before, after, under) => fetching(engine.diff(before, after, under)),

      mergeBases: objects.mergeBases,

      isAncestor: (ancestor, descendant) =>
        Effect.gen(function* () {
          if (!(yield* bring(descendant))) return false
          return (yield* reaches(descendant, ancestor, undefined)) === "above"
        })
    }
    return repository
  })

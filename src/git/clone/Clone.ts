import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ValidationError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { Signature } from "../Commit.js"
import * as Engine from "../disk/Engine.js"
import { PackBuilder } from "../disk/packs/PackBuilder.js"
import type { GitRepository } from "../disk/port/GitRepository.js"
import type { ServerFailure, Transport } from "../protocol/Transport.js"
import type { Repository } from "../Repository.js"
import { bindTo } from "./CloneConfig.js"
import * as Commits from "./Commits.js"
import * as Damage from "./Damage.js"
import * as Fetching from "./Fetching.js"
import { LocalBranches } from "./LocalBranches.js"
import * as LocalCommits from "./LocalCommits.js"
import * as Origin from "./Origin.js"
import * as Push from "./Push.js"
import { PushPaces } from "./PushPace.js"
import * as RefMoves from "./RefMoves.js"
import * as Revisions from "./Revisions.js"
import * as Shallow from "./Shallow.js"
import { listed, Sight } from "./Sight.js"

export interface CloneOptions {
  readonly url: string
  readonly transport: Transport
  readonly agent: string
  /** The bare repository that keeps what was fetched. */
  readonly directory: string
  readonly signature?: Signature | undefined
  readonly maxRetries: number
  readonly mostPack: number
  /** Whether files are fetched when they are first read, not with their commit. */
  readonly filter: boolean
  /** Between the beginnings of two pushes of commits, at least. */
  readonly pushInterval: Duration.Duration
}

/** Why a clone did not answer. */
export type CloneFailure = ServerFailure

const headPrefix = "refs/heads/"
/** Blobs that one fetch asks for at most. */
const mostBlobs = 10_000

/**
 * A repository on a server, through a partial and shallow clone of it: objects are fetched when they are first read,
 * commits are made here and pushed before they are acknowledged, and refs are the server's.
 */
export const open = (
  options: CloneOptions
): Effect.Effect<Repository<CloneFailure>, CloneFailure | ValidationError, Scope.Scope> =>
  Effect.gen(function* () {
    const { agent, directory, filter, transport, maxRetries, mostPack, pushInterval, url } = options

    const runtime = yield* Effect.runtime<never>()
    const pace = (yield* PushPaces)(url, pushInterval)
    const engine: GitRepository = yield* Engine.open({
      directory,
      create: true,
      durability: "none",
      signature: options.signature,
      publish: (portions, pack) =>
        Runtime.runPromise(runtime)(commits.publish(portions, (how) => Effect.promise(() => pack(how)))),
      pace: pace.place
    })
    yield* bindTo(
      directory,
      url,
      Effect.map(engine.refs("refs/"), ({ length }) => length === 0)
    )
    yield* Damage.removeEmptyRefs(directory)
    const shallow = yield* Shallow.make(directory)
    const hasParents = (oid: Oid) =>
      Effect.flatMap(engine.commit(oid), (commit) =>
        Effect.every(Option.isNone(commit) ? [] : commit.value.parents, (parent) =>
          Effect.map(engine.objectInfo(parent), Option.isSome)
        )
      )
    const origin = yield* Origin.make({
      url,
      transport,
      agent,
      ingest: engine.ingest,
      shallow,
      has: (oid) => Effect.map(engine.objectInfo(oid), Option.isSome),
      hasParents,
      maxRetries,
      mostPack,
      filter
    })

    const sight = new Sight(origin)
    const local = new LocalBranches()

    const objects = Fetching.make({ url, engine, origin, shallow, local })
    const { bring, bringAlone, bringHistory, brought, fetching, has, lost, note, place, reaches } = objects

    const emptyPack = () => new PackBuilder(0).finish().chunks
    const push = yield* Push.make({ url, transport, origin, agent, reaches, maxRetries, emptyPack })

    // A queue of its own, which waits for no push.
    const scope = yield* Effect.scope
    const [committer, openAgain] = yield* Effect.cachedInvalidateWithTTL(
      Engine.open({
        directory,
        durability: "none",
        signature: options.signature,
        maintenance: false,
        publish: async (portions) => portions.map((portion) => local.add(portion))
      }).pipe(Scope.extend(scope)),
      "365 days"
    )
    const localCommits = LocalCommits.make({
      local,
      committer: Effect.tapError(committer, () => openAgain),
      objects,
      push,
      sight,
      pace
    })
    const { bringReferenced } = localCommits
    const commits = Commits.make({ engine, objects, bringReferenced, push, sight, pace })

    /** Brings the blobs that are not here, so many by one fetch. */
    const bringBlobs = (oids: ReadonlyArray<Oid>): Effect.Effect<void, CloneFailure> =>
      Effect.gen(function* () {
        const absent: Array<Oid> = []
        for (const oid of new Set(oids)) if (!(yield* has(oid))) absent.push(oid)
        for (let at = 0; at < absent.length; at += mostBlobs) {
          if (!(yield* origin.fetch({ wants: absent.slice(at, at + mostBlobs) })))
            return yield* lost(absent[at]!)
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
          (group) => Stream.unwrap(Effect.as(bringBlobs(group), engine.blobs(group)))
        ),

      prefetchBlobs: bringBlobs,
      temporaryFile: engine.temporaryFile,

      resolve: Revisions.make({ engine, fetching: objects, sight, local }),
      commit: (oid) => brought(engine.commit(oid), bring(oid)),
      lookup: (root, path) => fetching(engine.lookup(root, path)),
      entries: (root, paths) => fetching(engine.entries(root, paths)),
      tree: (root, path, how) => fetching(engine.tree(root, path, how)),
      treeAfter: (base, path, changes) => fetching(engine.treeAfter(base, path, changes)),

      ref: (name) =>
        name.startsWith(headPrefix)
          ? Effect.gen(function* () {
              const branch = name.slice(headPrefix.length)
              if (local.has(branch)) return Option.fromNullable(local.at(branch))
              const at = yield* sight.branch(branch)
              if (at !== undefined && (yield* bring(at))) yield* note(branch, at)
              return Option.fromNullable(at)
            })
          : Effect.map(origin.refs([name]), (refs) => Option.fromNullable(listed(refs, name))),

      refs: (prefix) =>
        Effect.map(origin.refs([prefix]), (refs) =>
          [
            ...refs.flatMap(({ name, oid }) => (oid === undefined ? [] : [{ name, oid }])),
            ...local.names().map((branch) => ({ name: `${headPrefix}${branch}`, oid: local.at(branch)! }))
          ]
            .filter(({ name }) => name.startsWith(prefix))
            .sort((a, b) => (a.name < b.name ? -1 : 1))
        ),

      ...RefMoves.make({ engine, local, localCommits, push, place, sight, pace }),

      defaultBranch: Effect.map(origin.refs(["HEAD"]), (refs) => {
        const target = refs.find(({ name }) => name === "HEAD")?.target
        return target?.startsWith(headPrefix) === true ? target.slice(headPrefix.length) : "main"
      }),

      commitNext: localCommits.commitNext(commits.commitNext),

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
    return Damage.explained(directory, repository)
  })

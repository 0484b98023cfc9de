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
import type { ListedRef } from "../protocol/UploadPack.js"
import type { Repository } from "../Repository.js"
import { bindToRemote } from "./CloneConfig.js"
import * as CloneDamage from "./CloneDamage.js"
import { LocalBranches } from "./LocalBranches.js"
import * as LocalCommits from "./LocalCommits.js"
import * as ObjectFetcher from "./ObjectFetcher.js"
import * as Origin from "./Origin.js"
import * as Push from "./Push.js"
import * as PushedCommits from "./PushedCommits.js"
import { PushThrottles } from "./PushThrottle.js"
import * as RefUpdates from "./RefUpdates.js"
import * as RevisionResolver from "./RevisionResolver.js"
import { oidOf, ServerHeads } from "./ServerHeads.js"
import * as ShallowFile from "./ShallowFile.js"

export interface CloneOptions {
  readonly url: string
  readonly transport: Transport
  readonly agent: string
  /** The bare repository that stores the fetched objects. */
  readonly directory: string
  readonly signature?: Signature | undefined
  readonly maxRetries: number
  readonly maxPackBytes: number
  /** Whether a blob is fetched when it is first read, instead of with its commit. */
  readonly filter: boolean
  /** The least time between the beginnings of two pushes of commits. */
  readonly pushInterval: Duration.Duration
}

/** The failure of an operation of a clone. */
export type CloneFailure = ServerFailure

const headPrefix = "refs/heads/"

/** The branch that the listed HEAD points to. */
const defaultBranchOf = (refs: ReadonlyArray<ListedRef>): string => {
  const target = refs.find(({ name }) => name === "HEAD")?.target
  return target?.startsWith(headPrefix) === true ? target.slice(headPrefix.length) : "main"
}

/**
 * A repository on a server, accessed through a partial and shallow clone. Objects are fetched when they are first read. Commits
 * are built in the clone and pushed before they are acknowledged. Refs are those of the server.
 */
export const open = (
  options: CloneOptions
): Effect.Effect<Repository<CloneFailure>, CloneFailure | ValidationError, Scope.Scope> =>
  Effect.gen(function* () {
    const { agent, directory, filter, maxPackBytes, maxRetries, pushInterval, transport, url } = options

    const explained = CloneDamage.explaining(directory)
    const runtime = yield* Effect.runtime<never>()
    const throttle = (yield* PushThrottles)(url, pushInterval)
    const engine: GitRepository = yield* Engine.open({
      directory,
      create: true,
      durability: "none",
      signature: options.signature,
      publish: (flushes, pack) =>
        Runtime.runPromise(runtime)(pushed.publish(flushes, (how) => Effect.promise(() => pack(how)))),
      throttle: throttle.acquire
    }).pipe((opening) => explained(opening))
    yield* CloneDamage.repairRefs(directory)
    yield* explained(bindToRemote(directory, url, engine.refs("refs/")))
    const shallow = yield* explained(ShallowFile.make(directory))
    const has = (oid: Oid) => Effect.map(engine.objectInfo(oid), Option.isSome)
    const hasParents = (oid: Oid) =>
      Effect.flatMap(engine.commit(oid), (commit) =>
        Effect.every(Option.isNone(commit) ? [] : commit.value.parents, has)
      )
    const origin = yield* Origin.make({
      url,
      transport,
      agent,
      ingest: engine.ingest,
      shallow,
      has,
      hasParents,
      maxRetries,
      maxPackBytes,
      filter
    })

    const heads = new ServerHeads(origin)
    const local = new LocalBranches()
    const objects = ObjectFetcher.make({ url, engine, origin, shallow, local })
    const { deepen, fetchCommit, fetchingMissing, fetchObject, firstMet, prefetchBlobs, readOrFetch } =
      objects

    const emptyPack = () => new PackBuilder(0).finish().chunks
    const push = yield* Push.make({ url, transport, origin, agent, firstMet, maxRetries, emptyPack })

    // Commits on local branches have a queue of their own, which waits for no push.
    const scope = yield* Effect.scope
    const [localEngine, invalidate] = yield* Effect.cachedInvalidateWithTTL(
      Engine.open({
        directory,
        durability: "none",
        signature: options.signature,
        maintenance: false,
        publish: async (flushes) => flushes.map((flush) => local.add(flush))
      }).pipe(Scope.extend(scope)),
      "365 days"
    )
    const localCommits = LocalCommits.make({
      local,
      localEngine: Effect.tapError(localEngine, () => invalidate),
      objects,
      push,
      heads,
      throttle
    })
    const { fetchReferenced } = localCommits
    const pushed = PushedCommits.make({ engine, objects, fetchReferenced, push, heads, throttle })

    const repository: Repository<CloneFailure> = {
      name: url,

      object: (oid) => readOrFetch(engine.object(oid), fetchObject(oid)),

      blobs: (oids) =>
        Stream.flatMap(
          Stream.fromIterable(
            Array.from({ length: Math.ceil(oids.length / ObjectFetcher.maxBlobsPerFetch) }, (_, at) =>
              oids.slice(at * ObjectFetcher.maxBlobsPerFetch, (at + 1) * ObjectFetcher.maxBlobsPerFetch)
            )
          ),
          (group) => Stream.unwrap(Effect.as(prefetchBlobs(group), engine.blobs(group)))
        ),

      prefetchBlobs,
      temporaryFile: engine.temporaryFile,

      resolve: RevisionResolver.make({ engine, objects, heads, local }),
      commit: (oid) => readOrFetch(engine.commit(oid), fetchCommit(oid)),
      lookup: (root, path) => fetchingMissing(engine.lookup(root, path)),
      entries: (root, paths) => fetchingMissing(engine.entries(root, paths)),
      tree: (root, path, how) => fetchingMissing(engine.tree(root, path, how)),
      treeAfter: (base, path, changes) => fetchingMissing(engine.treeAfter(base, path, changes)),

      ref: (name, how) =>
        name.startsWith(headPrefix)
          ? Effect.gen(function* () {
              const branch = name.slice(headPrefix.length)
              if (local.has(branch)) return Option.fromNullable(local.tip(branch))
              const head = yield* how?.beforeWrite === true
                ? heads.fetchHeadToWrite(branch)
                : heads.fetchHead(branch)
              if (head !== undefined && (yield* fetchCommit(head))) yield* objects.recordSeen(branch, head)
              return Option.fromNullable(head)
            })
          : Effect.map(origin.listRefs([name]), (refs) => Option.fromNullable(oidOf(refs, name))),

      refs: (prefix) =>
        Effect.map(origin.listRefs([prefix]), (refs) =>
          [
            ...refs.flatMap(({ name, oid }) => (oid === undefined ? [] : [{ name, oid }])),
            ...local.names().map((branch) => ({ name: `${headPrefix}${branch}`, oid: local.tip(branch)! }))
          ]
            .filter(({ name }) => name.startsWith(prefix))
            .sort((a, b) => (a.name < b.name ? -1 : 1))
        ),

      ...RefUpdates.make({ engine, local, localCommits, push, setRef: objects.setRef, heads, throttle }),

      defaultBranch: Effect.map(origin.listRefs(["HEAD"]), defaultBranchOf),

      branches: Effect.map(origin.listRefs(["HEAD", headPrefix]), (refs) => ({
        names: [
          ...refs.flatMap(({ name, oid }) =>
            name.startsWith(headPrefix) && oid !== undefined ? [name.slice(headPrefix.length)] : []
          ),
          ...local.names()
        ],
        defaultBranch: defaultBranchOf(refs)
      })),

      commitNext: localCommits.commitNext(pushed.commitNext),

      log: (from, how) =>
        Stream.unwrap(Effect.as(Effect.zipRight(fetchCommit(from), deepen(from)), engine.log(from, how))),

      diff: (before, after, under) => fetchingMissing(engine.diff(before, after, under)),

      mergeBases: objects.mergeBases,

      isAncestor: (ancestor, descendant) =>
        Effect.gen(function* () {
          if (!(yield* fetchCommit(descendant))) return false
          return (yield* firstMet(descendant, ancestor, undefined)) === "commit"
        })
    }
    return CloneDamage.explainDamage(directory, repository)
  })

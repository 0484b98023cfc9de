import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ValidationError } from "../../../domain/errors/StoreError.js"
import { isOid } from "../../../domain/identifiers/Oid.js"
import { lazyModule } from "../../../domain/runtime/LazyModule.js"
import { branchError } from "../../../git/Names.js"
import { GitRemote, type GitRemoteService, type PrefetchRequest, type RemoteSnapshot } from "../GitRemote.js"
import type { PullRequests } from "../PullRequests.js"
import { type CommitReads, snapshotAt, snapshotLater } from "../RemoteSnapshot.js"
import * as Api from "./api/Api.js"
import { isMissing } from "./client/ApiFailure.js"
import { makeClient } from "./client/Client.js"
import { configOf, type GitHubConfig } from "./client/ConfiguredOptions.js"
import { translate } from "./client/ErrorTranslation.js"
import { inBrowser } from "./client/InBrowser.js"
import { withStreamOperation } from "./client/OperationContext.js"
import { type GitHubOptions, invalid, resolveOptions, type Settings } from "./client/Options.js"
import { toBudgets } from "./client/RateLimiter.js"
import { makeRemoteOperation } from "./client/RemoteOperation.js"
import { makeRepositoryId } from "./client/RepositoryId.js"
import { CommitQueue } from "./commits/CommitQueue.js"
import type { WriteOperations } from "./commits/WriteOperations.js"
import { estimateWith } from "./Estimate.js"
import { makeBranchHeads } from "./heads/BranchHeads.js"
import type { GraphqlPrefetch } from "./heads/GraphqlPrefetch.js"
import { makeHeadLookup } from "./heads/HeadLookup.js"
import { makeRefReads } from "./heads/RefReads.js"
import { makeCachedTrees } from "./objects/CachedTrees.js"
import { toTree } from "./objects/Listing.js"
import { makeObjectCache } from "./objects/ObjectCache.js"
import { makeTreeReader } from "./objects/TreeReader.js"
import { makeBranchSnapshots } from "./reads/BranchSnapshots.js"
import { makeFileReader } from "./reads/FileReader.js"
import type { Patches } from "./reads/Patches.js"
import { makeProbe } from "./reads/Probes.js"

export { config, type GitHubConfig } from "./client/ConfiguredOptions.js"
export type { Authorization, GitHubOptions, WriteLane } from "./client/Options.js"

// Loaded when they are used: a page that reads by REST alone does not carry them.
const writing = lazyModule(() => import("./commits/WriteOperations.js"))
const queries = lazyModule(() => import("./heads/GraphqlPrefetch.js"))
const patching = lazyModule(() => import("./reads/Patches.js"))
const history = lazyModule(() => import("./reads/History.js"))
const pulling = lazyModule(() => import("./pulls/PullRequests.js"))
const merging = lazyModule(() => import("./reads/MergeBases.js"))
/** Needs Node: a bundler for browsers takes `PushRemote.browser.ts` (`browser` in package.json). */
const pushes = lazyModule(
  (): Promise<Partial<typeof import("./push/PushRemote.js")>> => import("./push/PushRemote.js")
)

/** Where GraphQL is not used, nothing comes along with a head. */
const noBring: GraphqlPrefetch = {
  read: () => Effect.succeedNone,
  missing: () => ({ files: [], directories: [] })
}

/** What cannot be loaded brings nothing: plain ways serve. */
const bringLater = (
  make: (loaded: Effect.Effect.Success<typeof queries>) => GraphqlPrefetch
): GraphqlPrefetch => {
  let made: GraphqlPrefetch | undefined
  return {
    read: (place, wants) =>
      Effect.flatMap(Effect.option(queries), (loaded) => {
        if (Option.isNone(loaded)) return Effect.succeedNone
        made ??= make(loaded.value)
        return made.read(place, wants)
      }),
    missing: (head, wants) => made?.missing(head, wants) ?? wants
  }
}

/** A repository by its API, and what it is made of. */
const connect = (settings: Settings) =>
  Effect.gen(function* () {
    const queue = yield* CommitQueue
    const { api, owner, repo } = settings.address
    const repositoryName = `${api}/${owner}/${repo}`
    const client = yield* makeClient(settings)
    const objects = makeObjectCache(settings.objectCacheBytes)
    let patches: Patches | undefined
    const cache: typeof objects = {
      ...objects,
      blob: (oid) => objects.blob(oid) ?? patches?.blob(oid)
    }
    const known = makeCachedTrees(cache)
    const refs = makeRefReads(client, known)
    const branches = makeBranchHeads(client, refs)
    const trees = makeTreeReader(client, known, settings.listVia === "contents")
    const repositoryId = makeRepositoryId(client)
    const bring = settings.useGraphql
      ? bringLater(({ makeGraphqlPrefetch: makeBring }) => makeBring(client, cache, known, repositoryId))
      : noBring
    const heads = makeHeadLookup(client, branches, known, bring)
    const resolve: typeof heads.resolve = (ref, wants) =>
      wants?.changedFiles === undefined
        ? heads.resolve(ref, wants)
        : Effect.flatMap(Effect.option(patching), (loaded) => {
            if (Option.isNone(loaded)) return heads.resolve(ref)
            patches ??= loaded.value.makePatches({ client, objects, known, branches, bring, heads })
            return patches.resolve(ref)
          })
    const files = makeFileReader({ client, cache, known, trees, branches, head: heads.head })
    const told = makeRemoteOperation(settings.deadline)
    const reads: CommitReads = {
      resolve: (ref) => told("resolve")(heads.resolve(ref)),
      tree: (at, path, options) => {
        const recursive = options?.recursive === true
        return trees
          .list(at, path, recursive)
          .pipe(Effect.map(Option.map((listing) => toTree(listing, recursive))), told("tree", path))
      },
      file: (at, path) => told("file", path)(files.file(at, path)),
      blobs: (at, wanted, options) =>
        files.many(at, wanted, options?.concurrency ?? settings.concurrency).pipe(
          Stream.catchAll((error) => Stream.fromEffect(translate({ operation: "GitRemote.blobs" })(error))),
          withStreamOperation("blobs", settings.deadline, { files: wanted.length })
        )
    }
    const { readOnly } = settings
    const snapshots = makeBranchSnapshots({ reads, branches, files, heads, known, trees, readOnly, told })
    let made: WriteOperations | undefined
    const writes = Effect.map(writing, ({ makeWriteOperations: makeWrites }) => {
      made ??= makeWrites({
        snapshots,
        client,
        cache,
        known,
        branches,
        heads,
        bring,
        files,
        refs,
        trees,
        repositoryId,
        told,
        withLock: (branch: string) => queue.withLock(`${repositoryName.toLowerCase()}\0${branch}`)
      })
      return made
    })
    const probe = makeProbe(client, refs, branches)
    let requests: PullRequests | undefined
    const pulls = Effect.map(pulling, ({ makePullRequests }) => {
      requests ??= makePullRequests({ client, told })
      return requests
    })

    const remote = GitRemote.of({
      name: repositoryName,
      repo: `${owner}/${repo}`,
      commit: (...args) => Effect.flatMap(writes, ({ commit }) => commit(...args)),
      commitNext: (branch, edit) => Effect.flatMap(writes, ({ commitNext }) => commitNext(branch, edit)),
      createBranch: (...args) => Effect.flatMap(writes, ({ createBranch }) => createBranch(...args)),
      deleteBranch: (...args) => Effect.flatMap(writes, ({ deleteBranch }) => deleteBranch(...args)),
      listBranches: (...args) => Effect.flatMap(writes, ({ listBranches }) => listBranches(...args)),
      advance: (...args) => Effect.flatMap(writes, ({ advance }) => advance(...args)),
      // A commit by Git Data is only asked to be a way forward; who wants equality has said so.
      ...(settings.commitVia === "graphql" && !readOnly
        ? { moveBranches: (moves) => Effect.flatMap(writes, ({ moveBranches }) => moveBranches(moves)) }
        : {}),
      probe: (branch) => told("probe")(probe(branch)),
      ...reads,
      head: (branch) =>
        told("head")(
          Effect.zipRight(branchError("GitRemote.head", branch) ?? Effect.void, heads.head(branch))
        ),
      snapshot: (branch) => {
        const wrong = branchError("GitRemote.snapshot", branch)
        return wrong === undefined ? snapshots.snapshot(branch) : snapshotLater(reads, () => wrong)
      },
      snapshotAt: (ref) => {
        const find = (wants?: PrefetchRequest) => told("resolve")(resolve(ref, wants))
        if (!isOid(ref) || heads.canPrefetch) return snapshotLater(reads, find)
        const prefetch: RemoteSnapshot["prefetch"] = (wants) =>
          Effect.suspend(() =>
            wants().changedFiles === undefined ? Effect.void : Effect.asVoid(find(wants()))
          )
        return { ...snapshotAt(reads, ref), prefetch }
      },
      treeAfter: (...args) => Effect.flatMap(writes, ({ treeAfter }) => treeAfter(...args)),
      log: (at, path, logOptions) =>
        Stream.unwrap(
          Effect.map(history, ({ log }) =>
            log(
              client,
              typeof at === "string" ? at : at.commit,
              path,
              logOptions?.limit ?? Number.POSITIVE_INFINITY,
              typeof at !== "string" || Option.isSome(known.rootAt(at))
            )
          )
        ).pipe(
          Stream.catchAll((error) =>
            Stream.fromEffect(translate({ operation: "GitRemote.log", path })(error))
          ),
          withStreamOperation("log", settings.deadline, { path })
        ),
      commitInfo: (oid) =>
        told("commitInfo")(
          Effect.zipWith(
            history,
            Option.isSome(known.rootAt(oid)) ? Effect.asSome(branches.existing(oid)) : branches.commit(oid),
            ({ toCommitInfo }, found) => Option.map(found, toCommitInfo)
          )
        ),
      diff: (before, after, diffOptions) =>
        told(
          "diff",
          diffOptions?.under
        )(
          Effect.tap(
            Effect.flatMap(history, ({ diff }) => diff(trees, before, after, diffOptions?.under ?? "")),
            (changes) => Effect.sync(() => patches?.matchBlobs(after, changes))
          )
        ),
      isAncestor: (ancestor, descendant) => told("isAncestor")(refs.isAncestor(ancestor, descendant)),
      mergeBases: (a, b) =>
        told("mergeBases")(
          Effect.flatMap(merging, ({ mergeBases }) => mergeBases(client, refs.isAncestor, a, b))
        ),
      pullRequests: {
        open: (request) => Effect.flatMap(pulls, ({ open }) => open(request)),
        find: (branch) => Effect.flatMap(pulls, ({ find }) => find(branch)),
        list: (state) => Effect.flatMap(pulls, ({ list }) => list(state)),
        close: (number) => Effect.flatMap(pulls, ({ close }) => close(number)),
        merge: (...args) => Effect.flatMap(pulls, ({ merge }) => merge(...args))
      },
      budget: client.call(Api.getRateLimit, { path: {} }).pipe(
        Effect.map((reply) => toBudgets(Option.getOrThrow(reply.value).resources)),
        Effect.catchIf(isMissing, () => Effect.succeed([])),
        told("budget")
      ),
      estimate: estimateWith(settings),
      invalidate: Effect.sync(() => {
        branches.clear()
        trees.clear()
        files.clear()
        heads.clear()
        snapshots.clear()
      })
    })
    return { api: remote, branches, client, files, known, snapshots, told }
  })

/**
 * A repository on GitHub, on a GitHub Enterprise server or on our own host.
 *
 * Where it promises less than the port: without `commitVia: "graphql"` a branch that somebody moved back to an
 * ancestor of the expected head is not noticed, since GitHub checks for a fast-forward, not for equality; a file where
 * a directory lies is replaced by GitHub without a word; and the first commit of an empty repository that has more
 * than one file stands on another commit, since GitHub knows no other way to begin.
 *
 * `commitVia: "push"` needs a scope: `layer`, or `scoped`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options: GitHubOptions
): Effect.Effect<GitRemoteService, ValidationError, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const settings = yield* resolveOptions(options)
    if (settings.commitVia === "push") {
      return yield* invalid('commitVia: "push" needs a scope', "use GitHub.layer or GitHub.scoped")
    }
    return (yield* connect(settings)).api
  })

/**
 * As `layer`, as a scoped value.
 *
 * @since 0.1.0
 * @category constructors
 */
export const scoped = (
  options: GitHubOptions
): Effect.Effect<GitRemoteService, ValidationError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const settings = yield* resolveOptions(options)
    const parts = yield* connect(settings)
    if (settings.commitVia !== "push" || settings.readOnly) return parts.api
    const http = Option.isSome(settings.session) ? settings.session.value : yield* HttpClient.HttpClient
    const { makePushRemote } = yield* Effect.orElseSucceed(pushes, () => ({ makePushRemote: undefined }))
    return makePushRemote === undefined || inBrowser
      ? yield* invalid(
          'commitVia: "push" needs Node: no page may send requests to a Git server',
          "leave it out"
        )
      : yield* makePushRemote({ ...parts, http })
  })

/**
 * The remote over the `HttpClient` of the environment: `fetch`, undici, a proxy or a recorder.
 *
 * @example
 * ```ts
 * const remote = GitHub.layer({ repo: "me/data", token: Redacted.make("ghp_...") })
 * const live = Store.layer().pipe(Layer.provide(remote), Layer.provide(FetchHttpClient.layer))
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: GitHubOptions
): Layer.Layer<GitRemote, ValidationError, HttpClient.HttpClient> => Layer.scoped(GitRemote, scoped(options))

/**
 * The remote over the platform's own `fetch`, in Node as in a browser.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFetch = (options: GitHubOptions): Layer.Layer<GitRemote, ValidationError> =>
  Layer.provide(layer(options), FetchHttpClient.layer)

/**
 * As `layer`, with options from configuration. What is not given is looked for in the environment: `CHAINSTORE_REPO`,
 * `CHAINSTORE_TOKEN`, `CHAINSTORE_API_URL` and `CHAINSTORE_RAW_URL`.
 *
 * @example
 * ```ts
 * const remote = GitHub.layerConfig({ repo: Config.string("DATA_REPO"), timeout: "10 seconds" })
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: GitHubConfig = {}
): Layer.Layer<GitRemote, ValidationError | ConfigError.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrapEffect(Effect.map(configOf(options), layer))

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { isOid } from "../../../domain/identifiers/Oid.js"
import { lazyModule } from "../../../domain/runtime/LazyModule.js"
import { branchError } from "../../../git/Names.js"
import { GitRemote, type PrefetchRequest, type RemoteSnapshot } from "../GitRemote.js"
import type { PullRequests } from "../PullRequests.js"
import { type CommitReads, snapshotAt, snapshotLater } from "../RemoteSnapshot.js"
import * as Api from "./api/Api.js"
import { isMissing } from "./client/ApiFailure.js"
import { makeClient } from "./client/Client.js"
import { translate } from "./client/ErrorTranslation.js"
import { withStreamOperation } from "./client/OperationContext.js"
import type { Settings } from "./client/Options.js"
import { toBudgets } from "./client/RateLimiter.js"
import { makeRemoteOperation } from "./client/RemoteOperation.js"
import { makeRepositoryId } from "./client/RepositoryId.js"
import { CommitQueue } from "./commits/CommitQueue.js"
import type { WriteOperations } from "./commits/WriteOperations.js"
import { estimateWith } from "./Estimate.js"
import { makeBranchHeads } from "./heads/BranchHeads.js"
import { makeCommitObjects } from "./heads/CommitObjects.js"
import type { GraphqlPrefetch } from "./heads/GraphqlPrefetch.js"
import { makeHeadLookup } from "./heads/HeadLookup.js"
import { makeHeadRequests } from "./heads/HeadRequests.js"
import { makeRefReads } from "./heads/RefReads.js"
import { makeCachedTrees } from "./objects/CachedTrees.js"
import { toTree } from "./objects/Listing.js"
import { makeObjectCache } from "./objects/ObjectCache.js"
import { makeTreeReader } from "./objects/TreeReader.js"
import { makeBranchSnapshots } from "./reads/BranchSnapshots.js"
import { makeFileReader } from "./reads/FileReader.js"
import type { Patches } from "./reads/Patches.js"
import { makeProbe } from "./reads/Probes.js"

// Loaded on first use: a page that only reads by REST does not need them.
const writeModules = lazyModule(() => import("./commits/WriteOperations.js"))
const prefetchModule = lazyModule(() => import("./heads/GraphqlPrefetch.js"))
const patchModule = lazyModule(() => import("./reads/Patches.js"))
const historyModule = lazyModule(() => import("./reads/History.js"))
const pullRequestModule = lazyModule(() => import("./pulls/PullRequests.js"))
const mergeBaseModule = lazyModule(() => import("./reads/MergeBases.js"))

/** Without GraphQL nothing is prefetched. */
const noPrefetch: GraphqlPrefetch = {
  read: () => Effect.succeedNone,
  missing: () => ({ files: [], directories: [] })
}

/** If the module cannot be loaded, nothing is prefetched: other requests follow. */
const lazyPrefetch = (
  make: (loaded: Effect.Effect.Success<typeof prefetchModule>) => GraphqlPrefetch
): GraphqlPrefetch => {
  let made: GraphqlPrefetch | undefined
  return {
    read: (commit, prefetch) =>
      Effect.flatMap(Effect.option(prefetchModule), (loaded) => {
        if (Option.isNone(loaded)) return Effect.succeedNone
        made ??= make(loaded.value)
        return made.read(commit, prefetch)
      }),
    missing: (head, prefetch) => made?.missing(head, prefetch) ?? prefetch
  }
}

/** The remote over GitHub's REST and GraphQL API, and the parts of it that `push/PushRemote.ts` needs. */
export const makeApiRemote = (settings: Settings) =>
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
    const cachedTrees = makeCachedTrees(cache)
    const refs = makeRefReads(client, cachedTrees)
    const commits = makeCommitObjects(client)
    const branchHeads = makeBranchHeads(makeHeadRequests(client, commits), commits, refs)
    const trees = makeTreeReader(client, cachedTrees, settings.listVia === "contents")
    const repositoryId = makeRepositoryId(client)
    const graphqlPrefetch = settings.useGraphql
      ? lazyPrefetch(({ makeGraphqlPrefetch }) =>
          makeGraphqlPrefetch(client, cache, cachedTrees, repositoryId)
        )
      : noPrefetch
    const headLookup = makeHeadLookup(client, branchHeads, commits, cachedTrees, graphqlPrefetch)
    const resolve: typeof headLookup.resolve = (ref, prefetch) =>
      prefetch?.changedFiles === undefined
        ? headLookup.resolve(ref, prefetch)
        : Effect.flatMap(Effect.option(patchModule), (loaded) => {
            if (Option.isNone(loaded)) return headLookup.resolve(ref)
            patches ??= loaded.value.makePatches({
              client,
              objects,
              cachedTrees,
              commits,
              branchHeads,
              graphqlPrefetch,
              headLookup
            })
            return patches.resolve(ref)
          })
    const files = makeFileReader({ client, cache, cachedTrees, trees, branchHeads, head: headLookup.head })
    const asOperation = makeRemoteOperation(settings.deadline)
    const reads: CommitReads = {
      resolve: (ref) => asOperation("resolve")(headLookup.resolve(ref)),
      tree: (at, path, options) => {
        const recursive = options?.recursive === true
        return trees
          .list(at, path, recursive)
          .pipe(Effect.map(Option.map((listing) => toTree(listing, recursive))), asOperation("tree", path))
      },
      file: (at, path) => asOperation("file", path)(files.file(at, path)),
      blobs: (at, wanted, options) =>
        files.many(at, wanted, options?.concurrency ?? settings.concurrency).pipe(
          Stream.catchAll((error) => Stream.fromEffect(translate({ operation: "GitRemote.blobs" })(error))),
          withStreamOperation("blobs", settings.deadline, { files: wanted.length })
        )
    }
    const { readOnly } = settings
    const snapshots = makeBranchSnapshots({
      reads,
      branchHeads,
      files,
      headLookup,
      cachedTrees,
      trees,
      readOnly,
      asOperation
    })
    let writeOperations: WriteOperations | undefined
    const writes = Effect.map(writeModules, ({ makeWriteOperations }) => {
      writeOperations ??= makeWriteOperations({
        snapshots,
        client,
        cache,
        cachedTrees,
        commits,
        branchHeads,
        headLookup,
        graphqlPrefetch,
        files,
        refs,
        trees,
        repositoryId,
        asOperation,
        withLock: (branch: string) => queue.withLock(`${repositoryName.toLowerCase()}\0${branch}`)
      })
      return writeOperations
    })
    const probe = makeProbe(client, refs, branchHeads)
    let requests: PullRequests | undefined
    const pulls = Effect.map(pullRequestModule, ({ makePullRequests }) => {
      requests ??= makePullRequests({ client, asOperation })
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
      // Only with this option the caller asks for heads that are equal to the expected ones, not merely ancestors.
      ...(settings.commitVia === "graphql" && !readOnly
        ? { moveBranches: (moves) => Effect.flatMap(writes, ({ moveBranches }) => moveBranches(moves)) }
        : {}),
      probe: (branch) => asOperation("probe")(probe(branch)),
      ...reads,
      head: (branch) =>
        asOperation("head")(
          Effect.zipRight(branchError("GitRemote.head", branch) ?? Effect.void, headLookup.head(branch))
        ),
      snapshot: (branch) => {
        const wrong = branchError("GitRemote.snapshot", branch)
        return wrong === undefined ? snapshots.snapshot(branch) : snapshotLater(reads, () => wrong)
      },
      snapshotAt: (ref) => {
        const findHead = (prefetch?: PrefetchRequest) => asOperation("resolve")(resolve(ref, prefetch))
        if (!isOid(ref) || headLookup.canPrefetch) return snapshotLater(reads, findHead)
        const prefetch: RemoteSnapshot["prefetch"] = (wants) =>
          Effect.suspend(() =>
            wants().changedFiles === undefined ? Effect.void : Effect.asVoid(findHead(wants()))
          )
        return { ...snapshotAt(reads, ref), prefetch }
      },
      treeAfter: (...args) => Effect.flatMap(writes, ({ treeAfter }) => treeAfter(...args)),
      log: (at, path, logOptions) =>
        Stream.unwrap(
          Effect.map(historyModule, ({ log }) =>
            log(
              client,
              typeof at === "string" ? at : at.commit,
              path,
              logOptions?.limit ?? Number.POSITIVE_INFINITY,
              typeof at !== "string" || Option.isSome(cachedTrees.rootAt(at))
            )
          )
        ).pipe(
          Stream.catchAll((error) =>
            Stream.fromEffect(translate({ operation: "GitRemote.log", path })(error))
          ),
          withStreamOperation("log", settings.deadline, { path })
        ),
      commitInfo: (oid) =>
        asOperation("commitInfo")(
          Effect.zipWith(
            historyModule,
            Option.isSome(cachedTrees.rootAt(oid))
              ? Effect.asSome(commits.getExisting(oid))
              : commits.get(oid),
            ({ toCommitInfo }, found) => Option.map(found, toCommitInfo)
          )
        ),
      diff: (before, after, diffOptions) =>
        asOperation(
          "diff",
          diffOptions?.under
        )(
          Effect.tap(
            Effect.flatMap(historyModule, ({ diff }) => diff(trees, before, after, diffOptions?.under ?? "")),
            (changes) => Effect.sync(() => patches?.matchBlobs(after, changes))
          )
        ),
      isAncestor: (ancestor, descendant) => asOperation("isAncestor")(refs.isAncestor(ancestor, descendant)),
      mergeBases: (a, b) =>
        asOperation("mergeBases")(
          Effect.flatMap(mergeBaseModule, ({ mergeBases }) => mergeBases(client, refs.isAncestor, a, b))
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
        asOperation("budget")
      ),
      estimate: estimateWith(settings),
      invalidate: Effect.sync(() => {
        branchHeads.clear()
        trees.clear()
        files.clear()
        headLookup.clear()
        snapshots.clear()
      })
    })
    return { api: remote, branchHeads, client, files, cachedTrees, snapshots, asOperation }
  })

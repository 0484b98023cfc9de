import * as Effect from "effect/Effect"
import type { KeyedMutex } from "../../../../domain/concurrency/KeyedMutex.js"
import { lazyModule } from "../../../../domain/runtime/LazyModule.js"
import type { GitRemoteService } from "../../GitRemote.js"
import type { Client } from "../client/Client.js"
import { makeWriteCheck, type RemoteOperation } from "../client/RemoteOperation.js"
import type { RepositoryId } from "../client/RepositoryId.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import type { CommitObjects } from "../heads/CommitObjects.js"
import type { GraphqlPrefetch } from "../heads/GraphqlPrefetch.js"
import type { HeadLookup } from "../heads/HeadLookup.js"
import type { RefReads } from "../heads/RefReads.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import type { ObjectCache } from "../objects/ObjectCache.js"
import type { TreeReader } from "../objects/TreeReader.js"
import { makeBranchCaches } from "../reads/BranchCaches.js"
import type { BranchSnapshots } from "../reads/BranchSnapshots.js"
import type { FileReader } from "../reads/FileReader.js"
import { makeBranchOperations } from "../refs/BranchOperations.js"
import type { makeRefTransaction } from "../refs/RefTransaction.js"
import { makeRefWrites } from "../refs/RefWrites.js"
import { makeSendCommit } from "./CommitCarrier.js"
import { makeCommitNext } from "./CommitNext.js"
import { makeCommitOnHead } from "./CommitOnHead.js"
import { makeContentsCommit } from "./ContentsCommit.js"
import { makeContentsWrite } from "./ContentsWrite.js"
import { makeDeriveTrees, treeAfter } from "./DerivedTrees.js"
import { makeFirstCommit } from "./FirstCommit.js"
import { makeGitDataCommit } from "./GitDataCommit.js"
import { makeLostRaces } from "./LostRaces.js"

// Loaded on first use: a client that writes by REST does not need them.
const graphqlCommits = lazyModule(() => import("./GraphqlCommit.js"))
const refTransactions = lazyModule(() => import("../refs/RefTransaction.js"))

interface Dependencies {
  readonly client: Client
  readonly cache: ObjectCache
  readonly cachedTrees: CachedTrees
  readonly commits: CommitObjects
  readonly branchHeads: BranchHeads
  readonly snapshots: BranchSnapshots
  readonly headLookup: HeadLookup
  readonly graphqlPrefetch: GraphqlPrefetch
  readonly files: FileReader
  readonly refs: RefReads
  readonly trees: TreeReader
  readonly repositoryId: RepositoryId
  readonly asOperation: RemoteOperation
  readonly withLock: KeyedMutex["withLock"]
}

export type WriteOperations = Pick<GitRemoteService, "commit" | "commitNext" | "treeAfter"> &
  ReturnType<typeof makeBranchOperations>

/** The operations of the port that write. */
export const makeWriteOperations = (dependencies: Dependencies): WriteOperations => {
  const { asOperation, branchHeads, cache, cachedTrees, client, commits, repositoryId, trees } = dependencies
  const refs = makeRefWrites(client, dependencies.refs)
  const writeFile = makeContentsWrite(client, branchHeads)
  const gitData = makeGitDataCommit({ cachedTrees, client, refs, trees })
  const sendCommit = makeSendCommit({
    cachedTrees,
    settings: client.settings,
    gitData,
    firstCommit: makeFirstCommit({ client, commits, gitData, refs, writeFile }),
    viaGraphql: (...args) =>
      Effect.flatMap(graphqlCommits, ({ makeGraphqlCommit }) =>
        makeGraphqlCommit(client, refs, repositoryId, cachedTrees, commits)(...args)
      )
  })
  let updateRefs: ReturnType<typeof makeRefTransaction> | undefined
  const shared = {
    ...dependencies,
    refs,
    branchCaches: makeBranchCaches(dependencies),
    checkWrite: makeWriteCheck(client.settings.readOnly),
    deriveTrees: makeDeriveTrees(cache, cachedTrees),
    lostRaces: makeLostRaces(),
    sendCommit,
    writeFile,
    updateRefs: (...args: Parameters<ReturnType<typeof makeRefTransaction>>) =>
      Effect.flatMap(refTransactions, ({ makeRefTransaction }) => {
        updateRefs ??= makeRefTransaction(client, refs, repositoryId)
        return updateRefs(...args)
      })
  }
  const commit = makeCommitOnHead(shared)
  return {
    commit,
    commitNext: makeCommitNext({
      ...shared,
      commitOnHead: commit,
      commitContents: makeContentsCommit(shared)
    }),
    treeAfter: (at, path, changes) => asOperation("treeAfter", path)(treeAfter(trees, at, path, changes)),
    ...makeBranchOperations(shared)
  }
}

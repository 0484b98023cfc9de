import * as Effect from "effect/Effect"
import type { KeyedMutex } from "../../../../domain/concurrency/KeyedMutex.js"
import { lazyModule } from "../../../../domain/runtime/LazyModule.js"
import type { GitRemoteService } from "../../GitRemote.js"
import type { Client } from "../client/Client.js"
import { makeWriteCheck, type RemoteOperation } from "../client/RemoteOperation.js"
import type { RepositoryId } from "../client/RepositoryId.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
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
import { makeCommitCarriers } from "./CommitCarrier.js"
import { makeCommitOperations } from "./CommitOperations.js"
import { makeContentsCommit } from "./ContentsCommit.js"
import { makeContentsWrite } from "./ContentsWrite.js"
import { makeDeriveTrees, treeAfter } from "./DerivedTrees.js"

const mutations = lazyModule(() => import("./GraphqlCommit.js"))
const moves = lazyModule(() => import("../refs/RefTransaction.js"))

interface Parts {
  readonly client: Client
  readonly cache: ObjectCache
  readonly known: CachedTrees
  readonly branches: BranchHeads
  readonly snapshots: BranchSnapshots
  readonly heads: HeadLookup
  readonly bring: GraphqlPrefetch
  readonly files: FileReader
  readonly refs: RefReads
  readonly trees: TreeReader
  readonly repositoryId: RepositoryId
  readonly told: RemoteOperation
  readonly withLock: KeyedMutex["withLock"]
}

export type WriteOperations = Pick<GitRemoteService, "commit" | "commitNext" | "treeAfter"> &
  ReturnType<typeof makeBranchOperations>

/** Everything of the remote that writes. */
export const makeWriteOperations = (given: Parts): WriteOperations => {
  const { branches, cache, client, known, repositoryId, told, trees } = given
  const refs = makeRefWrites(client, given.refs)
  const writeFile = makeContentsWrite(client, branches)
  const commitNow = makeCommitCarriers({
    client,
    known,
    refs,
    trees,
    writeFile,
    viaGraphql: (...args) =>
      Effect.flatMap(mutations, ({ makeGraphqlCommit }) =>
        makeGraphqlCommit(client, refs, repositoryId, known)(...args)
      ),
    existing: branches.existing
  })
  let moveTogether: ReturnType<typeof makeRefTransaction> | undefined
  const parts = {
    ...given,
    refs,
    remember: makeBranchCaches(given),
    derive: makeDeriveTrees(cache, known),
    writeFile,
    commitNow,
    writable: makeWriteCheck(client.settings.readOnly),
    moveTogether: (...args: Parameters<ReturnType<typeof makeRefTransaction>>) =>
      Effect.flatMap(moves, (loaded) => {
        moveTogether ??= loaded.makeRefTransaction(client, refs, repositoryId)
        return moveTogether(...args)
      })
  }
  return {
    treeAfter: (at, path, changes) => told("treeAfter", path)(treeAfter(trees, at, path, changes)),
    ...makeCommitOperations({ ...parts, commitFile: makeContentsCommit(parts) }),
    ...makeBranchOperations(parts)
  }
}

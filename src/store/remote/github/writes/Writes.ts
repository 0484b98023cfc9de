import * as Effect from "effect/Effect"
import type { KeyedMutex } from "../../../../domain/concurrency/KeyedMutex.js"
import { lazyModule } from "../../../../domain/runtime/LazyModule.js"
import type { GitRemoteService } from "../../GitRemote.js"
import type { Branches } from "../branches/Branches.js"
import type { makeBranchMoves } from "../branches/BranchMoves.js"
import { makeBranchRefs } from "../branches/BranchRefs.js"
import type { BranchSnapshots } from "../branches/BranchSnapshots.js"
import type { Bring } from "../branches/Bring.js"
import type { Files } from "../branches/Files.js"
import type { Heads } from "../branches/Heads.js"
import type { RefReads } from "../branches/RefReads.js"
import { makeRefWrites } from "../branches/RefWrites.js"
import { makeRemembering } from "../branches/Remembering.js"
import type { Client } from "../client/Client.js"
import type { RepositoryId } from "../client/RepositoryId.js"
import { makeWritable, type Told } from "../client/Told.js"
import type { KnownTrees } from "../objects/KnownTrees.js"
import type { ObjectCache } from "../objects/ObjectCache.js"
import type { Trees } from "../objects/Trees.js"
import { makeCommit } from "./Commits.js"
import { makeCommitTurns } from "./CommitTurns.js"
import { makeFileCommit } from "./FileCommit.js"
import { makeFileWrites } from "./FileWrites.js"
import { makeDerive, treeAfter } from "./WrittenTrees.js"

const mutations = lazyModule(() => import("./GraphqlCommit.js"))
const moves = lazyModule(() => import("../branches/BranchMoves.js"))

interface Parts {
  readonly client: Client
  readonly cache: ObjectCache
  readonly known: KnownTrees
  readonly branches: Branches
  readonly snapshots: BranchSnapshots
  readonly heads: Heads
  readonly bring: Bring
  readonly files: Files
  readonly refs: RefReads
  readonly trees: Trees
  readonly repositoryId: RepositoryId
  readonly told: Told
  readonly withLock: KeyedMutex["withLock"]
}

export type Writes = Pick<GitRemoteService, "commit" | "commitNext" | "treeAfter"> &
  ReturnType<typeof makeBranchRefs>

/** Everything of the remote that writes. */
export const makeWrites = (given: Parts): Writes => {
  const { branches, cache, client, known, repositoryId, told, trees } = given
  const refs = makeRefWrites(client, given.refs)
  const writeFile = makeFileWrites(client, branches)
  const commitNow = makeCommit({
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
  let moveTogether: ReturnType<typeof makeBranchMoves> | undefined
  const parts = {
    ...given,
    refs,
    remember: makeRemembering(given),
    derive: makeDerive(cache, known),
    writeFile,
    commitNow,
    writable: makeWritable(client.settings.readOnly),
    moveTogether: (...args: Parameters<ReturnType<typeof makeBranchMoves>>) =>
      Effect.flatMap(moves, (loaded) => {
        moveTogether ??= loaded.makeBranchMoves(client, refs, repositoryId)
        return moveTogether(...args)
      })
  }
  return {
    treeAfter: (at, path, changes) => told("treeAfter", path)(treeAfter(trees, at, path, changes)),
    ...makeCommitTurns({ ...parts, commitFile: makeFileCommit(parts) }),
    ...makeBranchRefs(parts)
  }
}

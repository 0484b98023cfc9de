import { Effect } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import type * as Memory from "../../../src/store/remote/memory/Memory.js"
import type { RemoteLaws, StoreLaws } from "../../../src/testing/index.js"
import type { LawCheck } from "../LawCheck.js"

/** The published laws of stores and remotes, over a mutated repository in memory. */
export interface Mutated {
  readonly Memory: typeof Memory
  readonly RemoteLaws: typeof RemoteLaws
  readonly StoreLaws: typeof StoreLaws
}

/** A store over a repository in memory of its own. */
const subjectOf = ({ Memory }: Mutated): StoreLaws.StoreSubject => {
  const repository = new Memory.MemoryRepository()
  return { remote: Memory.make({ repository }) }
}

const person = { name: "Somebody", email: "somebody@example.org", seconds: 1_700_000_000, offset: 60 }

/** A remote in memory, and small sizes. */
const harnessOf = ({ Memory }: Mutated): RemoteLaws.RemoteHarness => ({
  sizes: { files: 40, largeBlob: 20_000, listing: 120, fibres: 8, interruptions: 14, interruptWithin: 2 },
  make: Effect.suspend(() => {
    const repository = new Memory.MemoryRepository()
    const client = Memory.make({ repository, moveBranches: true })
    return Effect.map(client, (remote) => ({
      remote,
      another: client,
      force: (branch: string, at: Oid) =>
        Effect.sync(() => void repository.refs.set(`refs/heads/${branch}`, at)),
      tag: (name: string, at: Oid) => Effect.sync(() => void repository.refs.set(`refs/tags/${name}`, at)),
      merge: (parents: ReadonlyArray<Oid>, tree: Oid) =>
        Effect.sync(
          () =>
            repository.writeCommit({ tree, parents, author: person, committer: person, message: "merge" }).oid
        )
    }))
  })
})

/** Every law of stores and remotes, once. */
export const checksOf = (mutated: Mutated): ReadonlyArray<LawCheck> => [
  ...Object.entries(mutated.StoreLaws.all).map(([name, law]) => ({
    name,
    check: () =>
      mutated.StoreLaws.check(law, subjectOf(mutated), { seed: 23, numRuns: 1, endOnFailure: true })
  })),
  ...mutated.RemoteLaws.laws(harnessOf(mutated)).map((law) => ({
    name: law.name,
    check: () => mutated.RemoteLaws.check(law)
  }))
]

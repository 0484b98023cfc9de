import { Effect } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import type * as Cache from "../../../src/store/Cache.js"
import type * as Memory from "../../../src/store/remote/memory/Memory.js"
import type { CacheLaws, RemoteLaws, StoreLaws } from "../../../src/testing/index.js"
import type { LawCheck } from "../LawCheck.js"

/** The published laws of stores, remotes and caches, over a mutated repository and cache in memory. */
export interface Mutated {
  readonly Cache: typeof Cache
  readonly CacheLaws: typeof CacheLaws
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

/** Caches that laws are held against: one that evicts, and one of promises. */
const cachesOf = ({ Cache }: Mutated): Readonly<Record<string, () => Cache.Cache | Cache.AsyncCache>> => {
  class SlowCache extends Cache.AsyncCache {
    readonly entries = new Map<string, Cache.CacheEntry>()
    async get(key: string) {
      return this.entries.get(key)
    }
    async set(key: string, entry: Cache.CacheEntry) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      this.entries.set(key, entry)
    }
    async delete(key: string) {
      this.entries.delete(key)
    }
    async clear() {
      this.entries.clear()
    }
  }
  return {
    "a MemoryCache that evicts": () => new Cache.MemoryCache({ maxBytes: 60_000 }),
    "an AsyncCache": () => new SlowCache()
  }
}

/** Every law of stores, remotes and caches, once. */
export const checksOf = (mutated: Mutated): ReadonlyArray<LawCheck> => [
  ...Object.entries(mutated.StoreLaws.all).map(([name, law]) => ({
    name,
    check: () =>
      mutated.StoreLaws.check(law, subjectOf(mutated), { seed: 23, numRuns: 1, endOnFailure: true })
  })),
  ...mutated.RemoteLaws.laws(harnessOf(mutated)).map((law) => ({
    name: law.name,
    check: () => mutated.RemoteLaws.check(law)
  })),
  ...Object.entries(cachesOf(mutated)).flatMap(([name, make]) =>
    Object.values(mutated.CacheLaws.all).map((law) => ({
      name: `CacheLaws.${law.name} of ${name}`,
      check: () => mutated.CacheLaws.check(law, Effect.sync(make), { evicts: name.includes("evicts") })
    }))
  )
]

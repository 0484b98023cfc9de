/**
 * The laws of stores, remotes and caches: a store and a cache keep them, and a counterexample shows that a remote loses
 * removals.
 *
 * Output:
 * a store in memory keeps 4 laws
 * a cache in a Map keeps all of them
 * A law of remotes does not hold: a large listing is complete.
 */
import { AsyncCache, type CacheEntry, Memory } from "chainstore/store"
import { CacheLaws, RemoteLaws, StoreLaws } from "chainstore/testing"
import { Console, Effect } from "effect"

const repository = new Memory.MemoryRepository()
const subject: StoreLaws.StoreSubject = { remote: Memory.make({ repository }) }

// `StoreLaws.checkAll(subject)` checks all of them.
const some = ["revisions", "derivedFiles", "transactions", "interruption"] as const
const store = Effect.promise(async () => {
  for (const name of some) await StoreLaws.check(StoreLaws.all[name], subject, { seed: 1 })
}).pipe(Effect.zipRight(Console.log(`a store in memory keeps ${some.length} laws`)))

class MapCache extends AsyncCache {
  readonly entries = new Map<string, CacheEntry>()
  get(key: string) {
    return this.entries.get(key)
  }
  set(key: string, entry: CacheEntry) {
    this.entries.set(key, entry)
  }
  delete(key: string) {
    this.entries.delete(key)
  }
  clear() {
    this.entries.clear()
  }
}

const cache = Effect.promise(() => CacheLaws.checkAll(Effect.sync(() => new MapCache()))).pipe(
  Effect.zipRight(Console.log("a cache in a Map keeps all of them"))
)

/** A remote of one's own: this one forgets to remove files. */
const forgetful: RemoteLaws.RemoteHarness = {
  make: Effect.suspend(() => {
    const shared = new Memory.MemoryRepository()
    const client = Effect.map(
      Memory.make({ repository: shared }),
      (remote) =>
        ({
          ...remote,
          commit: (branch, expected, commit) =>
            remote.commit(branch, expected, {
              ...commit,
              changes: commit.changes.filter((change) => change._tag !== "Remove")
            })
        }) satisfies typeof remote
    )
    return Effect.map(client, (remote) => ({
      remote,
      another: client,
      force: (branch, at) => Effect.sync(() => void shared.refs.set(`refs/heads/${branch}`, at)),
      tag: (name, at) => Effect.sync(() => void shared.refs.set(`refs/tags/${name}`, at))
    }))
  })
}

const remote = Effect.gen(function* () {
  for (const law of RemoteLaws.laws(forgetful)) {
    const violation = yield* Effect.flip(law.check).pipe(Effect.option)
    if (violation._tag === "Some") return yield* Console.log(violation.value.message.split("\n")[0])
  }
})

await Effect.runPromise(Effect.all([store, cache, remote], { discard: true }))

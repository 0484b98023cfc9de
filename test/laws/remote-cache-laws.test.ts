import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { AsyncCache, type CacheEntry, type GitRemote, Memory, MemoryCache } from "chainstore/store"
import { CacheLaws, RemoteLaws } from "chainstore/testing"
import { Effect } from "effect"

const page = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8")
    .replace(/\n\s*\* ?/g, " ")
    .replace(/\s+/g, " ")

const harness = (change: (client: GitRemote["Type"]) => GitRemote["Type"]): RemoteLaws.RemoteHarness => ({
  make: Effect.suspend(() => {
    const repository = new Memory.MemoryRepository()
    const client = Effect.map(Memory.make({ repository }), change)
    return Effect.map(client, (remote) => ({
      remote,
      another: client,
      force: (branch, at) => Effect.sync(() => void repository.refs.set(`refs/heads/${branch}`, at)),
      tag: (name, at) => Effect.sync(() => void repository.refs.set(`refs/tags/${name}`, at))
    }))
  })
})

const broken = async (laws: ReadonlyArray<RemoteLaws.RemoteLaw>) => {
  const found: Array<string> = []
  for (const law of laws) {
    await RemoteLaws.check(law).catch((error: Error) => void found.push(error.message))
  }
  return found
}

describe("laws of remotes", () => {
  it("have sentences of the port and of the documentation", () => {
    const laws = [...RemoteLaws.laws(harness((client) => client)), ...Object.values(CacheLaws.all)]
    const missing = laws.filter(
      ({ promise }) => !page(promise.link.split("#")[0]!).includes(promise.sentence)
    )
    assert.deepStrictEqual(
      missing.map(({ name }) => name),
      []
    )
    assert.strictEqual(new Set(laws.map(({ name }) => name)).size, laws.length)
  })

  it("notice a remote that forgets a removal, and tell the calls", async () => {
    const forgetful = harness((client) => ({
      ...client,
      commit: (branch, expected, commit) =>
        client.commit(branch, expected, {
          ...commit,
          changes: commit.changes.filter(({ _tag }) => _tag !== "Remove")
        })
    }))
    const laws = RemoteLaws.laws(forgetful).filter(({ name }) => name.startsWith("put, link and remove"))
    const [message] = await broken(laws)
    assert.include(message!, "A law of remotes does not hold: put, link and remove in one commit")
    assert.include(message!, "(src/store/remote/GitRemote.ts)")
    assert.include(message!, '  remote.commit("main"')
  })
})

/** A cache of the documentation's example. */
class MapCache extends AsyncCache {
  entries = new Map<string, CacheEntry>()
  keyOf = (key: string) => key
  get(key: string): CacheEntry | undefined {
    return this.entries.get(this.keyOf(key))
  }
  async set(key: string, entry: CacheEntry) {
    this.entries.set(this.keyOf(key), entry)
  }
  delete(key: string) {
    this.entries.delete(this.keyOf(key))
  }
  clear() {
    this.entries.clear()
  }
}

const faults: Readonly<Record<string, (cache: MapCache) => unknown>> = {
  "drops the ETag": (cache) => {
    const set = cache.set.bind(cache)
    cache.set = (key, { content, oid }) => set(key, { content, oid })
  },
  "ignores case": (cache) => {
    cache.keyOf = (key) => key.toLowerCase()
  },
  "cuts keys": (cache) => {
    cache.keyOf = (key) => key.slice(0, 40)
  },
  "keeps the first entry": (cache) => {
    const set = cache.set.bind(cache)
    cache.set = (key, entry) => (cache.entries.has(key) ? Promise.resolve() : set(key, entry))
  },
  "does not delete": (cache) => {
    cache.delete = () => {}
  },
  "does not clear": (cache) => {
    cache.clear = () => {}
  },
  "deletes everything": (cache) => {
    cache.delete = () => cache.entries.clear()
  },
  "answers before it is asked": (cache) => {
    cache.get = (key) => cache.entries.get(key) ?? [...cache.entries.values()].at(-1)
  },
  "cuts contents": (cache) => {
    const set = cache.set.bind(cache)
    cache.set = (key, entry) => set(key, { ...entry, content: entry.content.slice(0, 100) })
  },
  "forgets all but the last": (cache) => {
    const set = cache.set.bind(cache)
    cache.set = (key, entry) => {
      cache.entries.clear()
      return set(key, entry)
    }
  }
}

describe("laws of caches", () => {
  it("hold for MemoryCache and for a cache of plain values", async () => {
    await CacheLaws.checkAll(Effect.sync(() => new MemoryCache()))
    await CacheLaws.checkAll(Effect.sync(() => new MapCache()))
  })

  it.each(Object.entries(faults))("notice one that %s", async (_name, change) => {
    const make = Effect.sync(() => {
      const cache = new MapCache()
      change(cache)
      return cache
    })
    const error = await CacheLaws.checkAll(make).then(
      () => undefined,
      (failed: Error) => failed
    )
    assert.include(error?.message ?? "holds", "does not hold.")
    assert.include(error?.message ?? "", "(docs/store.md#options)")
  })
})

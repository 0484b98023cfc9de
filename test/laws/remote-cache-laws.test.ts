import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import {
  AmbiguousWriteError,
  AsyncCache,
  AuthError,
  type CacheEntry,
  type GitRemote,
  Memory,
  MemoryCache,
  NullCache,
  RemoteError,
  type RemoteSnapshot
} from "chainstore/store"
import { CacheLaws, RemoteLaws } from "chainstore/testing"
import { Effect, Option, Stream } from "effect"

const page = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8")
    .replace(/\n\s*\* ?/g, " ")
    .replace(/\s+/g, " ")

const harness = (change: (client: GitRemote["Type"]) => GitRemote["Type"]): RemoteLaws.RemoteHarness => ({
  make: Effect.suspend(() => {
    const repository = new Memory.MemoryRepository()
    const client = Effect.map(Memory.make({ repository, moveBranches: true }), change)
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

describe("laws of branches that move together", () => {
  const unsupported = new RemoteError({
    operation: "moveBranches",
    reason: "Unsupported",
    message: "not here"
  })
  const together = (harness: RemoteLaws.RemoteHarness) =>
    RemoteLaws.laws(harness).filter(({ name }) => /^several branches move|^a temporary branch/.test(name))

  it("hold for a host that turns out not to move them", async () => {
    const laws = together(harness((client) => ({ ...client, moveBranches: () => unsupported })))
    assert.lengthOf(laws, 2)
    assert.deepStrictEqual(await broken(laws), [])
  })

  it("notice a host that moves one of them before it says so", async () => {
    const laws = together(
      harness((client) => ({
        ...client,
        moveBranches: ([first]) =>
          Effect.zipRight(
            client.advance(first!.branch, Option.getOrThrow(first!.from), Option.getOrThrow(first!.to)),
            unsupported
          )
      }))
    )
    assert.lengthOf(await broken(laws), 2)
  })
})

/** Clients over a network: a client without permission, and one of whose replies the next is lost. */
const overNetwork = (
  lost: (
    client: GitRemote["Type"],
    edit: Parameters<GitRemote["Type"]["commit"]>
  ) => ReturnType<GitRemote["Type"]["commit"]>,
  rejected: (client: GitRemote["Type"]) => GitRemote["Type"]
): RemoteLaws.RemoteHarness => {
  const plain = harness((client) => client)
  return {
    ...plain,
    make: Effect.map(plain.make, (subject) => {
      let next = 0
      const commit: GitRemote["Type"]["commit"] = (...args) =>
        Effect.suspend(() =>
          next > 0 && --next === 0 ? lost(subject.remote, args) : subject.remote.commit(...args)
        )
      return {
        ...subject,
        remote: { ...subject.remote, commit },
        rejected: Effect.map(subject.another, rejected),
        loseReply: (nth: number) =>
          Effect.sync(() => {
            next = nth
          })
      }
    })
  }
}

const refused = new AuthError({ operation: "test", message: "Bad credentials", hint: "Use another token" })

/** A client that fails with `AuthError`, except for its members of this object. */
const rejecting =
  (except: (client: GitRemote["Type"]) => Partial<GitRemote["Type"]>) =>
  (client: GitRemote["Type"]): GitRemote["Type"] => {
    const fail = () => refused
    const snapshot = { ...client.snapshot("main"), head: refused, file: fail, directory: fail }
    return {
      ...client,
      ...{ head: fail, resolve: fail, tree: fail, file: fail, snapshot: () => snapshot },
      ...{ blobs: () => Stream.fail(refused), log: () => Stream.fail(refused), listBranches: fail },
      ...{ commit: fail, commitNext: fail, createBranch: fail, deleteBranch: fail, advance: fail },
      ...except(client)
    }
  }

const unknown = new AmbiguousWriteError({
  operation: "commit",
  message: "The reply was lost",
  hint: "Read it"
})

type Lost = Parameters<typeof overNetwork>[0]

/** The write happens, and nothing tells so. */
const ambiguous: Lost = (client, edit) => Effect.zipRight(client.commit(...edit), unknown)

const networkFaults: Readonly<
  Record<string, readonly [law: string, lost: Lost, except: Parameters<typeof rejecting>[0]]>
> = {
  "sends a write again after a lost reply": [
    "a write whose reply is lost",
    (client, [branch, at, commit]) =>
      Effect.flatMap(client.commit(branch, at, commit), (made) =>
        client.commit(branch, Option.some(made), commit)
      ),
    () => ({})
  ],
  "calls a write that happened a failure": [
    "a write whose reply is lost",
    (client, edit) =>
      Effect.zipRight(
        client.commit(...edit),
        new RemoteError({ operation: "commit", reason: "Unreachable", message: "The reply was lost" })
      ),
    () => ({})
  ],
  "calls a write that did not happen a success": [
    "a write whose reply is lost",
    (_client, [, at]) => Effect.succeed({ ...Option.getOrThrow(at), blobs: new Map() }),
    () => ({})
  ],
  "reads a file as absent without permission": [
    "rejected credentials",
    ambiguous,
    () => ({ file: () => Effect.succeedNone })
  ],
  "writes without permission": ["rejected credentials", ambiguous, ({ commit }) => ({ commit })]
}

describe("laws of remotes over a network", () => {
  it("hold for a client whose lost replies are ambiguous and whose credentials are checked", async () => {
    const laws = RemoteLaws.laws(
      overNetwork(
        ambiguous,
        rejecting(() => ({}))
      )
    )
    assert.deepStrictEqual(await broken(laws.filter(({ name }) => /rejected|reply is lost/.test(name))), [])
  })

  it.each(Object.entries(networkFaults))("notice a client that %s", async (_name, [law, lost, except]) => {
    const laws = RemoteLaws.laws(overNetwork(lost, rejecting(except)))
    const [message] = await broken(laws.filter(({ name }) => name.startsWith(law)))
    assert.include(message ?? "holds", `A law of remotes does not hold: ${law}`)
  })

  it("notice a client whose invalidate keeps what was read", async () => {
    const keeping = harness((client) => {
      const listed = new Map<string, Effect.Effect.Success<ReturnType<RemoteSnapshot["directory"]>>>()
      return {
        ...client,
        snapshot: (branch) => {
          const snapshot = client.snapshot(branch)
          return {
            ...snapshot,
            directory: (path, options) => {
              const known = options?.maxAge === undefined ? undefined : listed.get(path)
              return known !== undefined
                ? Effect.succeed(known)
                : Effect.tap(snapshot.directory(path, options), (found) => listed.set(path, found))
            }
          }
        }
      }
    })
    const messages = await broken(
      RemoteLaws.laws(keeping).filter(({ name }) => /read by branch name/.test(name))
    )
    assert.include(messages[0] ?? "holds", "A law of remotes does not hold: invalidate forgets")
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

  it("hold for caches that evict, which say so", async () => {
    const tiny = Effect.sync(() => new MemoryCache({ maxEntries: 2, maxBytes: 100 }))
    await CacheLaws.checkAll(tiny, { evicts: true })
    await CacheLaws.checkAll(
      Effect.sync(() => new NullCache()),
      { evicts: true }
    )
    const error = await CacheLaws.checkAll(tiny).then(
      () => undefined,
      (failed: Error) => failed
    )
    assert.include(error?.message ?? "holds", "check it with { evicts: true }")
  })

  it.each(Object.entries(faults).filter(([name]) => !/^(forgets|deletes everything)/.test(name)))(
    "notice one that evicts and %s",
    async (_name, change) => {
      const make = Effect.sync(() => {
        const cache = new MapCache()
        change(cache)
        return cache
      })
      const failed = await CacheLaws.checkAll(make, { evicts: true }).then(
        () => false,
        () => true
      )
      assert.isTrue(failed)
    }
  )

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

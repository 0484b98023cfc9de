import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { LocalGit } from "chainstore/local"
import { decorate, type GitHub, Memory, Store, type StoreOptions, type StoreService } from "chainstore/store"
import { StoreLaws } from "chainstore/testing"
import { Effect, Option } from "effect"
import { hostServer, ways } from "../store/core/Remotes.js"
import { clientsOnHost } from "../support/github/OnHost.js"
import { HostServer } from "../support/host/HostServer.js"

const directory = mkdtempSync(join(tmpdir(), "store-laws-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const inMemory = (): StoreLaws.StoreSubject => {
  const repository = new Memory.MemoryRepository()
  return { remote: Memory.make({ repository }) }
}

/** A new repository of our own host. */
const hostSubject = (options: Partial<GitHub.GitHubOptions>) =>
  Effect.gen(function* () {
    const clients = yield* Effect.provideService(clientsOnHost(options), HostServer, yield* hostServer)
    return { remote: clients } satisfies StoreLaws.StoreSubject
  })

const subjects: ReadonlyArray<readonly [string, StoreLaws.StoreSubject]> = [
  ["memory", inMemory()],
  ["a bare repository", { remote: LocalGit.scoped({ directory, durability: "none" }) }]
]

describe.each(subjects)("the laws of a store on %s", (_name, subject) => {
  for (const law of Object.values(StoreLaws.all)) {
    it(law.name, () => StoreLaws.check(law, subject, { numRuns: 1 }))
  }
})

/** Laws that make most of the calls; the soak tier holds these subjects against all of them. */
const short = [
  "revisions",
  "finding",
  "freshReads",
  "derivedForm",
  "batches",
  "transactions",
  "ambientTransactions",
  "nestedTransactions",
  "restoring",
  "counting",
  "mergingWrites",
  "branchMerges",
  "branchConflicts",
  "proposals",
  "jsonSchemas"
] as const

describe("the laws of a store on memory, sharded, without a cache", () => {
  const subject = { ...inMemory(), options: { shardBy: "hash", shardDepth: 2, cache: false } as const }
  for (const name of short) {
    it(name, () => StoreLaws.check(StoreLaws.all[name], subject, { numRuns: 1 }))
  }
})

describe("the laws of a store on memory, decorated", () => {
  const open = (options: StoreOptions) =>
    Effect.map(Store.make(options), (store) =>
      decorate(store, { effect: (_, run) => run, stream: (_, run) => run })
    )
  for (const name of short) {
    it(name, () => StoreLaws.check(StoreLaws.all[name], { ...inMemory(), open }, { numRuns: 1 }))
  }
})

describe.each(ways)("the laws of a store on our own host, %s", (_way, options) => {
  for (const name of short) {
    it.live(name, () =>
      Effect.flatMap(hostSubject(options), (subject) =>
        Effect.promise(() => StoreLaws.check(StoreLaws.all[name], subject, { numRuns: 1 }))
      )
    )
  }
})

it("each law has a sentence of the documentation", () => {
  const pages = new Map<string, string>()
  const page = (path: string) => {
    const known = pages.get(path)
    if (known !== undefined) return known
    const text = readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8")
    pages.set(path, text.replace(/\s+/g, " "))
    return pages.get(path)!
  }
  const missing = Object.values(StoreLaws.all).filter(
    ({ promise }) => !page(promise.link.split("#")[0]!).includes(promise.sentence)
  )
  assert.deepStrictEqual(
    missing.map(({ name, promise }) => `${name}: ${promise.sentence}`),
    []
  )
  for (const [name, law] of Object.entries(StoreLaws.all)) assert.strictEqual(law.name, name)
})

describe("the laws notice", () => {
  /** A store that does not find every third document. */
  const forgetful = (): StoreLaws.StoreSubject => {
    let reads = 0
    return {
      ...inMemory(),
      open: (options) =>
        Effect.map(
          Store.make(options),
          (store): StoreService => ({
            ...store,
            collection: ((name: string) => {
              const collection = store.collection(name)
              return {
                ...collection,
                get: (id: string) =>
                  Effect.map(collection.get(id), (found) => (++reads % 3 === 0 ? Option.none() : found))
              }
            }) as StoreService["collection"]
          })
        )
    }
  }

  const failure = (law: StoreLaws.StoreLaw, parameters: StoreLaws.Parameters = {}) =>
    StoreLaws.check(law, forgetful(), parameters).then(
      () => "holds",
      (error: Error) => error.message
    )

  it("a store that forgets, in the words of its user", async () => {
    const message = await failure(StoreLaws.all.roundTrip, { seed: 1 })
    assert.include(message, "StoreLaws.roundTrip does not hold.")
    assert.include(message, "(docs/store.md#reading)")
    assert.include(message, "Found: the document: expected [1")
    assert.include(message, 'store.collection("people").insert({}')
    assert.match(
      message,
      /Again: StoreLaws\.check\(StoreLaws\.all\.roundTrip, subject, \{ seed: 1, path: "[\d:]+" \}\)/
    )
    const path = /path: "([\d:]+)"/.exec(message)![1]!
    assert.include(await failure(StoreLaws.all.roundTrip, { seed: 1, path }), "does not hold")
  })
})

import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { recommendedStorage } from "../../../src/store/internal/derived/StorageAdvice.js"
import * as GitRemote from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { fresh, remoteOf } from "../../support/github/Remote.js"
import { connect, directory, ways } from "./Remotes.js"

const derived = { indexes: { people: ["city"] }, manifests: { people: ["name"] } }

const rows = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ name: `Somebody ${n + from}`, city: `City ${n % 150}` }))

const openIn = (remote: GitRemote.GitRemoteService, options: StoreOptions) =>
  Effect.provideService(Store.make(options), GitRemote.GitRemote, remote)

it("a directory never has more than a thousand documents, and trees begin at 2,000", () => {
  assert.deepStrictEqual(
    [0, 256, 257, 1_999, 2_000, 256_000, 256_001, 1_000_000, 65_536_000, 65_536_001].map((documents) => {
      const { format, shardBy, shardDepth } = recommendedStorage(documents)
      return [format, shardBy, shardDepth]
    }),
    [
      [1, "leading", 0],
      [1, "leading", 0],
      [1, "hash", 1],
      [1, "hash", 1],
      [2, "hash", 1],
      [2, "hash", 1],
      [2, "hash", 2],
      [2, "hash", 2],
      [2, "hash", 2],
      [2, "hash", 3]
    ]
  )
})

const advised = (options: StoreOptions, documents: number) =>
  Effect.gen(function* () {
    const store = yield* Store.make(options)
    const { advice } = yield* store.collection("people").estimate({ documents })
    return advice.map(({ setting }) => setting)
  }).pipe(Effect.provide(Memory.layer()))

it.effect("what is stored well enough is left as it is", () =>
  Effect.gen(function* () {
    const hashed = (shardDepth: number) => ({ ...derived, shardBy: "hash", shardDepth }) as const
    assert.deepStrictEqual(yield* advised(derived, 1_999), [])
    assert.deepStrictEqual(yield* advised(derived, 2_000), ["format", "sharding"])
    // Without an index there is no format to choose.
    assert.deepStrictEqual(yield* advised({}, 2_000), ["sharding"])
    assert.deepStrictEqual(yield* advised(hashed(1), 2_000), ["format"])
    assert.deepStrictEqual(yield* advised({ ...hashed(1), format: 2 }, 256_000), [])
    assert.deepStrictEqual(yield* advised({ ...hashed(1), format: 2 }, 256_001), ["sharding"])
    assert.deepStrictEqual(yield* advised({ ...hashed(2), format: 2 }, 1_000_000), [])
    // Generated ids of one month share their leading characters.
    assert.deepStrictEqual(yield* advised({ shardDepth: 2 }, 2_000), ["sharding"])
    // Eight characters of a hash give each document a directory of its own, in one list.
    assert.deepStrictEqual(yield* advised({ shardBy: "hash", shardDepth: 1, shardWidth: 8 }, 2_000), [
      "sharding"
    ])
  })
)

it.effect("a collection as it is, with what to do in words", () =>
  Effect.gen(function* () {
    const store = yield* Store.make(derived)
    const people = store.collection("people")
    yield* people.importRecords(rows(2_100), { chunkSize: 2_100 })
    const estimated = yield* people.estimate()
    assert.deepStrictEqual(
      [estimated.documents, estimated.indexes, estimated.manifest, estimated.current.format],
      [2_100, 1, true, 1]
    )
    const [format, sharding] = estimated.advice
    assert.match(format!.reason, /index and manifest files of 2,100 documents whole/)
    assert.match(format!.hint, /reindex --format 2/)
    assert.match(sharding!.reason, /about 2,100 entries/)
    assert.match(sharding!.hint, /--shard-by hash --shard-depth 1/)
    // The doctor says the same, and what it recommends is enough.
    const found = (yield* store.doctorWith({ deep: false })).filter(({ code }) =>
      ["format", "sharding"].includes(code)
    )
    assert.deepStrictEqual(
      found.map(({ code, hint }) => [code, hint]),
      estimated.advice.map(({ hint, setting }) => [setting, hint])
    )
    yield* store.reindex({ format: 2 })
    assert.deepStrictEqual(
      (yield* people.estimate()).advice.map(({ setting }) => setting),
      ["sharding"]
    )
  }).pipe(Effect.provide(Memory.layer()))
)

/** The bytes of all objects, before compression. */
const objectBytes = (directory: string) =>
  execFileSync("git", ["cat-file", "--batch-all-objects", "--batch-check=%(objectsize)"], {
    cwd: directory,
    encoding: "utf8"
  })
    .split("\n")
    .reduce((sum, size) => sum + Number(size), 0)

describe("the cost of an insert is near what it takes", () => {
  const options = [
    ["without index, flat", {}],
    ["without index, by hash", { shardBy: "hash", shardDepth: 1 }],
    ["one file each", { ...derived, shardBy: "hash", shardDepth: 1 }],
    ["trees", { ...derived, shardBy: "hash", shardDepth: 1, format: 2 }]
  ] as const satisfies ReadonlyArray<readonly [string, StoreOptions]>

  it.scopedLive.each(options)("in bytes, %s", ([, given]) =>
    Effect.gen(function* () {
      const place = yield* directory
      const remote = yield* connect(LocalGit.layer({ directory: place, durability: "none" }))
      const store = yield* openIn(remote, given)
      const people = store.collection("people")
      yield* people.importRecords(rows(3_000), { chunkSize: 3_000 })
      const { current } = yield* people.estimate()
      const git = `${place}/local/store.git`
      const before = objectBytes(git)
      const inserts = 8
      yield* Effect.forEach(rows(inserts, 3_000), (row) => people.insert(row))
      const each = (objectBytes(git) - before) / inserts
      assert.isBelow(current.insert.bytes, each * 1.5)
      assert.isAbove(current.insert.bytes, each / 1.5)
    })
  )

  for (const [way, how] of ways) {
    it.scopedLive.each(options)(`in requests ${way}, %s`, ([, given]) =>
      Effect.gen(function* () {
        const { server } = yield* fresh()
        const store = yield* openIn(yield* remoteOf(server, how), given)
        const people = store.collection("people")
        yield* people.importRecords(rows(40))
        yield* people.insert(rows(1)[0]!)
        const { current } = yield* people.estimate({ documents: 41 })
        server.seen.length = 0
        yield* people.insert(rows(1)[0]!)
        assert.strictEqual(server.seen.length, current.insert.requests)
      })
    )
  }
})

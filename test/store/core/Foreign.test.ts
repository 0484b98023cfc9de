import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Option, Stream } from "effect"
import * as fc from "fast-check"
import { fieldMatches } from "../../../src/domain/json/JsonEquality.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { idsOf } from "../../support/documents.js"
import { isWhole } from "../../support/vitest/caseSelection.js"
import { type Repository, repositories } from "./Remotes.js"

const values = [
  0,
  -0,
  1,
  "1",
  null,
  true,
  [1, "1"],
  [],
  [[1]],
  { a: -0 },
  { a: 0 },
  [{ a: 0 }],
  "x",
  "𐀀",
  "\uffff",
  1e21,
  ["x", "x"]
] as const
const step = fc.record({
  kind: fc.nat(13),
  id: fc.constantFrom("a", "b", "ab", "constructor", "10", "9", "A", "toString"),
  value: fc.nat(values.length - 1),
  who: fc.nat(1)
})

const layouts: ReadonlyArray<StoreOptions> = [
  { indexes: { c: ["f", "constructor"] }, manifests: { c: ["f", "__proto__"] } },
  { indexes: { c: ["f"] }, manifests: ["c"], shardDepth: 2, shardWidth: 1, shardBy: "leading" },
  { indexes: { c: ["f"] }, manifests: { c: ["f"] }, shardDepth: 1, shardWidth: 2, shardBy: "hash", root: "" },
  {
    format: 2,
    indexes: { c: ["f", "constructor"] },
    manifests: { c: ["f", "__proto__"] },
    shardDepth: 1,
    shardBy: "hash"
  }
]

const run = (
  options: StoreOptions,
  repository: Repository,
  steps: ReadonlyArray<{ kind: number; id: string; value: number; who: number }>
) =>
  Effect.gen(function* () {
    const [indexFile, manifestFile] =
      options.format === 2
        ? ["_index/c/f/rows/0.json", "_manifest/c/_header.json"]
        : ["_index/c/f.json", "_manifest/c.json"]
    const client = yield* repository
    const open = (given: StoreOptions) =>
      Effect.flatMap(client, (remote) =>
        Effect.map(Effect.provideService(Store.make(given), GitRemote, remote), (store) => ({
          remote,
          store
        }))
      )
    const one = yield* open(options)
    yield* one.store.collection("c").insert({ f: 1 }, { id: "seed" })
    const two = yield* open(options.root === undefined ? {} : { root: options.root })
    const root = options.root ?? "data"
    const at = (p: string) => (root === "" ? p : `${root}/${p}`)
    const bytes = (text: string) => new TextEncoder().encode(text)
    let n = 0
    for (const { id, kind, value, who } of steps) {
      const { remote, store } = who === 0 ? one : two
      const c = store.collection("c")
      const f = values[value]!
      const head = Option.getOrThrow(yield* remote.head("main"))
      const raw = (changes: any) =>
        Effect.ignore(remote.commit("main", Option.some(head), { message: "by hand", changes }))
      const files = Option.match(yield* remote.tree(head, at("c"), { recursive: true }), {
        onNone: () => [],
        onSome: (t) => t.entries.filter((e) => e.kind === "blob")
      })
      const some = files[value % Math.max(1, files.length)]
      const write = (e: Effect.Effect<unknown, unknown>) => Effect.either(e)
      switch (kind) {
        case 0:
        case 1:
          yield* write(c.upsert(id, { f, n: n++ } as never))
          break
        case 2:
          yield* write(c.replace(id, { g: n++ }))
          break
        case 3:
          yield* write(c.delete(id))
          break
        case 4:
          yield* write(
            store.batch({}, (b) =>
              Effect.all([
                b.put("c", id, { f } as never),
                b.put("c", "zz", { constructor: f } as never),
                b.delete("c", id)
              ])
            )
          )
          break
        case 5:
          yield* write(
            store.transaction({}, (tx) =>
              Effect.all([
                tx.collection("c").upsert(id, { f } as never),
                tx.collection("c").upsert("t", { f } as never)
              ])
            )
          )
          break
        case 6:
          yield* write(store.revert(head.commit))
          break
        case 7:
          if (some) yield* raw([{ _tag: "Remove", path: at(`c/${some.path}`) }])
          break
        case 8:
          if (some) yield* raw([{ _tag: "Put", path: at(`c/${some.path}`), content: bytes("{nonsense") }])
          break
        case 9:
          if (some)
            yield* raw([
              {
                _tag: "Put",
                path: at(`c/${some.path}`),
                content: bytes(JSON.stringify({ f, __proto__x: 1 }))
              }
            ])
          break
        case 10:
          yield* raw([{ _tag: "Remove", path: at(indexFile) }])
          break
        case 11:
          yield* raw([
            {
              _tag: "Put",
              path: at(value % 2 ? manifestFile : indexFile),
              content: bytes("[]")
            }
          ])
          break
        case 12:
          yield* raw([{ _tag: "Put", path: at(`c/note.txt`), content: bytes(`${n++}`) }])
          break
        case 13:
          if (some && options.shardBy !== "hash")
            yield* raw([
              { _tag: "Remove", path: at(`c/${some.path}`) },
              {
                _tag: "Put",
                path: at(`c/${some.path.replace(/([^/]*)$/, "moved-$1")}`),
                content: bytes("{}")
              }
            ])
          break
      }
      // Index and scan give one answer, at any commit.
      for (const { store } of [one, two]) {
        const d = store.collection("c")
        const everything = Chunk.toReadonlyArray(yield* Stream.runCollect(d.all({ onInvalid: "skip" })))
        for (const query of [f, values[(value * 7 + 3) % values.length]!]) {
          const found = yield* d.findBy("f", query as never, { onInvalid: "skip" })
          assert.deepStrictEqual(
            idsOf(found),
            everything
              .filter((doc) => Object.hasOwn(doc, "f") && fieldMatches(doc["f"], query as never))
              .map(({ _id }) => _id),
            `${kind} ${JSON.stringify(query)}`
          )
        }
      }
    }
    yield* one.store.collection("c").upsert("last", { f: 1 })
    const before = yield* Effect.flatMap(one.remote.head("main"), (h) =>
      one.remote.tree(Option.getOrThrow(h), "", { recursive: true })
    )
    const again = yield* two.store.collection("c").reindex()
    const after = yield* Effect.flatMap(one.remote.head("main"), (h) =>
      one.remote.tree(Option.getOrThrow(h), "", { recursive: true })
    )
    assert.isTrue(Option.isNone(again), JSON.stringify([before, after]))
  })

const inMemory: Repository = Effect.sync(() => Memory.make({ repository: new Memory.MemoryRepository() }))

describe.each([
  ["Memory", inMemory, 13, 14] as const,
  ...repositories.map(
    ([name, repository], at) =>
      [name, repository, isWhole && at === 0 ? 5 : 1, isWhole && at === 0 ? 14 : 8] as const
  )
])("foreign commits on %s", (_name, repository, numRuns, maxLength) => {
  it.live("copies of a document in other shards are not documents", () =>
    Effect.gen(function* () {
      const remote = yield* Effect.flatten(repository)
      const store = yield* Effect.provideService(Store.make(layouts[2]!), GitRemote, remote)
      const c = store.collection("c")
      yield* c.insert({ f: 1 }, { id: "seed" })
      const head = Option.getOrThrow(yield* remote.head("main"))
      const content = new TextEncoder().encode(JSON.stringify({ f: 2 }))
      yield* remote.commit("main", Option.some(head), {
        message: "by hand",
        changes: ["00", "ff"].map((shard) => ({ _tag: "Put", path: `c/${shard}/seed.json`, content }))
      })
      yield* c.insert({ f: 3 })
      assert.strictEqual(yield* c.count, 2)
      assert.strictEqual((yield* c.findBy("f", 1)).length, 1)
      assert.strictEqual((yield* c.findBy("f", 2)).length, 0)
    })
  )

  for (const [n, layout] of layouts.entries()) {
    it(
      `layout ${n}`,
      () =>
        fc.assert(
          fc.asyncProperty(fc.array(step, { maxLength }), (steps) =>
            Effect.runPromise(run(layout, repository, steps))
          ),
          { numRuns }
        ),
      120_000
    )
  }
})

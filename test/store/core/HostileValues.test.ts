import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import { connect, hosted, openMemory, remotes } from "./Remotes.js"

const commitRaw = (remote: GitRemoteService, path: string, text: string) =>
  Effect.gen(function* () {
    const head = yield* remote.head("main")
    yield* remote.commit("main", head, {
      message: "by hand",
      changes: [{ _tag: "Put", path, content: new TextEncoder().encode(text) }]
    })
  })

describe.each([...remotes, ...hosted])("a file pushed by somebody else, on %s", (_name, layer) => {
  it.scopedLive("nested very deeply in an indexed field, does not stop writes of other documents", () =>
    Effect.gen(function* () {
      const remote = yield* connect(layer)
      const store = yield* Effect.provideService(Store.make({ indexes: { c: ["f"] } }), GitRemote, remote)
      const c = store.collection("c")
      yield* c.insert({ f: 1 }, { id: "a" })
      const depth = 100_000
      yield* commitRaw(remote, "data/c/deep.json", `{"f": ${"[".repeat(depth)}${"]".repeat(depth)}}`)
      const exit = yield* Effect.exit(c.insert({ f: 2 }, { id: "b" }))
      assert.strictEqual(exit._tag, "Success", String(exit).slice(0, 300))
      assert.deepStrictEqual((yield* c.findBy("f", 2)).length, 1)
    })
  )
  it.scopedLive(
    "nested deeply, or with a number beyond all bounds, in a listed field, does not stop them either",
    () =>
      Effect.gen(function* () {
        const wrong: Array<string> = []
        for (const value of [`${"[".repeat(898)}${"]".repeat(898)}`, "1e400"]) {
          const remote = yield* connect(layer)
          const store = yield* Effect.provideService(
            Store.make({ manifests: { c: ["f"] } }),
            GitRemote,
            remote
          )
          const c = store.collection("c")
          yield* c.insert({ f: 1 }, { id: "a" })
          yield* commitRaw(remote, "data/c/deep.json", `{"f": ${value}}`)
          const exit = yield* Effect.exit(c.insert({ f: 2 }, { id: "b" }))
          if (exit._tag !== "Success") wrong.push(`${value.slice(0, 10)}: ${String(exit).slice(0, 300)}`)
        }
        assert.deepStrictEqual(wrong, [])
      })
  )
})

describe.each([...remotes, ...hosted])("a document that a stranger broke, on %s", (_name, layer) => {
  it.scopedLive("keeps creation and revision when it is restored or its breaking is reverted", () =>
    Effect.gen(function* () {
      const remote = yield* connect(layer)
      const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
      const c = store.collection("c")
      yield* c.insert({ f: 1 }, { id: "a" })
      const first = Option.getOrThrow(yield* c.get("a"))
      yield* c.update("a", { f: 2 })
      yield* c.update("a", { f: 3 })
      const good = Option.getOrThrow(yield* remote.head("main")).commit
      yield* commitRaw(remote, "data/c/a.json", `{"f": oops`)
      const bad = Option.getOrThrow(yield* remote.head("main")).commit
      yield* Effect.sleep(10)
      yield* store.revert(bad)
      const reverted = Option.getOrThrow(yield* c.get("a"))
      yield* commitRaw(remote, "data/c/a.json", `{"f": oops`)
      const restored: any = yield* c.restore("a", good)
      assert.strictEqual(reverted._created_at, first._created_at)
      assert.isAbove(reverted._rev, 3)
      assert.strictEqual(restored._created_at, first._created_at)
    })
  )
})

describe("a caller that changes its own object while it is being written", () => {
  it.live("does not make index and document differ", () =>
    Effect.gen(function* () {
      const repository = new Memory.MemoryRepository()
      const store = yield* openMemory(
        repository,
        { indexes: { c: ["tags"] }, manifests: { c: ["tags"] } as any },
        {
          faults: { onRead: () => Effect.sleep(2) }
        }
      )
      const c = store.collection("c")
      yield* c.insert({ tags: ["x"] }, { id: "zero" })
      const bad: Array<string> = []
      for (let n = 0; n < 20; n++) {
        const mine = ["one"]
        const fiber = yield* Effect.fork(c.insert({ tags: mine }, { id: `a${n}` }))
        yield* Effect.sleep(n)
        mine[0] = "two"
        yield* fiber.await
        const stored: any = Option.getOrThrow(yield* c.get(`a${n}`))
        const found = (yield* c.findBy("tags", stored.tags[0])).map((d: any) => d._id)
        if (!found.includes(`a${n}`)) bad.push(`a${n}: holds ${stored.tags[0]}, and findBy does not find it`)
      }
      assert.deepStrictEqual(bad, [])
    }).pipe(Effect.scoped)
  )
})

describe("a document of 300,000 keys", () => {
  it.scopedLive("is written while timers keep firing", () =>
    Effect.gen(function* () {
      const remote = yield* connect(Memory.layer())
      const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
      const given = Object.fromEntries(
        Array.from({ length: 300_000 }, (_, n) => [`key${(n * 7_919) % 300_000}`, n])
      )
      let fired = 0
      const timer = setInterval(() => fired++, 1)
      yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(timer)))
      yield* store.collection("docs").insert(given, { id: "large" })
      assert.isAtLeast(fired, 10)
      const { _created_at, _id, _rev, _updated_at, ...stored } = Option.getOrThrow(
        yield* store.collection("docs").get("large")
      )
      const keys = Object.keys(stored)
      assert.isTrue(keys.every((key, at) => at === 0 || keys[at - 1]! < key))
      assert.strictEqual(keys.length, 300_000)
      assert.isTrue(keys.every((key) => stored[key] === given[key]))
    })
  )
})

import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { type Change, GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import { hosted } from "./Remotes.js"

const cases = [
  ...[1, 4, 8, 12, 20].map((megabytes) => ["Memory", Memory.layer(), megabytes] as const),
  ...hosted.flatMap(([name, remote]) => [0, 4].map((megabytes) => [name, remote, megabytes] as const))
]

for (const [name, layer, megabytes] of cases) {
  it.live(
    `a number that JavaScript cannot hold survives beside a text of ${megabytes} MB on ${name}`,
    () =>
      Effect.gen(function* () {
        const remote = yield* GitRemote
        const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
        const c = store.collection("c")
        yield* c.insert({ n: 1 }, { id: "other" })
        const head = yield* remote.head("main")
        const text = `{"big": 12345678901234567891, "text": "${"x".repeat(megabytes * 1_000_000)}"}`
        yield* remote.commit("main", head, {
          message: "by hand",
          changes: [{ _tag: "Put", path: "data/c/a.json", content: new TextEncoder().encode(text) }]
        })
        const got = yield* Effect.either(c.update("a", { n: 2 }))
        const now = Option.getOrThrow(yield* remote.head("main"))
        const file = Option.getOrThrow(yield* remote.file(now, "data/c/a.json"))
        const stored = new TextDecoder().decode(file.content.subarray(0, 400))
        assert.include(stored, "12345678901234567891", `${got._tag}: the number was changed silently`)
        assert.strictEqual(got._tag, "Left")
      }).pipe(Effect.provide(Layer.fresh(layer))),
    60_000
  )
}

const remotes = [["Memory", Memory.layer()] as const, ...hosted]

for (const [name, layer] of remotes) {
  it.live(`restore and revert refuse a number that JavaScript cannot represent, on ${name}`, () =>
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
      const c = store.collection("c")
      yield* c.insert({ n: 1 }, { id: "other" })
      const byHand = (change: Change) =>
        Effect.gen(function* () {
          const head = yield* remote.head("main")
          return yield* remote.commit("main", head, { message: "by hand", changes: [change] })
        })
      const path = "data/c/a.json"
      const content = new TextEncoder().encode('{"big": 12345678901234567891}\n')
      const written = yield* byHand({ _tag: "Put", path, content })
      const removed = yield* byHand({ _tag: "Remove", path })

      for (const attempt of [
        Effect.asVoid(c.restore("a", written.commit)),
        Effect.asVoid(store.revert(removed.commit))
      ]) {
        const error = yield* Effect.flip(attempt)
        assert.strictEqual(error._tag, "ValidationError")
        assert.include(error.message, "big")
      }
      assert.strictEqual(yield* c.exists("a"), false)
    }).pipe(Effect.provide(Layer.fresh(layer)))
  )
}

/**
 * A service over `Store` in vitest: each group of tests provides another layer. A production program would provide
 * `GitHub.layer`; here it is a repository in memory, one on disk, and one that rejects writes.
 *
 * `npx vitest run examples/swap-layers.test.ts`
 */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { LocalGit } from "chainstore/local"
import { Memory, RemoteError, Store } from "chainstore/store"
import { Effect, Layer, Schema, Stream } from "effect"

const Entry = Schema.Struct({ name: Schema.String })

class Guestbook extends Effect.Service<Guestbook>()("example/Guestbook", {
  effect: Effect.map(Store, (store) => {
    const entries = store.collection("entries", Entry)
    return {
      sign: (name: string) => entries.insert({ name }),
      names: Effect.map(Stream.runCollect(entries.all()), (all) => Array.from(all, ({ name }) => name))
    }
  })
}) {}

const onRemote = Guestbook.Default.pipe(Layer.provide(Store.layer()))

const onDisk = Layer.unwrapScoped(
  Effect.map(
    Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()),
    (directory) => LocalGit.layer({ directory })
  )
).pipe(Layer.provide(NodeContext.layer))

const broken = Memory.layer({
  faults: {
    onWrite: () =>
      Effect.fail(new RemoteError({ operation: "commit", reason: "Denied", message: "the disk is full" }))
  }
})

for (const [name, remote] of [
  ["memory", Memory.layer()],
  ["disk", onDisk]
] as const)
  layer(Layer.provide(onRemote, remote))(`a guestbook on a repository in ${name}`, (it) => {
    it.effect("has the names of those who signed", () =>
      Effect.gen(function* () {
        const guestbook = yield* Guestbook
        yield* guestbook.sign("Ada")
        yield* guestbook.sign("Bob")
        assert.sameMembers(yield* guestbook.names, ["Ada", "Bob"])
      })
    )
  })

layer(Layer.provide(onRemote, broken))("a guestbook on a disk that is full", (it) => {
  it.effect("says so, and stays as it was", () =>
    Effect.gen(function* () {
      const guestbook = yield* Guestbook
      const error = yield* Effect.flip(guestbook.sign("Ada"))
      assert.strictEqual(error._tag, "RemoteError")
      assert.include(error.message, "the disk is full")
      assert.deepStrictEqual(yield* guestbook.names, [])
    })
  )
})

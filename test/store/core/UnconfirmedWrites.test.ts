import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { settingsFileName } from "../../../src/domain/settings/Settings.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../src/store/Store.js"
import { directory, hosted, remotes } from "./Remotes.js"

describe("what an error says of a write", () => {
  it.scopedLive("a transaction is not acknowledged if the disk does not confirm its publication", () =>
    Effect.gen(function* () {
      const root = yield* directory
      const remote = yield* LocalGit.scoped({ directory: root, repo: "o/r", maintenance: false })
      const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
      const c = store.collection("c")
      yield* c.insert({ n: 1 }, { id: "a" })
      const real = fs.fsync
      let failed = 0
      const got = yield* Effect.either(
        store.transaction({}, (tx) =>
          Effect.gen(function* () {
            yield* tx.collection("c").update("a", { n: 2 })
            ;(fs as any).fsync = (fd: number, done: any) => {
              if (!fs.fstatSync(fd).isDirectory()) return real(fd, done)
              failed++
              return done(Object.assign(new Error("EIO: i/o error, fsync"), { code: "EIO" }))
            }
            syncBuiltinESMExports()
          })
        )
      )
      fs.fsync = real
      syncBuiltinESMExports()
      assert.isAbove(failed, 0)
      assert.strictEqual(got._tag, "Left", "acknowledged, though no fsync of the ref's directory succeeded")
    })
  )
  for (const [name, layer] of [...remotes, ...hosted])
    it.live(`an error of one write does not carry what another writer said, on ${name}`, () =>
      Effect.gen(function* () {
        const remote = yield* GitRemote
        const store = yield* Effect.provideService(Store.make({ shardDepth: 0 }), GitRemote, remote)
        yield* store.collection("c").insert({ n: 1 }, { id: "a" })
        const head = yield* remote.head("main")
        yield* remote.commit("main", head, {
          message: "by hand",
          changes: [
            {
              _tag: "Put",
              path: `data/${settingsFileName}`,
              content: new TextEncoder().encode('{"format":1,"shardDepth":1}')
            }
          ]
        })
        yield* Effect.exit(store.writer({}, (w) => w.put("c", "mine", { n: 1 })))
        const error: any = yield* Effect.flip(store.collection("c").insert({ n: 1 }, { id: "other" }))
        assert.notInclude(error.hint, "mine")
      }).pipe(Effect.provide(Layer.fresh(layer)))
    )
})

import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import * as HostLayer from "../../../src/http/host/HostLayer.js"
import { mounts } from "../../../src/http/host/HostMounts.js"

it.scopedLive("a response is not overdue while the request's body may still arrive", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped()
    const host = HostLayer.layer({ atRoot: true, createOnFirstUse: false, demo: false, directory }).pipe(
      Layer.provide(HostLayer.layerRepositories(directory, { durability: "none", maintenance: false }))
    )
    const all = yield* Effect.provide(mounts({ atRoot: true }), host)
    assert.strictEqual(all.length, 3)
    for (const { body, name, timeout } of all)
      assert.isAbove(Duration.toMillis(timeout!), body!.timeoutMillis!, name)
  }).pipe(Effect.provide(NodeContext.layer))
)

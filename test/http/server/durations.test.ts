import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { HttpServerResponse } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Layer, Option } from "effect"
import { Sessions } from "../../../src/http/console/Sessions.js"
import * as HostLayer from "../../../src/http/host/HostLayer.js"
import * as Faults from "../../../src/http/host/repository/Faults.js"
import * as Mount from "../../../src/http/server/Mount.js"

const directory = mkdtempSync(join(tmpdir(), "durations-"))
const bare = 30 as never

const host = (options: Partial<HostLayer.StandaloneOptions>) =>
  HostLayer.layer({ directory, atRoot: false, createOnFirstUse: false, demo: false, ...options }).pipe(
    Layer.provide(HostLayer.layerRepositories(directory))
  )

const layers = {
  "Host: bodyIdle": host({ bodyIdle: bare }),
  "Host: bodyTime": host({ bodyTime: bare }),
  "Host: connectionIdle": host({ connectionIdle: bare }),
  "Faults.layerFile: every": Faults.layerFile(join(directory, "faults.json"), bare),
  "Sessions: idle": Sessions.Default({ idle: bare, absolute: "1 day", maximum: 1 }),
  "Sessions: absolute": Sessions.Default({ idle: "1 day", absolute: bare, maximum: 1 }),
  "Mount: timeout": Layer.effectDiscard(
    Mount.make({ name: "a", paths: ["/"], timeout: bare }, Effect.succeed(HttpServerResponse.empty()))
  )
}

it.live("a duration without its unit is refused by name", () =>
  Effect.forEach(Object.entries(layers), ([name, layer]) =>
    Effect.gen(function* () {
      const built = Layer.build(layer as Layer.Layer<unknown, unknown, NodeContext.NodeContext>)
      const cause = yield* Effect.flip(
        Effect.sandbox(Effect.scoped(Effect.provide(built, NodeContext.layer)))
      )
      const defect = Option.getOrThrow(Cause.dieOption(cause))
      assert.instanceOf(defect, TypeError)
      assert.include((defect as TypeError).message, `${name} must be a duration with its unit`)
    })
  )
)

import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Server } from "chainstore/http"
import { Effect, Either, Layer } from "effect"
import { running } from "./RunningServer.js"

it.scopedLive("says on which address it cannot listen, and why", () =>
  Effect.gen(function* () {
    const { port } = yield* running()
    const taken = yield* Effect.either(running({ listen: [{ port, host: "127.0.0.1" }] }))
    assert.isTrue(Either.isLeft(taken))
    if (Either.isRight(taken)) return
    assert.instanceOf(taken.left, Error)
    assert.include((taken.left as Error).message, `127.0.0.1:${port}`)
    assert.include((taken.left as Error).message, "in use")
  })
)

it.scopedLive("takes no file away that is not the socket of a process that is gone", () =>
  Effect.gen(function* () {
    const directory = mkdtempSync(join(tmpdir(), "listen-"))
    const listening = (socket: string) =>
      Effect.either(
        Layer.build(
          Server.layer(
            { ...Server.defaults, listen: [{ socket }] },
            Effect.succeed({ operations: new Map(), mounts: [] })
          )
        )
      )
    const file = join(directory, "precious")
    writeFileSync(file, "mine")
    const onFile = yield* listening(file)
    assert.strictEqual(readFileSync(file, "utf8"), "mine")
    assert.include(Either.isLeft(onFile) ? onFile.left.message : "", file)
    const socket = join(directory, "socket")
    assert.isTrue(Either.isRight(yield* listening(socket)))
    assert.isTrue(Either.isLeft(yield* listening(socket)))
    assert.isTrue(existsSync(socket))
  })
)

import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { GitRemote } from "../../../src/store/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { settle, virtual } from "../../support/github/Virtual.js"

describe("a head remembered from before another client's commit", () => {
  it.scoped("refuses nothing, even where no retry is allowed", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      const bytes = (text: string) => new TextEncoder().encode(text)
      server.host.commit("main", [{ _tag: "Put", path: "data/notes/a.json", content: bytes("{}") }], "base")
      const work = Effect.gen(function* () {
        const options = { batchRetries: 0, conflictRetries: 0 }
        const store = yield* Effect.provideService(Store.make(options), GitRemote, remote)
        const put = (id: string, n: number) =>
          store.batch({}, (batch) =>
            Effect.zipRight(batch.put("notes", id, { n }), batch.put("notes", "both", { n }))
          )
        yield* put("b", 1)
        server.host.commit(
          "main",
          [{ _tag: "Put", path: "data/notes/b.json", content: bytes("{}") }],
          "theirs"
        )
        yield* put("b", 2)
        server.host.commit(
          "main",
          [{ _tag: "Put", path: "data/notes/b.json", content: bytes('{"n":9}') }],
          "theirs"
        )
        yield* store.writer({}, (writer) =>
          Effect.zipRight(writer.put("notes", "b", { n: 3 }), writer.put("notes", "both", { n: 3 }))
        )
      })
      const { result } = yield* settle(flight, work)
      assert.isTrue(Either.isRight(result), JSON.stringify(result))
    })
  )
})

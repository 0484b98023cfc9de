import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import { settle, virtual } from "../../../support/github/Virtual.js"

describe("an index edited by hand", () => {
  it.scoped("sends no request anywhere else", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
      server.commit(
        "main",
        [
          { _tag: "Put", path: "data/notes/a.json", content: text({ f: 1 }) },
          {
            _tag: "Put",
            path: "data/_index/notes/f.json",
            content: text({ values: { "1": ["a", "../../../../../../../user", "x/y"] } })
          }
        ],
        "base"
      )
      const work = Effect.gen(function* () {
        const store = yield* Effect.provideService(
          Store.make({ trustForeignIndexes: true }),
          GitRemote,
          remote
        )
        return yield* store.collection("notes").findBy("f", 1)
      })
      yield* settle(flight, work)
      assert.isTrue(server.seen.every((seen) => seen.url.startsWith("/repos/")))
    })
  )
})

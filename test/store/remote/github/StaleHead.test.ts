import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import { replying, verbs } from "../../../support/github/InProcess.js"
import { settle, virtual } from "../../../support/github/Virtual.js"

describe("a head remembered from before another client's commit", () => {
  it.scoped("refuses nothing, even where no retry is allowed", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      const bytes = (text: string) => new TextEncoder().encode(text)
      server.commit("main", [{ _tag: "Put", path: "data/notes/a.json", content: bytes("{}") }], "base")
      const work = Effect.gen(function* () {
        const options = { batchRetries: 0, conflictRetries: 0 }
        const store = yield* Effect.provideService(Store.make(options), GitRemote, remote)
        const put = (id: string, n: number) =>
          store.batch({}, (batch) =>
            Effect.zipRight(batch.put("notes", id, { n }), batch.put("notes", "both", { n }))
          )
        yield* put("b", 1)
        server.commit("main", [{ _tag: "Put", path: "data/notes/b.json", content: bytes("{}") }], "theirs")
        yield* put("b", 2)
        server.commit(
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

  for (const options of [{}, { useGraphql: true, commitVia: "graphql" }] as const) {
    it.scoped(`costs one look where the branch is, with ${JSON.stringify(options)}`, () =>
      Effect.gen(function* () {
        const { flight, remote, server } = yield* virtual(options)
        const bytes = (text: string) => new TextEncoder().encode(text)
        const theirs = (n: number) =>
          server.commit("main", [{ _tag: "Put", path: "data/theirs/a.json", content: bytes(`{"n":${n}}`) }])
        theirs(0)
        const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
        const put = (n: number) =>
          store.batch({}, (batch) =>
            Effect.zipRight(batch.put("notes", "a", { n }), batch.put("notes", "b", { n }))
          )
        yield* settle(flight, put(1))
        theirs(1)
        server.seen.length = 0
        const { result } = yield* settle(flight, put(2))
        assert.isTrue(Either.isRight(result), JSON.stringify(result))
        const looks = verbs(server).filter((verb) => verb.startsWith("GET /branches/"))
        assert.deepStrictEqual(looks, ["GET /branches/main"], verbs(server).join("\n"))
        assert.deepStrictEqual(server.problems, [])
      })
    )
  }
})

describe("a commit by GraphQL that is refused as if there were no such branch", () => {
  const graphql = { useGraphql: true, commitVia: "graphql" } as const
  const content = new TextEncoder().encode("{}")
  const world = (refusals: number) =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual(graphql)
      server.commit("main", [{ _tag: "Put", path: "data/notes/a.json", content }], "base")
      let met = 0
      server.fault = ({ body }) =>
        body.includes('"mutation ') && met++ < refusals
          ? replying({
              status: 200,
              body: { data: null, errors: [{ type: "NOT_FOUND", message: "Could not resolve it." }] }
            })
          : undefined
      const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
      const put = store.batch({}, (batch) =>
        Effect.zipRight(batch.put("notes", "a", { n: 1 }), batch.put("notes", "b", { n: 1 }))
      )
      return yield* settle(flight, put)
    })

  it.scoped("is tried again while that may be a machine behind the others, and is no lost race then", () =>
    Effect.gen(function* () {
      const { result, took } = yield* world(Number.POSITIVE_INFINITY)
      assert.isTrue(Either.isLeft(result))
      if (Either.isLeft(result)) assert.strictEqual(result.left._tag, "NotFoundError")
      assert.isBelow(took, 26_000)
      assert.isTrue(Either.isRight((yield* world(3)).result))
    })
  )
})

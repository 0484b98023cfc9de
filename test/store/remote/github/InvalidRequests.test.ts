import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option, Redacted, Stream } from "effect"
import type { FileVersion } from "../../../../src/store/remote/GitRemote.js"
import { settle, virtual } from "../../../support/github/VirtualTime.js"

const put = { _tag: "Put", path: "data/a.json", content: new TextEncoder().encode("1") } as const

describe("what cannot be sent", () => {
  it.scoped("a token that no header can carry is refused before a transport quotes it", () =>
    Effect.gen(function* () {
      const { connect, flight, server } = yield* virtual({ maxRetries: 0 })
      server.commit("main", [put])
      for (const bad of ["ghp_secret\nx", "ghp_secret”", "ghp_secret\0", ""]) {
        const refused = yield* Effect.flip(connect({ token: Redacted.make(bad) }))
        const auth = Effect.succeed({ header: Redacted.make(`Bearer ${bad === "" ? "\n" : bad}`) })
        const remote = yield* connect({ token: undefined, auth })
        const failed = Option.getOrThrow(Either.getLeft((yield* settle(flight, remote.head("main"))).result))
        assert.deepStrictEqual([refused._tag, failed._tag], ["ValidationError", "AuthError"])
        assert.notInclude(inspect([refused, failed], { depth: 9 }), "ghp_secret")
      }
      assert.strictEqual(server.seen.length, 0)
      const pasted = yield* connect({ token: Redacted.make("ghp_a-token-that-must-not-leak\n") })
      assert.isTrue(Either.isRight((yield* settle(flight, pasted.head("main"))).result))
    })
  )

  it.scoped("names with half a character or with dots for segments lead nowhere", () =>
    Effect.gen(function* () {
      const { connect, flight, remote, server } = yield* virtual({ maxRetries: 0 })
      const reader = yield* connect({ readOnly: true, pinRef: false })
      server.commit("main", [put])
      for (const name of ["\ud800", "..", "../../../user", "a/./b"]) {
        const asked: Record<string, Effect.Effect<unknown, { readonly _tag: string }>> = {
          head: Effect.suspend(() => remote.head(name)),
          file: Effect.suspend(() => remote.snapshot("main").file(name)),
          branch: Effect.suspend(() => remote.snapshot(name).file("data/a.json")),
          raw: Effect.suspend(() => reader.snapshot("main").file(name)),
          refs: Effect.suspend(() => remote.listBranches(name))
        }
        for (const [how, effect] of Object.entries(asked)) {
          const { result } = yield* settle(flight, effect)
          const told = Either.isLeft(result) ? result.left._tag : "absent"
          assert.strictEqual(told, "ValidationError", `${how} ${JSON.stringify(name)}`)
        }
        const resolved = yield* settle(
          flight,
          Effect.suspend(() => remote.resolve(name))
        )
        assert.isTrue(Option.isNone(Either.getOrThrow(resolved.result)))
      }
      assert.isEmpty(server.seen)
    })
  )

  it.scoped("a branch whose name ends like an endpoint is sent as one segment", () =>
    Effect.gen(function* () {
      const { connect, flight, server } = yield* virtual({ maxRetries: 0 })
      server.commit("feature/status", [put])
      const remote = yield* connect()
      yield* settle(flight, remote.head("feature/status"))
      yield* settle(flight, remote.resolve("feature/status~1"))
      const named = server.seen.map(({ url }) => url).filter((path) => path.includes("status"))
      assert.include(named.join("\n"), "/branches/feature%2Fstatus")
      assert.include(named.join("\n"), "/commits/feature%2Fstatus")
    })
  )
})

describe("what is asked for once", () => {
  it.scoped("readers that begin at once read one commit, and an absent branch is asked for again", () =>
    Effect.gen(function* () {
      const { connect, flight, server } = yield* virtual()
      const remote = yield* connect({ readOnly: true })
      server.commit("other", [put])
      const absent = yield* settle(flight, remote.head("main"))
      assert.isTrue(Option.isNone(Either.getOrThrow(absent.result)))
      server.commit("main", [put], "1")
      let arrived = 0
      server.arrives = () => {
        if (++arrived < 2) return undefined
        // The second is answered after the branch has moved.
        return new Promise<void>((done) => setTimeout(done, 20)).then(() => {
          server.commit("main", [{ ...put, path: "b" }], "2")
        })
      }
      const both = Effect.all([remote.head("main"), remote.head("main")], { concurrency: 2 })
      const [one, two] = Either.getOrThrow((yield* settle(flight, both)).result)
      assert.strictEqual(arrived, 2)
      assert.deepStrictEqual(one, two)
    })
  )

  it.scoped("raw files have validators that no authorization changes, and ask for none", () =>
    Effect.gen(function* () {
      const { connect, flight, server } = yield* virtual()
      server.commit("main", [put])
      const remote = yield* connect({ readOnly: true, pinRef: false, token: undefined, auth: Effect.never })
      const read = (known?: FileVersion) =>
        Effect.map(
          settle(flight, remote.snapshot("main").file(put.path, { cached: Option.fromNullable(known) })),
          ({ result }) => Option.getOrThrow(Either.getOrThrow(result))
        )
      const first = yield* read()
      yield* read(first)
      assert.isUndefined(server.seen[0]?.headers["if-none-match"])
      assert.isDefined(server.seen[1]?.headers["if-none-match"])
    })
  )

  it.scoped("the history of a commit that was seen is there, whatever one machine says", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      server.commit("main", [{ ...put, path: "x" }], "base")
      const head = Either.getOrThrow((yield* settle(flight, remote.head("main"))).result)
      server.snapshot()
      const write = remote.commit("main", head, { message: "m", changes: [put] })
      const made = Either.getOrThrow((yield* settle(flight, write)).result)
      server.lagging = true
      const caughtUp = Effect.zipRight(
        Effect.sleep("8 seconds"),
        Effect.sync(() => {
          server.lagging = false
        })
      )
      yield* Effect.fork(caughtUp)
      const { result } = yield* settle(flight, Stream.runCollect(remote.log(made, put.path)))
      assert.strictEqual([...Either.getOrThrow(result)].length, 1)
    })
  )
})

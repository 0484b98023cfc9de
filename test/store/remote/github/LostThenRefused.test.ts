import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option, Redacted, TestClock } from "effect"
import { AuthError } from "../../../../src/domain/errors/StoreError.js"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import * as GitObject from "../../../../src/git/GitObject.js"
import type { GitHubOptions } from "../../../../src/store/remote/github/GitHub.js"
import type { Reply } from "../../../support/github/InProcess.js"
import { replying, setStale, staleness } from "../../../support/github/InProcess.js"
import { token } from "../../../support/github/Remote.js"
import { settle, virtual } from "../../../support/github/VirtualTime.js"
import { putFile } from "../../../support/singleFile.js"

const bytes = (text: string) => new TextEncoder().encode(text)
const put = { _tag: "Put", path: "data/a.json", content: bytes("new") } as const
const base = [
  { ...put, path: "data/b.json" },
  { ...put, path: "data/c.json" }
]

const refusals: ReadonlyArray<readonly [string, Reply | "no authorization"]> = [
  ["not found", { status: 404, body: { message: "Not Found" } }],
  [
    "a limit",
    {
      status: 403,
      body: { message: "You have exceeded a secondary rate limit" },
      headers: { "retry-after": "600" }
    }
  ],
  ["no authorization", "no authorization"]
]

const isWrite = ({
  body,
  method,
  url
}: {
  readonly body: string
  readonly method: string
  readonly url: string
}) =>
  url === "/graphql"
    ? body.includes('"mutation ')
    : method === "PUT" || method === "PATCH" || (method === "POST" && url.endsWith("/git/refs"))

/** A client whose write takes effect, whose reply is lost, and whose repetition is refused in a way that tells nothing. */
const world = (refusal: Reply | "no authorization", options: Partial<GitHubOptions> = {}) =>
  Effect.gen(function* () {
    const { connect, flight, server } = yield* virtual()
    server.commit("main", base, "base")
    let down = false
    const auth = Effect.suspend(() => {
      if (!down) return Effect.succeed({ header: Redacted.make(`Bearer ${token}`), expiresAt: new Date(0) })
      down = false
      return Effect.fail(new AuthError({ operation: "auth", message: "out of order" }))
    })
    const remote = yield* connect({ ...options, token: undefined, auth })
    const head = Either.getOrThrow((yield* settle(flight, remote.head("main"))).result)
    let writes = 0
    const lose = () => {
      server.fault = (seen) => {
        if (!isWrite(seen)) return undefined
        if (++writes === 1) {
          down = refusal === "no authorization"
          return { _tag: "Reset", when: "after" }
        }
        return refusal === "no authorization" ? undefined : replying(refusal)
      }
    }
    return { flight, head, lose, remote, server }
  })

describe("a write with a lost reply and a refused repetition", () => {
  for (const [name, refusal] of refusals) {
    const happened = <A, E extends { readonly _tag: string }>(result: Either.Either<A, E>) => {
      const told = Either.isRight(result) ? "success" : result.left._tag
      assert.include(["success", "AmbiguousWriteError"], told, "it happened: nothing else is true")
    }

    if (name !== "a limit")
      it.scoped(`${name}: one file`, () =>
        Effect.gen(function* () {
          const { flight, lose, remote, server } = yield* world(refusal)
          lose()
          const { result } = yield* settle(
            flight,
            putFile(remote, "main", put.path, put.content, Option.none(), {
              message: "m"
            })
          )
          happened(result)
          assert.deepStrictEqual(server.history(), ["m", "base"])
        })
      )

    if (refusal !== "no authorization") {
      it.scoped(`${name}: a commit`, () =>
        Effect.gen(function* () {
          const { flight, head, lose, remote, server } = yield* world(refusal)
          // What machines tell that have not heard of it: nothing has happened.
          server.snapshot("refs")
          server.lagging = true
          lose()
          const write = remote.commit("main", head, { message: "m", changes: [put] })
          const caughtUp = Effect.zipRight(
            Effect.sleep("100 millis"),
            Effect.sync(() => {
              server.lagging = false
            })
          )
          const { result } = yield* settle(flight, Effect.zipLeft(write, caughtUp, { concurrent: true }))
          happened(result)
          assert.deepStrictEqual(server.history(), ["m", "base"])
        })
      )
    }

    it.scoped(`${name}: a branch`, () =>
      Effect.gen(function* () {
        const { flight, head, lose, remote, server } = yield* world(refusal)
        lose()
        const { result } = yield* settle(flight, remote.createBranch("work", Option.getOrThrow(head).commit))
        happened(result)
        assert.deepStrictEqual(server.history("work"), ["base"])
      })
    )

    if (name === "a limit")
      it.scoped(`${name}: branches together`, () =>
        Effect.gen(function* () {
          const { flight, head, lose, remote, server } = yield* world(refusal, { commitVia: "graphql" })
          const from = Option.map(head, ({ commit }) => commit)
          server.setRef("refs/heads/work", Option.getOrThrow(from))
          const next = server.commit("work", base, "work")
          server.snapshot("refs")
          server.lagging = true
          lose()
          const moves = remote.moveBranches!([
            { branch: "main", from, to: Option.some(next) },
            { branch: "work", from: Option.some(next), to: Option.none() }
          ])
          const caughtUp = Effect.zipRight(
            Effect.sleep("100 millis"),
            Effect.sync(() => {
              server.lagging = false
            })
          )
          const { result } = yield* settle(flight, Effect.zipLeft(moves, caughtUp, { concurrent: true }))
          happened(result)
          assert.deepStrictEqual(server.history(), ["work", "base"])
        })
      )
  }
})

describe("a commit by GraphQL", () => {
  it.scoped("with a lost reply and an unauthorized repetition is found, or not reported as refused", () =>
    Effect.gen(function* () {
      const { connect, flight, server } = yield* virtual()
      server.commit("main", base, "base")
      let down = false
      const auth = Effect.suspend(() =>
        down
          ? Effect.fail(new AuthError({ operation: "auth", message: "out of order" }))
          : Effect.succeed({ header: Redacted.make(`Bearer ${token}`), expiresAt: new Date(0) })
      )
      const remote = yield* connect({ commitVia: "graphql", token: undefined, auth })
      const head = Either.getOrThrow((yield* settle(flight, remote.head("main"))).result)
      // What machines tell that have not heard of the commit: nothing has happened, so it is sent again.
      server.snapshot("refs")
      server.lagging = true
      let lost = false
      server.fault = ({ body, method }) => {
        if (body.includes('"mutation ')) {
          lost = true
          return { _tag: "Reset", when: "after" }
        }
        down = lost && method === "GET"
        return undefined
      }
      const write = remote.commit("main", head, { message: "m", changes: [put] })
      const { result } = yield* settle(flight, write)
      assert.isTrue(down, "the repetition was refused")
      assert.strictEqual(Option.getOrThrow(Either.getLeft(result))._tag, "AmbiguousWriteError")
      assert.deepStrictEqual(server.history(), ["m", "base"])
    })
  )

  it.scoped("that is returned with an error has happened", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual({ commitVia: "graphql" })
      server.commit("main", base, "base")
      const head = Either.getOrThrow((yield* settle(flight, remote.head("main"))).result)
      let made: Oid | undefined
      server.fault = ({ body }) => {
        if (made !== undefined || !body.includes("createCommitOnBranch")) return undefined
        made = server.commit("main", [put], "m")
        const commit = { oid: made, tree: { oid: server.id("main^{tree}") }, repository: null }
        const message = "Resource not accessible by integration"
        const path = ["createCommitOnBranch", "commit", "repository"]
        const reply = {
          status: 200,
          body: { data: { createCommitOnBranch: { commit } }, errors: [{ type: "FORBIDDEN", path, message }] }
        }
        return replying(reply)
      }
      const { result } = yield* settle(flight, remote.commit("main", head, { message: "m", changes: [put] }))
      assert.strictEqual(Either.getOrThrow(result).commit, made)
      assert.deepStrictEqual(server.history(), ["m", "base"])
    })
  )
})

describe("the message of a commit by GraphQL", () => {
  it.scoped("is the one that was given, whatever ends its lines", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual({ commitVia: "graphql" })
      server.commit("main", base, "base")
      for (const [given, made] of [
        ["one", "one"],
        ["one\r\n\r\nmore\r\nand more", "one\n\nmore\r\nand more"],
        ["one\n\n\nmore", "one\n\nmore"]
      ] as const) {
        const head = Either.getOrThrow((yield* settle(flight, remote.head("main"))).result)
        const changes = [{ ...put, content: bytes(given) }]
        yield* settle(flight, remote.commit("main", head, { message: given, changes }))
        assert.strictEqual(server.history()[0], made)
      }
    })
  )
})

describe("an update that a proxy sends twice, of a file with many versions", () => {
  it.scoped("was done, where a machine shows for a while what was there before the expected version", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      const version = (n: number) => ({ ...put, content: bytes(`${n}`) })
      for (let n = 0; n < 8; n++) server.commit("main", [version(n)], `version ${n}`)
      server.snapshot()
      server.commit("main", [version(8)], "version 8")
      server.lagging = true
      yield* Effect.fork(
        Effect.zipRight(
          Effect.sleep(1_000),
          Effect.sync(() => {
            server.lagging = false
          })
        )
      )
      server.fault = ({ method }) => (method === "PUT" ? { _tag: "Twice" } : undefined)
      const expected = Option.some(GitObject.hash("blob", bytes("8")))
      const write = putFile(remote, "main", put.path, put.content, expected, { message: "ours" })
      const { result } = yield* settle(flight, write)
      assert.isTrue(Either.isRight(result), JSON.stringify(result))
      assert.deepStrictEqual(server.history().slice(0, 2), ["ours", "version 8"])
    })
  )
})

describe("an update of a path that has vanished", () => {
  const before = bytes("old")
  const vanished = Effect.gen(function* () {
    const one = yield* virtual()
    one.server.commit("main", [{ ...put, content: before }, ...base], "base")
    one.server.commit("main", [{ _tag: "Remove", path: put.path }], "deleted")
    const expected = Option.some(GitObject.hash("blob", before))
    return { ...one, write: putFile(one.remote, "main", put.path, put.content, expected, { message: "m" }) }
  })
  const story = [`Remove ${put.path} again: it was deleted before this update`, "m", "deleted", "base"]

  for (const [seconds, tag] of [
    [0, "ConflictError"],
    [30, "ConflictError"],
    [120, "AmbiguousWriteError"]
  ] as const) {
    it.scoped(`ends in ${tag} where taking it back has to wait ${seconds} seconds`, () =>
      Effect.gen(function* () {
        const { flight, remote, server, write } = yield* vanished
        let removals = 0
        server.fault = ({ method }) =>
          method === "DELETE" && removals++ === 0 && seconds > 0
            ? replying({
                status: 403,
                body: { message: "You have exceeded a secondary rate limit" },
                headers: { "retry-after": String(seconds) }
              })
            : undefined
        const { result } = yield* settle(flight, write)
        const error = Option.getOrThrow(Either.getLeft(result))
        assert.strictEqual(error._tag, tag)
        if (error._tag !== "AmbiguousWriteError") {
          assert.deepStrictEqual(server.history(), story)
          const { result: read } = yield* settle(flight, remote.snapshot("main").file(put.path))
          assert.isTrue(Option.isNone(Either.getOrThrow(read)))
          return
        }
        assert.deepStrictEqual(server.history(), story.slice(1))
        assert.include(error.message, `created it again in commit ${server.head("main")}`)
        assert.include(error.message, "rate limit")
        assert.include(error.hint ?? "", `delete ${put.path}`)
      })
    )
  }

  it.scoped("was done where the first delivery of it came before the deletion", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      server.commit("main", [{ ...put, content: before }, ...base], "base")
      let writes = 0
      server.fault = ({ method }) => {
        if (method !== "PUT") return undefined
        if (++writes === 1) return { _tag: "Reset", when: "after" }
        server.commit("main", [{ _tag: "Remove", path: put.path }], "deleted")
        return undefined
      }
      const expected = Option.some(GitObject.hash("blob", before))
      const write = putFile(remote, "main", put.path, put.content, expected, {
        message: "m"
      })
      const { result } = yield* settle(flight, write)
      assert.isTrue(Either.isRight(result), JSON.stringify(result))
      assert.deepStrictEqual(server.history(), [story[0]!, "m", "deleted", "m", "base"])
      assert.isUndefined(server.show(put.path))
    })
  )

  it.scoped("is taken back also where its reply was lost", () =>
    Effect.gen(function* () {
      const { flight, server, write } = yield* vanished
      let first = true
      server.fault = ({ method }) => {
        if (method !== "PUT" || !first) return undefined
        first = false
        return { _tag: "Reset", when: "after" }
      }
      const { result } = yield* settle(flight, write)
      assert.strictEqual(Option.getOrThrow(Either.getLeft(result))._tag, "ConflictError")
      assert.deepStrictEqual(server.history(), story)
    })
  )

  /** The machines answer as it was a moment ago, when the file was gone already. */
  const behind = (flight: { now: number }) =>
    Effect.gen(function* () {
      staleness.now = () => flight.now
      yield* Effect.addFinalizer(() => setStale(0))
      yield* setStale(0.3)
      flight.now += 10_000
      yield* TestClock.setTime(flight.now)
    })

  it.scoped("leaves no machine believed that is still at the deletion", () =>
    Effect.gen(function* () {
      const { flight, remote, server, write } = yield* vanished
      yield* behind(flight)
      yield* settle(flight, write)
      const { result: made } = yield* settle(
        flight,
        putFile(remote, "main", put.path, put.content, Option.none(), { message: "made anew" })
      )
      assert.isTrue(Either.isRight(made), JSON.stringify(made))
      assert.deepStrictEqual(server.history(), ["made anew", ...story])
      const { result: head } = yield* settle(flight, remote.head("main"))
      assert.deepStrictEqual(
        Option.map(Either.getOrThrow(head), ({ commit }) => commit),
        Option.some(server.head("main"))
      )
    })
  )

  it.scoped("is taken back where a proxy sent it twice and a machine shows the deletion", () =>
    Effect.gen(function* () {
      const { flight, server, write } = yield* vanished
      yield* behind(flight)
      let puts = 0
      server.fault = ({ method }) => (method === "PUT" && puts++ === 0 ? { _tag: "Twice" } : undefined)
      const { result } = yield* settle(flight, write)
      assert.strictEqual(Option.getOrThrow(Either.getLeft(result))._tag, "ConflictError")
      assert.deepStrictEqual(server.history(), story)
    })
  )

  it.scoped("is taken back also where a proxy sent it twice", () =>
    Effect.gen(function* () {
      const { flight, server, write } = yield* vanished
      server.fault = ({ method }) => (method === "PUT" ? { _tag: "Twice" } : undefined)
      const { result } = yield* settle(flight, write)
      assert.strictEqual(Option.getOrThrow(Either.getLeft(result))._tag, "ConflictError")
      assert.deepStrictEqual(server.history(), story)
    })
  )
})

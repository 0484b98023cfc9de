import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Either, Fiber, Option, Redacted, Stream } from "effect"
import * as GitObject from "../../../../src/git/GitObject.js"
import type { GitRemoteService, Head } from "../../../../src/store/remote/GitRemote.js"
import * as GitHub from "../../../../src/store/remote/github/GitHub.js"
import type { Reply } from "../../../support/github/InProcess.js"
import { replying } from "../../../support/github/InProcess.js"
import { token } from "../../../support/github/Remote.js"
import { settle, virtual } from "../../../support/github/VirtualTime.js"
import { deleteFile, putFile } from "../../../support/singleFile.js"

const bytes = (text: string) => new TextEncoder().encode(text)

const reply = (status: number, message: string, headers = {}, more = {}): Reply => ({
  status,
  headers,
  body: { message, status: String(status), ...more }
})

describe("the result of a read by its reply", () => {
  it.scoped(
    "a limit that never ends: every wait is as long as asked, then RateLimitError with its reset",
    () =>
      Effect.gen(function* () {
        const { flight, remote, server } = yield* virtual()
        server.fault = () => replying(reply(429, "slow down", { "retry-after": "20" }))
        const { result, took } = yield* settle(flight, remote.head("main"))
        assert.strictEqual(took, 60_000)
        assert.strictEqual(server.seen.length, 4)
        const error = Option.getOrThrow(Either.getLeft(result))
        assert.strictEqual(error._tag, "RateLimitError")
        if (error._tag === "RateLimitError") {
          assert.strictEqual(error.reset, 80)
          assert.deepStrictEqual(error.resetAt, new Date(80_000))
          assert.strictEqual(error.status, 429)
        }
      })
  )

  it.scoped("a reply that never comes is given up after the time-out, and asked for again", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      server.commit("main", [{ _tag: "Put", path: "a", content: bytes("1") }])
      server.fault = (_, index) => (index === 0 ? { _tag: "Cut", then: "silence" } : undefined)
      const { result, took } = yield* settle(flight, remote.head("main"), { stuck: true })
      assert.isTrue(Either.isRight(result))
      assert.isAtLeast(took, 30_000)
      assert.isAtMost(took, 30_500)
    })
  )

  it.scoped("an operation ends at its deadline", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual({ deadline: "50 seconds", maxRetries: 10 })
      server.fault = () => ({ _tag: "Cut", then: "silence" })
      server.commit("main", [{ _tag: "Put", path: "a", content: bytes("1") }])
      const { result, took } = yield* settle(flight, remote.head("main"), { stuck: true })
      const error = Option.getOrThrow(Either.getLeft(result))
      assert.strictEqual(error._tag, "RemoteError")
      if (error._tag === "RemoteError") assert.strictEqual(error.reason, "Timeout")
      assert.isAtMost(took, 50_000)
    })
  )

  it.scoped("a body that is cut or broken is read again, and is an error when it stays so", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      server.commit("main", [{ _tag: "Put", path: "a", content: bytes("1") }])
      for (const fault of [
        { _tag: "Cut", then: "end" },
        { _tag: "Cut", then: "reset" },
        { _tag: "Reset", when: "before" }
      ] as const) {
        yield* remote.invalidate
        const from = server.seen.length
        server.fault = (_, index) => (index === from ? fault : undefined)
        assert.isTrue(Either.isRight((yield* settle(flight, remote.head("main"))).result), fault._tag)
        assert.strictEqual(server.seen.length, from + 2)
      }
      server.fault = () => ({ _tag: "Cut", then: "end" })
      const { result } = yield* settle(flight, remote.snapshot("main").file("a"))
      const error = Option.getOrThrow(Either.getLeft(result))
      if (error._tag === "RemoteError") assert.strictEqual(error.reason, "Corrupt")
      assert.strictEqual(error._tag, "RemoteError")
    })
  )

  it.scoped("one request's limit holds back everybody's", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      server.commit("main", [{ _tag: "Put", path: "a", content: bytes("1") }])
      server.fault = (_, index) =>
        index === 0 ? replying(reply(429, "slow down", { "retry-after": "30" })) : undefined
      const times: Array<number> = []
      const timed = (effect: Effect.Effect<unknown, unknown>) =>
        Effect.tap(effect, () => Effect.map(Clock.currentTimeMillis, (at) => void times.push(at)))
      const first = yield* Effect.fork(timed(remote.head("main")))
      while (server.seen.length === 0 || flight.count > 0) {
        yield* Effect.promise(() => new Promise((done) => setTimeout(done, 5)))
      }
      yield* Effect.promise(() => new Promise((done) => setTimeout(done, 50)))
      const { took } = yield* settle(
        flight,
        Effect.gen(function* () {
          yield* Effect.all(
            [timed(remote.snapshot("main").file("a")), timed(remote.commitInfo("0".repeat(40) as never))],
            {
              concurrency: "unbounded"
            }
          )
          yield* Fiber.join(first)
        })
      )
      assert.isAtLeast(Math.min(...times), 30_000)
      assert.isAtMost(took, 31_000)
      assert.strictEqual(server.seen.length, 4)
    })
  )
})

const put = { _tag: "Put", path: "data/a.json", content: bytes("new") } as const
const old = Option.some(GitObject.hash("blob", bytes("old")))

describe("what a write makes of a refusal", () => {
  const another = reply(409, `data/a.json does not match ${"1".repeat(40)}`)
  const text = { message: "m" }
  const update = (remote: GitRemoteService) => putFile(remote, "main", put.path, put.content, old, text)
  const remove = (remote: GitRemoteService) =>
    deleteFile(remote, "main", put.path, Option.getOrThrow(old), text)

  // Where somebody else has changed the file before, what the host says of it is true.
  for (const [name, write, theirs, requests] of [
    ["409 of another blob", update, true, 5],
    ["409 of another blob than the one to delete", remove, true, 5],
    ["409 of another blob, where everything else says that the file is unchanged", update, false, 10]
  ] as const) {
    it.scoped(`Contents: ${name}`, () =>
      Effect.gen(function* () {
        const { flight, remote, server } = yield* virtual()
        server.commit("main", [{ ...put, content: bytes("old") }], "base")
        if (theirs) server.commit("main", [{ ...put, content: bytes("theirs") }])
        const before = server.history().length
        server.fault = (_, index) => (index === 0 ? replying(another) : undefined)
        const { result } = yield* settle(flight, write(remote))
        const error = Option.getOrUndefined(Either.getLeft(result))
        assert.strictEqual(error?._tag, theirs ? "ConflictError" : undefined)
        assert.strictEqual(server.seen.length, requests)
        assert.strictEqual(server.history().length, before + (theirs ? 0 : 1))
      })
    )
  }

  it.scoped("a tree that is too much for the host's ten seconds is built in halves, in one commit", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      server.commit("main", [put], "base")
      const head = yield* remote.head("main")
      server.fault = (seen) => {
        const tooMuch =
          seen.url.endsWith("/git/trees") &&
          (JSON.parse(seen.body).tree as ReadonlyArray<unknown>).length > 12
        return tooMuch
          ? replying(
              reply(
                422,
                "Sorry, your request timed out. It's likely that your input was too large to process."
              )
            )
          : undefined
      }
      const changes = Array.from({ length: 40 }, (_, index) => ({ ...put, path: `data/${index}.json` }))
      const { result } = yield* settle(flight, remote.commit("main", head, { message: "many", changes }))
      assert.isTrue(Either.isRight(result), JSON.stringify(result))
      assert.deepStrictEqual(server.history(), ["many", "base"])
      const tree = Option.getOrThrow(yield* remote.tree(Either.getOrThrow(result), "data"))
      assert.strictEqual(tree.entries.length, 41)
    })
  )

  it.scoped("a reply that comes twice writes nothing twice", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      server.commit("main", [{ ...put, content: bytes("old") }], "base")
      server.fault = () => ({ _tag: "Twice" })
      const head = yield* remote.head("main")
      const { result } = yield* settle(flight, remote.commit("main", head, { message: "m", changes: [put] }))
      assert.isTrue(Either.isRight(result))
      assert.deepStrictEqual(server.history(), ["m", "base"])
      const path = "data/twice.json"
      const made = yield* settle(
        flight,
        putFile(remote, "main", path, put.content, Option.none(), { message: "t" })
      )
      assert.strictEqual(Either.getOrThrow(made.result).commit, server.head("main"))
      const oid = Option.getOrThrow(Either.getOrThrow(made.result).blob)
      const again = yield* settle(
        flight,
        putFile(remote, "main", path, bytes("other"), Option.none(), { message: "t" })
      )
      assert.strictEqual(Option.getOrThrow(Either.getLeft(again.result))._tag, "ConflictError")
      const gone = yield* settle(flight, deleteFile(remote, "main", path, oid, { message: "d" }))
      assert.strictEqual(Either.getOrThrow(gone.result).commit, server.head("main"))
      const missing = yield* settle(flight, deleteFile(remote, "main", path, oid, { message: "d" }))
      assert.strictEqual(Option.getOrThrow(Either.getLeft(missing.result))._tag, "ConflictError")
      const orphan = yield* settle(
        flight,
        remote.commit("other", Option.none(), { message: "first", changes: [put] })
      )
      assert.isTrue(Either.isRight(orphan.result), JSON.stringify(orphan.result))
      assert.deepStrictEqual(server.history(), ["d", "t", "m", "base"])
    })
  )
})

describe("replicas that lag behind", () => {
  for (const options of [{}, { commitVia: "graphql", useGraphql: true }] as const) {
    it.scoped(`our own writes are seen all the same ${JSON.stringify(options)}`, () =>
      Effect.gen(function* () {
        const { flight, remote, server } = yield* virtual(options)
        server.commit(
          "main",
          [
            { ...put, content: bytes("old") },
            { ...put, path: "data/x.json" }
          ],
          "base"
        )
        const lag = () => {
          server.snapshot("refs")
          server.lagging = true
        }
        const { result } = yield* settle(
          flight,
          Effect.gen(function* () {
            const read = (path: string) =>
              Effect.map(
                remote.snapshot("main").file(path),
                Option.map(({ content }) => new TextDecoder().decode(content))
              )
            assert.deepStrictEqual(yield* read(put.path), Option.some("old"))
            lag()
            yield* putFile(remote, "main", put.path, put.content, old, { message: "1" })
            assert.deepStrictEqual(yield* read(put.path), Option.some("new"))
            yield* putFile(remote, "main", "data/b.json", bytes("b"), Option.none(), { message: "2" })
            assert.deepStrictEqual(yield* read("data/b.json"), Option.some("b"))
            const head = yield* remote.head("main")
            const made = yield* remote.commit("main", head, {
              message: "3",
              changes: [
                { ...put, path: "data/c.json" },
                { _tag: "Remove", path: "data/b.json" }
              ]
            })
            assert.strictEqual(Option.getOrThrow(yield* remote.head("main")).commit, made.commit)
            assert.strictEqual(Option.getOrThrow(yield* remote.resolve("main")).commit, made.commit)
            assert.deepStrictEqual(yield* read("data/c.json"), Option.some("new"))
            assert.deepStrictEqual(yield* read("data/b.json"), Option.none())
            const listed = yield* remote.snapshot("main").directory("data", { recursive: true })
            assert.deepStrictEqual(
              Option.getOrThrow(listed).tree.entries.map((entry) => entry.path),
              ["a.json", "c.json", "x.json"]
            )
            const many = yield* Stream.runCollect(remote.blobs(made, [{ path: "data/c.json" }]))
            assert.strictEqual(many.length, 1)
          })
        )
        assert.isTrue(Either.isRight(result), JSON.stringify(result))
        assert.deepStrictEqual(server.history(), ["3", "2", "1", "base"])
        assert.deepStrictEqual(server.problems, [])
      })
    )
  }
})

describe("tokens", () => {
  it.scoped("a header is renewed before it expires, and once when it is refused", () =>
    Effect.gen(function* () {
      let asked = 0
      const { flight, connect, server } = yield* virtual()
      const auth = Effect.map(Clock.currentTimeMillis, (at): GitHub.Authorization => {
        asked++
        return {
          header: Redacted.make(asked === 3 ? "Bearer wrong" : `Bearer ${token}`),
          expiresAt: new Date(at + 3_600_000)
        }
      })
      const remote = yield* connect({ token: undefined, auth })
      server.commit("main", [put])
      const head = () => settle(flight, remote.head("main"))
      assert.isTrue(Either.isRight((yield* head()).result))
      assert.isTrue(Either.isRight((yield* head()).result))
      assert.strictEqual(asked, 1)
      yield* settle(flight, Effect.sleep("59 minutes"))
      yield* settle(flight, Effect.sleep("1 seconds"))
      assert.isTrue(Either.isRight((yield* head()).result))
      assert.strictEqual(asked, 2, "a minute before it expires")
      yield* settle(flight, Effect.sleep("60 minutes"))
      const { took, result } = yield* head()
      assert.isTrue(Either.isLeft(result), "a fresh token that stays wrong is an error")
      assert.strictEqual(took, 7_000, "1, 2 and 4 seconds for the host to learn of it")
      yield* settle(flight, Effect.sleep("11 seconds"))
      assert.isTrue(
        Either.isRight((yield* head()).result),
        "an older one that is refused is replaced at once"
      )
      assert.strictEqual(asked, 4)
    })
  )

  it.effect("options that cannot be are refused at once", () =>
    Effect.gen(function* () {
      const refused = (options: Partial<GitHub.GitHubOptions>) =>
        GitHub.make({ repo: "o/r", ...options }).pipe(Effect.provide(FetchHttpClient.layer), Effect.flip)
      const person = { name: "A", email: "a@example.org" }
      for (const options of [
        { repo: "no-slash" },
        { repo: "a/b/c" },
        { repo: "a/.." },
        { apiUrl: "http://github.example/api/v3" },
        { apiUrl: "ftp://localhost" },
        { apiUrl: "nonsense" },
        { apiUrl: "https://github.com" },
        { rawUrl: "file:///etc/passwd" },
        { commitVia: "graphql" as const, author: person },
        { commitVia: "graphql" as const, committer: person },
        { author: { name: "A", email: "" } },
        { maxRetries: -1 },
        { graphqlBatchSize: 0 },
        { timeout: "0 millis" as const },
        { timeout: 30 as never },
        { timeout: "soon" as never },
        { deadline: Number.NaN as never },
        { maxWait: "2 fortnights" as never },
        { writeLane: { perMinute: 0 } },
        { writeLane: { perHour: Number.NaN } },
        { writeLane: { pointsPerMinute: 1 } },
        { objectCacheBytes: -1 },
        { userAgent: "" },
        { userAgent: "a\r\nx-injected: 1" }
      ]) {
        assert.strictEqual((yield* refused(options))._tag, "ValidationError", JSON.stringify(options))
      }
      for (const apiUrl of [
        "http://localhost:3000/api/v3",
        "http://127.0.0.1",
        "http://[::1]:1",
        "https://ghe.example/api/v3"
      ]) {
        yield* GitHub.make({ repo: "o/r", apiUrl }).pipe(Effect.provide(FetchHttpClient.layer))
      }
    })
  )
})

describe("two writers of identical bytes in the same second", () => {
  const writes: ReadonlyArray<
    readonly [what: string, write: (remote: GitRemoteService, head: Head) => Effect.Effect<unknown, unknown>]
  > = [
    [
      "a file",
      (remote) => putFile(remote, "main", "data/lock.json", put.content, Option.none(), { message: "same" })
    ],
    [
      "a commit on the same head",
      (remote, head) =>
        remote.commit("main", Option.some(head), {
          message: "same",
          changes: [{ ...put, content: bytes("same") }]
        })
    ]
  ]
  for (const [what, write] of writes)
    it.scoped(`do not take each other's for their own: ${what}`, () =>
      Effect.gen(function* () {
        const { connect, flight, remote, server } = yield* virtual()
        const other = yield* connect()
        server.commit("main", [put], "base")
        server.stopClock()
        const head = Option.getOrThrow(yield* remote.head("main"))
        const both = Effect.forEach([remote, other], (client) => Effect.either(write(client, head)), {
          concurrency: "unbounded"
        })
        const { result } = yield* settle(flight, both)
        const outcomes = Either.getOrThrow(result).map(({ _tag }) => _tag)
        assert.deepStrictEqual(outcomes.sort(), ["Left", "Right"])
        assert.deepStrictEqual(server.history(), ["same", "base"])
      })
    )
})

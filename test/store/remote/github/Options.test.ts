import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Either, Option, Redacted, Stream } from "effect"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import { graphqlAddress } from "../../../../src/store/remote/github/client/Address.js"
import type { GitHubOptions } from "../../../../src/store/remote/github/GitHub.js"
import * as GitHub from "../../../../src/store/remote/github/GitHub.js"
import * as Store from "../../../../src/store/Store.js"
import type { StoreOptions } from "../../../../src/store/StoreOptions.js"
import type { Server } from "../../../support/github/InProcess.js"
import { replying, verbs } from "../../../support/github/InProcess.js"
import { fresh, remoteOf, token } from "../../../support/github/Remote.js"
import { settle, virtual } from "../../../support/github/VirtualTime.js"

const bytes = (text: string) => new TextEncoder().encode(text)
const put = (path: string, text: string) => ({ _tag: "Put", path, content: bytes(text) }) as const

const storeOf = (server: Server, options: Partial<GitHubOptions>, settings: StoreOptions = {}) =>
  Effect.flatMap(remoteOf(server, options), (remote) =>
    Effect.provideService(Store.make(settings), GitRemote, remote)
  )

/** A server that holds the documents `d0`, `d1` and so on. */
const holding = (count: number) =>
  Effect.gen(function* () {
    const { server } = yield* fresh()
    server.commit(
      "main",
      Array.from({ length: count }, (_, n) => put(`data/docs/d${n}.json`, `{"n":${n}}`))
    )
    return server
  })

/** The most requests that were under way at once; each waits a while for so many. */
const crowd = (server: Server, expected: number) => {
  let most = 0
  server.arrives = async () => {
    for (let waits = 0; waits < 200; waits++) {
      most = Math.max(most, server.pending())
      if (most >= expected && waits > 0) return
      await new Promise((done) => setTimeout(done, 3))
    }
  }
  return () => most
}

describe("an option of the client", () => {
  it.scopedLive("session: carries every request instead of the layer's client", () =>
    Effect.gen(function* () {
      const server = yield* holding(1)
      const carried: Array<string> = []
      const session = HttpClient.mapRequest(yield* HttpClient.HttpClient, (request) => {
        carried.push(request.method)
        return HttpClientRequest.setHeader(request, "x-from", "a session")
      })
      const never = HttpClient.make(() => Effect.die("the layer's client was asked"))
      const remote = yield* GitHub.make({ repo: server.repo, apiUrl: server.url, session }).pipe(
        Effect.provideService(HttpClient.HttpClient, never)
      )
      yield* Effect.provideService(Effect.either(remote.head("main")), FetchHttpClient.Fetch, server.fetch)
      assert.isAbove(carried.length, 0)
      assert.strictEqual(server.seen.length, carried.length)
      assert.isTrue(server.seen.every(({ headers }) => headers["x-from"] === "a session"))
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )

  it.scopedLive("concurrency: so many requests of a bulk read at once, one where none is said", () =>
    Effect.gen(function* () {
      for (const [options, expected] of [
        [{}, 1],
        [{ concurrency: 4 }, 4]
      ] as const) {
        const server = yield* holding(30)
        const most = crowd(server, expected)
        const remote = yield* remoteOf(server, options)
        const head = Option.getOrThrow(yield* remote.head("main"))
        const wanted = Array.from({ length: 30 }, (_, n) => ({ path: `data/docs/d${n}.json` }))
        assert.strictEqual((yield* Stream.runCollect(remote.blobs(head, wanted))).length, 30)
        assert.strictEqual(most(), expected)
      }
    })
  )

  it.scopedLive("useGraphql and graphqlBatchSize: so many lookups in one request", () =>
    Effect.gen(function* () {
      for (const [options, sizes] of [
        [{ useGraphql: true }, [50, 10]],
        [{ useGraphql: true, graphqlBatchSize: 25 }, [25, 25, 10]],
        [{ graphqlBatchSize: 25 }, []]
      ] as const) {
        const server = yield* holding(60)
        const store = yield* storeOf(server, options)
        assert.strictEqual((yield* Stream.runCollect(store.collection("docs").all())).length, 60)
        const asked = server.seen.filter(({ body }) => body.includes("query Documents"))
        assert.deepStrictEqual(
          asked.map(({ body }) => body.match(/d\d+: object/g)?.length),
          [...sizes]
        )
      }
    })
  )

  it.scopedLive("contentsMaxBytes: a larger document is written as a Git object", () =>
    Effect.gen(function* () {
      const server = yield* holding(1)
      const store = yield* storeOf(server, { contentsMaxBytes: 300 })
      const docs = store.collection("docs")
      const writes = (effect: Effect.Effect<unknown, unknown>) =>
        Effect.gen(function* () {
          server.seen.length = 0
          yield* effect
          return verbs(server)
            .filter((verb) => !verb.startsWith("GET"))
            .map((verb) => verb.replace(/docs.*|heads.*/, ""))
        })
      const git = ["POST /git/trees", "POST /git/commits", "PATCH /git/refs/"]
      assert.deepStrictEqual(yield* writes(docs.insert({ t: "x" }, { id: "small" })), ["PUT /contents/data/"])
      assert.deepStrictEqual(yield* writes(docs.insert({ t: "x".repeat(300) }, { id: "large" })), git)
      assert.deepStrictEqual(yield* writes(docs.update("small", { t: "y".repeat(300) })), git)
      assert.deepStrictEqual(yield* writes(docs.delete("large")), ["DELETE /contents/data/"])
      assert.deepStrictEqual(yield* docs.list(), ["d0", "small"])
    })
  )

  it.scopedLive("author and committer: are in every kind of commit", () =>
    Effect.gen(function* () {
      const { server } = yield* fresh()
      const author = { name: "Ada", email: "ada@example.org" }
      const committer = { name: "Charles", email: "charles@example.org" }
      const store = yield* storeOf(server, { author, committer })
      const docs = store.collection("docs")
      yield* docs.insert({ n: 1 }, { id: "a" })
      yield* docs.update("a", { n: 2 })
      yield* store.batch({}, (batch) =>
        Effect.zipRight(batch.put("docs", "b", { n: 1 }), batch.put("docs", "c", { n: 1 }))
      )
      yield* docs.delete("a")
      const commits = server.git(["log", "--format=%an|%ae|%cn|%ce"]).trim().split("\n")
      assert.isAtLeast(commits.length, 4)
      const people = `${author.name}|${author.email}|${committer.name}|${committer.email}`
      for (const commit of commits) assert.strictEqual(commit, people)
    })
  )

  it.scopedLive("pinRef: without it a reader asks by the branch's name, and sees what is new", () =>
    Effect.gen(function* () {
      const server = yield* holding(1)
      const store = yield* storeOf(server, { readOnly: true, pinRef: false }, { readOnly: true })
      const n = Effect.map(
        store.collection("docs").get("d0", { fresh: true }),
        (found) => Option.getOrThrow(found)["n"]
      )
      assert.strictEqual(yield* n, 0)
      server.commit("main", [put("data/docs/d0.json", '{"n":9}')])
      assert.strictEqual(yield* n, 9)
      const raw = server.seen.filter(({ url }) => url.startsWith("/raw/"))
      assert.isAtLeast(raw.length, 2)
      assert.isTrue(raw.every(({ url }) => url.includes("/main/data/")))
      assert.deepStrictEqual(server.problems, [])
    })
  )

  it.scopedLive("userAgent: names the program, `chainstore` where none is said", () =>
    Effect.gen(function* () {
      const server = yield* holding(1)
      yield* (yield* remoteOf(server)).head("main")
      yield* (yield* remoteOf(server, { userAgent: "a-program/1.0" })).head("main")
      assert.deepStrictEqual(
        [...new Set(server.seen.map(({ headers }) => headers["user-agent"]))],
        ["chainstore", "a-program/1.0"]
      )
    })
  )

  it.scopedLive("objectCacheBytes: with none, what is named by its id is asked for again", () =>
    Effect.gen(function* () {
      for (const [options, expected] of [
        [{}, 1],
        [{ objectCacheBytes: 0 }, 2]
      ] as const) {
        const server = yield* holding(1)
        const remote = yield* remoteOf(server, options)
        const head = Option.getOrThrow(yield* remote.head("main"))
        const tree = Option.getOrThrow(yield* remote.tree(head, "data/docs"))
        const wanted = tree.entries.map(({ oid }) => ({ path: "data/docs/d0.json", oid }))
        server.seen.length = 0
        yield* Stream.runDrain(remote.blobs(head, wanted))
        yield* Stream.runDrain(remote.blobs(head, wanted))
        assert.strictEqual(verbs(server).filter((verb) => verb.includes("/git/blobs/")).length, expected)
      }
    })
  )

  it("apiUrl: GraphQL's address follows from it", () => {
    for (const [api, expected] of [
      ["https://api.github.com", "https://api.github.com/graphql"],
      ["https://api.octo.ghe.com", "https://api.octo.ghe.com/graphql"],
      ["https://ghe.example/api/v3", "https://ghe.example/api/graphql"],
      ["http://127.0.0.1:3000/api/v3", "http://127.0.0.1:3000/api/graphql"]
    ] as const) {
      assert.strictEqual(graphqlAddress(api), expected)
    }
  })

  it.scoped("maxRetries and backoffFactor: so many more tries, each after at most twice as long", () =>
    Effect.gen(function* () {
      for (const [options, tries, most] of [
        [{ maxRetries: 0 }, 1, 0],
        [{}, 4, 3_500],
        [{ maxRetries: 5, backoffFactor: "10 millis" }, 6, 310]
      ] as const) {
        const { flight, remote, server } = yield* virtual(options)
        server.fault = () => replying({ status: 502, body: {} })
        const { result, took } = yield* settle(flight, remote.head("main"))
        assert.isTrue(Either.isLeft(result))
        assert.strictEqual(server.seen.length, tries)
        assert.isAtMost(took, most)
      }
    })
  )

  it.scoped(
    "maxRetries: each pause is any part of twice the last one's bound, after a failure of the host",
    () =>
      Effect.gen(function* () {
        const gaps: Array<ReadonlyArray<number>> = []
        for (let round = 0; round < 20; round++) {
          const { flight, remote, server } = yield* virtual()
          const at: Array<number> = []
          server.fault = () => {
            at.push(flight.now)
            return { _tag: "Error", status: 502, when: "before" }
          }
          flight.now = yield* Clock.currentTimeMillis
          yield* settle(flight, remote.head("main"))
          gaps.push(at.slice(1).map((moment, index) => moment - at[index]!))
        }
        for (const [index, most] of [500, 1000, 2000].entries()) {
          const seen = gaps.map((gap) => gap[index]!)
          assert.isAtMost(Math.max(...seen), most)
          assert.isAbove(Math.max(...seen), most / 2, "not always early")
          assert.isBelow(Math.min(...seen), most / 2, "not always late")
        }
      })
  )

  it.scoped("timeout: of one request", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual({ timeout: "2 seconds", maxRetries: 0 })
      server.fault = () => ({ _tag: "Cut", then: "silence" })
      const { result, took } = yield* settle(flight, remote.head("main"), { stuck: true })
      assert.propertyVal(Option.getOrThrow(Either.getLeft(result)), "reason", "Timeout")
      assert.strictEqual(took, 2_000)
    })
  )

  it.scoped("paceRequests: what is left of the quota is spread, and not where it is off", () =>
    Effect.gen(function* () {
      for (const [options, least, most] of [
        [{}, 9_000, 11_000],
        [{ paceRequests: false }, 0, 0]
      ] as const) {
        const { flight, remote, server } = yield* virtual(options)
        server.commit("main", [put("a", "1")])
        // An hour to the reset and a tenth of the quota left: a request each seven seconds and some.
        server.headers = () => ({
          "x-ratelimit-limit": "5000",
          "x-ratelimit-remaining": "720",
          "x-ratelimit-reset": `${Math.floor(Date.now() / 1000) + 3600}`,
          "x-ratelimit-resource": "core"
        })
        const { took } = yield* settle(
          flight,
          Effect.forEach([1, 2, 3], () => remote.snapshot("main").file("a", { fresh: true }))
        )
        assert.isAtLeast(took, least)
        assert.isAtMost(took, most)
      }
    })
  )

  it.scoped("maxWait: longer advice than this is an error, shorter is kept", () =>
    Effect.gen(function* () {
      for (const [maxWait, tag] of [
        ["20 seconds", "RateLimitError"],
        ["40 seconds", undefined]
      ] as const) {
        const { flight, remote, server } = yield* virtual({ maxWait })
        server.commit("main", [put("a", "1")])
        const limited = { status: 429, headers: { "retry-after": "30" }, body: { message: "slow down" } }
        server.fault = (_, index) => (index === 0 ? replying(limited) : undefined)
        const { result, took } = yield* settle(flight, remote.head("main"))
        assert.strictEqual(Option.getOrUndefined(Either.getLeft(result))?._tag, tag)
        assert.strictEqual(took, tag === undefined ? 30_000 : 0)
      }
    })
  )

  it.scoped("maxWait: without advice every wait is twice the last, and beyond it the limit is an error", () =>
    Effect.gen(function* () {
      for (const [options, expected] of [
        [{}, 60_000],
        [{ maxWait: "10 minutes", deadline: "20 minutes" }, 420_000]
      ] as const) {
        const { flight, remote, server } = yield* virtual(options)
        server.fault = () => replying({ status: 429, body: { message: "slow down" } })
        const { result, took } = yield* settle(flight, remote.head("main"))
        assert.propertyVal(Option.getOrThrow(Either.getLeft(result)), "_tag", "RateLimitError")
        assert.strictEqual(took, expected)
      }
    })
  )

  it.scopedLive("conflictRetries: a document that changed so often is a conflict", () =>
    Effect.gen(function* () {
      for (const conflictRetries of [0, 1, 2]) {
        const server = yield* holding(1)
        const options = { userAgent: "ours" }
        const docs = (yield* storeOf(server, options, { conflictRetries })).collection("docs")
        yield* docs.get("d0")
        let theirs = 0
        let rounds = Number.POSITIVE_INFINITY
        server.arrives = ({ headers, method }) => {
          if (method === "PUT" && headers["user-agent"] === "ours" && theirs < rounds) {
            server.commit("main", [put("data/docs/d0.json", `{"theirs":${++theirs}}`)])
          }
          return undefined
        }
        const error = yield* Effect.flip(docs.update("d0", { n: 1 }))
        assert.strictEqual(error._tag, "ConflictError")
        assert.isAtLeast(theirs, conflictRetries + 1)
        assert.isAtMost(theirs, conflictRetries + 2, "what was remembered may be old once")
        rounds = theirs + conflictRetries
        const made = yield* docs.update("d0", { n: 2 })
        assert.deepInclude(made, { n: 2, theirs: rounds })
      }
    })
  )

  it.scoped("auth: is asked once, however many requests wait for it", () =>
    Effect.gen(function* () {
      let asked = 0
      const { connect, flight, server } = yield* virtual()
      server.commit("main", [put("a", "1")])
      const auth = Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.as(Effect.sleep("1 second"), {
          header: Redacted.make(`Bearer ${asked++ === 0 ? token : "another"}`),
          expiresAt: new Date(now + 3_600_000)
        })
      )
      const remote = yield* connect({ token: undefined, auth })
      const reads = Effect.forEach([1, 2, 3], () => remote.head("main"), { concurrency: "unbounded" })
      const { result } = yield* settle(flight, reads)
      assert.isTrue(Either.isRight(result))
      assert.strictEqual(asked, 1)
    })
  )
})

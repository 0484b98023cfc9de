import { FetchHttpClient } from "@effect/platform"
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { Effect, Either, Logger, Option, Redacted, Stream } from "effect"
import { openStore } from "../../../../src/store/promise/OpenStore.js"
import * as GitHub from "../../../../src/store/remote/github/GitHub.js"
import { commandLine } from "../../../cli/CommandLine.js"
import { many, opened, pull, push, test } from "../../../support/github/Pushing.js"
import { runPushes, sample } from "../../../support/github/PushMatrix.js"
import { HostServer } from "../../../support/host/HostServer.js"
import { hostServer } from "../../core/Remotes.js"

describe('a store on GitHub with commitVia: "push"', () => {
  test("writes by one push, and reads by the API", (repository) =>
    Effect.gen(function* () {
      const { asking, store } = yield* opened(repository)
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      assert.deepStrictEqual(yield* asking(people.insert({ n: 1 }, { id: "second" })), [push])
      assert.deepStrictEqual(yield* asking(people.update("first", { n: 2 })), [push])
      assert.deepStrictEqual(
        yield* asking(
          store.batch({}, (batch) => Effect.forEach(many(50), (n) => batch.put("people", `b${n}`, { n })))
        ),
        [push]
      )
      const together = yield* asking(
        Effect.forEach(many(64), (n) => people.insert({ n }, { id: `c${n}` }), { concurrency: "unbounded" })
      )
      assert.deepStrictEqual([...new Set(together)], [push])
      assert.isAtMost(together.length, 16)
      const inOne = yield* asking(
        store.transaction({}, (tx) =>
          Effect.forEach(many(3), (n) => tx.collection("people").insert({ n }, { id: `t${n}` }))
        )
      )
      assert.deepStrictEqual(inOne, ["GET API /branches/main", push])
      // The first read after a write finds that the API shows it; the next ones are as without pushes.
      assert.deepStrictEqual(yield* asking(people.get("first")), ["GET API /branches/main"])
      yield* people.get("first")
      assert.deepStrictEqual(yield* asking(people.get("first")), ["GET API /contents/data/people/first.json"])

      const other = yield* opened(repository)
      const cold = yield* other.asking(other.store.collection("people").update("first", { n: 3 }))
      assert.deepStrictEqual(cold, ["GET info/refs", pull, pull, push])
      const warm = other.store.collection("people")
      yield* people.update("second", { n: 4 })
      const lost = yield* other.asking(warm.update("first", { n: 5 }))
      assert.deepStrictEqual(lost, [push, pull, push])
      assert.strictEqual(Option.getOrThrow(yield* people.get("first"))["n"], 5)
    }))

  test("reads what it has written while the API does not show it", (repository) =>
    Effect.gen(function* () {
      const { faults } = repository.server
      const { sent, store } = yield* opened(repository, {}, { indexes: { people: ["city"] } })
      const people = store.collection("people")
      yield* people.insert({ city: "Rome" }, { id: "first" })
      yield* people.get("first")
      yield* faults.set({ staleSeconds: 600 })
      yield* people.insert({ city: "Bern" }, { id: "second" })
      yield* people.update("first", { city: "Bern" })
      assert.strictEqual(Option.getOrThrow(yield* people.get("first"))["city"], "Bern")
      assert.strictEqual(yield* people.count, 2)
      assert.deepStrictEqual(
        (yield* people.findBy("city", "Bern")).map(({ _id }) => _id),
        ["first", "second"]
      )
      assert.strictEqual((yield* people.history("first")).length, 2)
      const head = Option.getOrThrow(yield* store.commitSha)
      // Somebody else's commit on top of ours is seen as soon as the server tells of it by Git's protocol.
      const other = yield* opened(repository)
      yield* other.store.collection("people").update("second", { city: "Oslo" })
      assert.strictEqual(Option.getOrThrow(yield* people.get("second"))["city"], "Oslo")
      yield* people.delete("second")
      assert.isTrue(Option.isNone(yield* people.get("second")))
      assert.strictEqual(
        Option.getOrThrow(yield* (yield* store.at(head)).collection("people").get("second"))["city"],
        "Bern"
      )
      yield* faults.set({})
      yield* people.get("first")
      const before = sent.length
      assert.strictEqual(Option.getOrThrow(yield* people.get("first"))["city"], "Bern")
      assert.isTrue(
        sent.slice(before).every(({ to }) => to.startsWith("GET API")),
        "by the API again"
      )
    }))

  test("reads many files by the API if Git's protocol fails", (repository) =>
    Effect.gen(function* () {
      let isClosed = false
      const fetch: typeof globalThis.fetch = (input, init) =>
        isClosed && String(input instanceof Request ? input.url : input).includes(".git/")
          ? Promise.resolve(new Response("closed", { status: 403 }))
          : globalThis.fetch(input, init)
      const { store } = yield* opened(repository, { useGraphql: false }, {}, fetch)
      yield* store.batch({}, (batch) => Effect.forEach(many(20), (n) => batch.put("people", `p${n}`, { n })))
      const other = yield* opened(repository, { useGraphql: false }, {}, fetch)
      isClosed = true
      const all = Stream.runCount(other.store.collection("people").all())
      const first = yield* other.asking(Effect.map(all, (count) => assert.strictEqual(count, 20)))
      assert.deepStrictEqual(
        first.filter((to) => to === pull),
        [pull]
      )
      const fresh = many(20).map((n) => ({ n, again: true }))
      isClosed = false
      yield* store.batch({}, (batch) =>
        Effect.forEach(fresh, (document) => batch.put("people", `p${document.n}`, document))
      )
      isClosed = true
      const again = yield* other.asking(Effect.map(all, (count) => assert.strictEqual(count, 20)))
      assert.notInclude(again, pull)
      isClosed = false
      yield* other.store.collection("people").insert({ n: 20 }, { id: "p20" })
      yield* store.batch({}, (batch) =>
        Effect.forEach(many(20), (n) => batch.put("people", `p${n}`, { n, later: true }))
      )
      assert.include(yield* other.asking(Stream.runCount(other.store.collection("people").all())), pull)
    }))

  test("follows a branch that somebody has forced back", (repository) =>
    Effect.gen(function* () {
      const { store } = yield* opened(repository)
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const before = Option.getOrThrow(yield* store.commitSha)
      yield* people.update("first", { n: 1 })
      yield* Effect.promise(() =>
        fetch(`${repository.server.api}/repos/${repository.repo}/git/refs/heads/main`, {
          method: "PATCH",
          headers: { authorization: `Bearer ${repository.server.token}` },
          body: JSON.stringify({ sha: before, force: true })
        }).then((response) => response.text())
      )
      assert.strictEqual(Option.getOrThrow(yield* people.get("first"))["n"], 0)
      yield* people.update("first", { n: 2 })
      assert.strictEqual(Option.getOrThrow(yield* people.get("first"))["_rev"], 2)
    }))

  test("sends the token in Git's form, and a new one when it has expired", (repository) =>
    Effect.gen(function* () {
      const { token } = repository.server
      let asked = 0
      const { sent, store } = yield* opened(repository, {
        token: undefined,
        auth: Effect.sync(() => ({
          header: Redacted.make(`Bearer ${++asked === 1 ? "run-out" : token}`)
        }))
      })
      yield* store.collection("people").insert({ n: 0 }, { id: "first" })
      const tokens = sent
        .filter(({ to }) => !to.includes("API"))
        .map(({ authorization = "" }) =>
          Buffer.from(authorization.slice("Basic ".length), "base64").toString()
        )
      assert.deepStrictEqual([...new Set(tokens)], ["x-access-token:run-out", `x-access-token:${token}`])
      assert.strictEqual(asked, 2)
      const wrong = yield* opened(repository, { token: Redacted.make("no-such-token") })
      const error = yield* Effect.flip(wrong.store.collection("people").insert({ n: 1 }))
      assert.strictEqual(error._tag, "AuthError")
      assert.notInclude(JSON.stringify(error), "no-such-token")
    }))

  test("begins its pushes to one repository at most once an interval, whichever client they are of", (repository) =>
    Effect.gen(function* () {
      const interval = 600
      const began: Array<number> = []
      const fetch: typeof globalThis.fetch = (input, init) => {
        const url = String(input instanceof Request ? input.url : input)
        const isProbe = Buffer.from((init?.body ?? "") as Uint8Array).includes("chainstore-probe")
        if (url.endsWith("/git-receive-pack") && !isProbe) began.push(performance.now())
        return globalThis.fetch(input, init)
      }
      const options = { pushInterval: `${interval} millis` } as const
      const [one, two] = yield* Effect.all([
        opened(repository, options, {}, fetch),
        opened(repository, options, {}, fetch)
      ])
      yield* one.store.collection("people").insert({ n: 0 }, { id: "first" })
      yield* Effect.forEach(
        many(40),
        (n) => (n % 2 === 0 ? one : two).store.collection("people").insert({ n }, { id: `p${n}` }),
        { concurrency: "unbounded" }
      )
      const gaps = began.slice(1).map((at, index) => at - began[index]!)
      assert.isAtLeast(Math.min(...gaps), interval - 30, gaps.join(", "))
      assert.isAtMost(began.length, 12)
      assert.strictEqual(yield* one.store.collection("people").count, 41)
    }))

  test("asks before each push on a server that takes none otherwise", (repository) =>
    Effect.gen(function* () {
      let introduced = false
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const url = String(input instanceof Request ? input.url : input)
        if (url.includes("info/refs?service=git-receive-pack")) introduced = true
        if (url.endsWith("/git-receive-pack")) {
          if (!introduced) return new Response("first ask for info/refs", { status: 403 })
          introduced = false
        }
        return globalThis.fetch(input, init)
      }
      const said: Array<string> = []
      const logger = Logger.make(({ message }) => void said.push(String(message)))
      yield* Effect.gen(function* () {
        const { asking, store } = yield* opened(repository, {}, {}, fetch)
        const people = store.collection("people")
        yield* people.insert({ n: 0 }, { id: "first" })
        assert.deepStrictEqual(yield* asking(people.update("first", { n: 1 })), [push, "GET info/refs", push])
        assert.deepStrictEqual(yield* asking(people.update("first", { n: 2 })), ["GET info/refs", push])
        assert.strictEqual(Option.getOrThrow(yield* people.get("first"))["_rev"], 3)
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      assert.match(said.join("\n"), /only after info\/refs/)
    }))

  test("is written from the command line and by promises", ({ repo, server }) =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const at = ["--repo", repo, "--api-url", server.api]
      const environment = { CHAINSTORE_TOKEN: server.token }
      const insert = (id: string) => ["put", "people", id, "--data", '{"n":1}', ...at]
      const put = yield* call([...insert("ada"), "--commit-via", "push"], { environment })
      assert.strictEqual(put.code, 0, put.err)
      const next = yield* call(insert("bob"), {
        environment: { ...environment, CHAINSTORE_COMMIT_VIA: "push" }
      })
      assert.strictEqual(next.code, 0, next.err)
      const wrong = yield* call([...insert("eve"), "--commit-via", "pigeon"], { environment })
      assert.notStrictEqual(wrong.code, 0)
      const store = yield* Effect.acquireRelease(
        Effect.promise(() =>
          openStore({
            repo,
            apiUrl: server.api,
            token: server.token,
            commitVia: "push",
            pushInterval: "10 millis"
          })
        ),
        (open) => Effect.promise(() => open.close())
      )
      const people = store.collection("people")
      yield* Effect.promise(() => people.insert({ n: 2 }, { id: "cyd" }))
      assert.strictEqual((yield* Effect.promise(() => people.get("cyd")))?.["n"], 2)
      assert.strictEqual(yield* Effect.promise(() => people.count()), 3)
    }))

  test("estimates a push as one request", (repository) =>
    Effect.gen(function* () {
      const { remote } = yield* opened(repository)
      assert.strictEqual(remote.estimate({ _tag: "Commit", changes: 900, bytes: 1e6, warm: true }), 1)
      assert.strictEqual(remote.estimate({ _tag: "PutFile", bytes: 10, warm: false }), 4)
      assert.strictEqual(remote.estimate({ _tag: "Read", documents: 120 }), 120)
    }))

  test("signs with the given names, and leaves its marks out of the history", (repository) =>
    Effect.gen(function* () {
      const author = { name: "Ada", email: "ada@example.org" }
      const { store } = yield* opened(repository, { author })
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const [version] = yield* people.history("first")
      assert.strictEqual(version?.message, "insert people/first")
      assert.strictEqual(version?.author.slice(0, 3), "Ada")
      assert.strictEqual(yield* Stream.runCount(people.all()), 1)
    }))
})

describe("a write with lost, doubled or refused pushes", () => {
  const seed = process.env["CHAINSTORE_SEED"] ?? "pushes"

  it.live(
    "is done once, not done, or said to be uncertain",
    () =>
      Effect.gen(function* () {
        const chosen = yield* sample(seed, Number(process.env["CHAINSTORE_CELLS"] ?? 6))
        const wrong = yield* Effect.provideServiceEffect(runPushes(chosen), HostServer, hostServer)
        assert.deepStrictEqual(wrong, [], `CHAINSTORE_SEED=${seed}`)
      }),
    1_200_000
  )
})

describe('commitVia: "push"', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.resetModules()
  })

  const refusal = (module: typeof GitHub, options: Partial<GitHub.GitHubOptions>) =>
    Effect.map(
      Effect.either(
        module
          .scoped({ repo: "me/data", token: Redacted.make("t"), commitVia: "push", ...options })
          .pipe(Effect.provide(FetchHttpClient.layer), Effect.scoped)
      ),
      (answer) => (Either.isLeft(answer) ? `${answer.left._tag}: ${answer.left.message}` : "accepted")
    )

  it.live("is refused in a browser", () =>
    Effect.gen(function* () {
      vi.resetModules()
      vi.stubGlobal("document", {})
      const module = yield* Effect.promise(() => import("../../../../src/store/remote/github/GitHub.js"))
      assert.match(yield* refusal(module, {}), /^ValidationError: .*needs Node/)
    })
  )

  it.live("alone takes its options, and a scope", () =>
    Effect.gen(function* () {
      for (const options of [{ pushInterval: "1 second" }, { cacheDirectory: "/tmp/none" }] as const) {
        assert.match(
          yield* refusal(GitHub, { ...options, commitVia: "git-data" }),
          /^ValidationError: .*need commitVia/
        )
      }
      const made = yield* Effect.flip(
        GitHub.make({ repo: "me/data", commitVia: "push" }).pipe(Effect.provide(FetchHttpClient.layer))
      )
      assert.match(made.message, /needs a scope/)
      const cache = { cacheDirectory: "/proc/nothing" } as const
      assert.match(yield* refusal(GitHub, cache), /^ValidationError: .*cannot be used here/)
    })
  )
})

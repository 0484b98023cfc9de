import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, Option, type Scope } from "effect"
import * as GitObject from "../../../src/git/GitObject.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"

const test = (title: string, body: Effect.Effect<void, unknown, Scope.Scope>) =>
  it.live(title, () => Effect.scoped(body), 120_000)

const open = (url: string, options: Partial<GitHost.GitHostOptions> = {}) =>
  Effect.flatMap(GitHost.scoped({ url, ...options }), (remote) =>
    Effect.provideService(Store.make(), GitRemote, remote)
  )

const seeded = (store: StoreService, count: number) =>
  store.batch({}, (batch) =>
    Effect.forEach(
      Array.from({ length: count }, (_, n) => n),
      (n) => batch.put("docs", `d${n}`, { n, text: `text ${n} `.repeat(20) }),
      { discard: true }
    )
  )

const sent = (backend: HttpBackend.HttpBackend, service: string) =>
  backend.requests.filter(({ method, path }) => method === "POST" && path.endsWith(service)).length

const blobOf = (backend: HttpBackend.HttpBackend, name: string, id: string) =>
  /([0-9a-f]{40})\t/.exec(
    backend
      .git(name, "ls-tree", "-r", "main")
      .split("\n")
      .find((line) => line.endsWith(`/${id}.json`))!
  )![1]!

const fileOf = (backend: HttpBackend.HttpBackend, name: string, oid: string) =>
  path.join(backend.directory, name, "objects", oid.slice(0, 2), oid.slice(2))

const loose = "receive.unpackLimit=100000"

describe("fetches of concurrent callers", () => {
  test(
    "one damaged file on the server fails only the caller that reads it",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("damaged.git", loose)
      yield* seeded(yield* open(url), 5)
      const file = fileOf(backend, "damaged.git", blobOf(backend, "damaged.git", "d1"))
      const bytes = fs.readFileSync(file)
      bytes.fill(0xff, bytes.length - 20)
      fs.chmodSync(file, 0o644)
      fs.writeFileSync(file, bytes)
      const alone = (yield* open(url)).collection("docs")
      assert.isTrue(Option.isSome(yield* alone.get("d2")))
      assert.isTrue(Either.isLeft(yield* Effect.either(alone.get("d1"))))
      const docs = (yield* open(url)).collection("docs")
      const read = yield* Effect.forEach(["d1", "d2", "d3"], (id) => Effect.either(docs.get(id)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(read.map(Either.isRight), [false, true, true])
    })
  )

  test(
    "a file that another caller fetches already is not fetched again",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("twice.git")
      yield* seeded(yield* open(url), 5)
      const docs = (yield* open(url)).collection("docs")
      yield* docs.get("d0")
      const fetching = yield* Deferred.make<() => void>()
      const lookedUp = yield* Deferred.make<void>()
      let posts = 0
      backend.intercept = (_, response, run) => {
        posts++
        // The second request is the fetch of the first caller, and the third one the lookup of the second caller.
        if (posts === 2) {
          Deferred.unsafeDone(fetching, Effect.succeed(run))
          return true
        }
        if (posts === 3) response.on("finish", () => Deferred.unsafeDone(lookedUp, Effect.void))
        return false
      }
      const first = yield* Effect.fork(docs.get("d1"))
      const release = yield* Deferred.await(fetching)
      const second = yield* Effect.fork(docs.get("d1"))
      yield* Deferred.await(lookedUp)
      yield* Effect.sleep("100 millis")
      release()
      assert.deepStrictEqual(yield* Fiber.join(first), yield* Fiber.join(second))
      assert.strictEqual(posts, 3)
    })
  )

  test(
    "a file that was only part of a commit which is withdrawn is fetched after all",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("withdrawn.git")
      yield* seeded(yield* open(url), 5)
      const remote = yield* GitHost.scoped({ url, pushInterval: "2 minutes" })
      const docs = (yield* Effect.provideService(Store.make(), GitRemote, remote)).collection("docs")
      yield* docs.get("d0")
      const blob = blobOf(backend, "withdrawn.git", "d1")
      const content = new TextEncoder().encode(`${backend.git("withdrawn.git", "cat-file", "blob", blob)}\n`)
      assert.strictEqual(GitObject.hash("blob", content), blob)
      const commit = (path: string) =>
        remote.commitNext("main", () =>
          Effect.succeed({
            commit: Option.some({ message: path, changes: [{ _tag: "Put" as const, path, content }] }),
            result: undefined
          })
        )
      // The next push has to wait for the interval, so that its commits can be withdrawn.
      yield* remote.commitNext("main", () =>
        Effect.succeed({ commit: Option.some({ message: "pushed", changes: [] }), result: undefined })
      )
      const [fetching, gathered] = [yield* Deferred.make<() => void>(), yield* Deferred.make<() => void>()]
      const lookedUp = yield* Deferred.make<void>()
      let posts = 0
      backend.intercept = (_, response, run) => {
        posts++
        // Each reader looks the head up, and fetches. The fetch of the others waits for the end of the first one.
        const held = { 2: fetching, 4: gathered }[posts]
        if (held !== undefined) Deferred.unsafeDone(held, Effect.succeed(run))
        if (posts === 3) response.on("finish", () => Deferred.unsafeDone(lookedUp, Effect.void))
        return held !== undefined
      }
      const first = yield* Effect.fork(docs.get("d3"))
      const releaseFirst = yield* Deferred.await(fetching)
      const others = yield* Effect.fork(
        Effect.forEach(["d1", "d2"], (id) => docs.get(id), { concurrency: "unbounded" })
      )
      yield* Deferred.await(lookedUp)
      yield* Effect.sleep("50 millis")
      const staged = yield* Effect.fork(commit("docs/copy.json"))
      yield* Effect.sleep("50 millis")
      releaseFirst()
      const releaseOthers = yield* Deferred.await(gathered)
      yield* Fiber.interrupt(staged)
      releaseOthers()
      assert.isTrue(Option.isSome(yield* Fiber.join(first)))
      assert.deepStrictEqual((yield* Fiber.join(others)).map(Option.isSome), [true, true])
    })
  )

  test(
    "a file that is larger than a fetch may be is fetched once",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("large.git")
      const writer = yield* open(url)
      yield* seeded(writer, 3)
      yield* writer.batch({}, (batch) =>
        batch.put("docs", "large", { text: randomBytes(200_000).toString("hex") })
      )
      const docs = (yield* open(url, { maxFetch: 20_000 })).collection("docs")
      yield* docs.get("d0")
      const before = sent(backend, "git-upload-pack")
      const error = yield* Effect.flip(docs.get("large"))
      assert.match(error.message, /more than 20000 bytes/)
      // The lookup of the head, and the fetch.
      assert.strictEqual(sent(backend, "git-upload-pack") - before, 2)
    })
  )

  test(
    "the error of a missing file names that file, and not another one of the same fetch",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("missing.git", loose)
      yield* seeded(yield* open(url), 5)
      const missing = blobOf(backend, "missing.git", "d3")
      fs.rmSync(fileOf(backend, "missing.git", missing))
      const store = yield* open(url)
      const error = yield* Effect.flip(
        store.batch({}, (batch) =>
          Effect.forEach(["d1", "d2", "d3"], (id) => batch.put("docs", id, { n: -1 }), { discard: true })
        )
      )
      assert.include((error as Error).message, missing)
    })
  )
})

describe("edits that fail", () => {
  test(
    "do not hold up the next edit until the commits below them are pushed",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const remote = yield* GitHost.scoped({ url: backend.create("held.git") })
      const add = (name: string) =>
        remote.commitNext("main", () =>
          Effect.succeed({
            commit: Option.some({
              message: name,
              changes: [{ _tag: "Put" as const, path: name, content: new TextEncoder().encode(name) }]
            }),
            result: name
          })
        )
      yield* add("first")
      const arrived = yield* Deferred.make<() => void>()
      backend.intercept = (request, _, run) => {
        if (request.method !== "POST" || !request.url!.endsWith("git-receive-pack")) return false
        backend.intercept = undefined
        Deferred.unsafeDone(arrived, Effect.succeed(run))
        return true
      }
      const pushed = yield* Effect.fork(add("second"))
      const release = yield* Deferred.await(arrived)
      const judged = yield* Deferred.make<void>()
      const refused = yield* Effect.fork(
        Effect.either(
          remote.commitNext("main", () =>
            Effect.zipRight(Deferred.succeed(judged, undefined), Effect.fail({ message: "taken" }))
          )
        )
      )
      yield* Deferred.await(judged)
      const built = yield* Deferred.make<void>()
      const next = yield* Effect.fork(
        remote.commitNext("main", () =>
          Effect.as(Deferred.succeed(built, undefined), { commit: Option.none(), result: "next" })
        )
      )
      const isBuilt = yield* Effect.timeoutOption(Deferred.await(built), "5 seconds")
      release()
      yield* Fiber.join(pushed)
      assert.isTrue(Either.isLeft(yield* Fiber.join(refused)))
      yield* Fiber.join(next)
      assert.isTrue(Option.isSome(isBuilt))
    })
  )

  test(
    "leave the commits of other callers in one push",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("pairs.git"), { pushInterval: "2 seconds" })
      yield* seeded(store, 1)
      const docs = store.collection("docs")
      const before = sent(backend, "git-receive-pack")
      const inserts = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, n) => n),
        (n) => Effect.either(docs.insert({ n }, { id: `pair${n >> 1}` })),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(inserts.filter(Either.isRight), 6)
      // A slow machine may not build all of them in one interval.
      assert.isAtMost(sent(backend, "git-receive-pack") - before, 3)
    })
  )
})

import * as fs from "node:fs"
import type { IncomingMessage } from "node:http"
import * as os from "node:os"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option, type Scope } from "effect"
import { ConflictError } from "../../../src/domain/errors/StoreError.js"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"
import { bodyOf, forward, isForwarded } from "../../support/git/WireFaults.js"

const both = (url: string, options: StoreOptions = {}) =>
  Effect.flatMap(GitHost.scoped({ url }), (remote) =>
    Effect.map(Effect.provideService(Store.make(options), GitRemote, remote), (store) => ({ remote, store }))
  )

const open = (url: string, options: StoreOptions = {}) => Effect.map(both(url, options), ({ store }) => store)

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "chainstore-local-"))),
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
)

const isPush = ({ method, url }: IncomingMessage) =>
  method === "POST" && url?.endsWith("git-receive-pack") === true

const branches = (backend: HttpBackend.HttpBackend, name: string) =>
  backend.git(name, "for-each-ref", "--format=%(refname:short)").split("\n")

const test = (title: string, body: Effect.Effect<void, unknown, Scope.Scope>) =>
  it.scopedLive(title, () => body, 60_000)

describe("a transaction by Git's protocol", () => {
  test(
    "is rebased on commits that other clients pushed, and leaves no branch",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("raced.git", "receive.fsckObjects=true")
      const [one, other] = [yield* open(url, { indexes: { people: ["n"] } }), yield* open(url)]
      yield* one.collection("people").insert({ n: 0 }, { id: "first" })
      yield* one.transaction({}, (tx) =>
        Effect.gen(function* () {
          yield* tx.collection("people").insert({ n: 1 }, { id: "second" })
          yield* tx.collection("people").update("second", { n: 2 })
          assert.strictEqual((yield* tx.collection("people").history("second")).length, 2)
          assert.deepStrictEqual(branches(backend, "raced.git"), ["main"])
          yield* other.collection("people").insert({ n: 3 }, { id: "third" })
        })
      )
      assert.deepStrictEqual(yield* other.collection("people").list(), ["first", "second", "third"])
      assert.strictEqual((yield* one.collection("people").findBy("n", 2)).length, 1)
      assert.strictEqual(backend.git("raced.git", "rev-list", "--count", "main"), "4")
      assert.deepStrictEqual(branches(backend, "raced.git"), ["main"])
      assert.strictEqual(backend.git("raced.git", "fsck", "--strict", "--no-dangling"), "")
    })
  )

  test(
    "that conflicts is on the server, under the branch name in the error",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("kept.git", "receive.fsckObjects=true")
      const [one, other] = [yield* open(url), yield* open(url)]
      yield* one.collection("people").insert({ n: 0 }, { id: "first" })
      const error = yield* Effect.flip(
        one.transaction({}, (tx) =>
          Effect.gen(function* () {
            yield* tx.collection("people").update("first", { n: 1 })
            yield* tx.collection("people").insert({ n: 1 }, { id: "mine" })
            yield* other.collection("people").update("first", { n: 2 })
          })
        )
      )
      assert.instanceOf(error, ConflictError)
      const branch = (error as ConflictError).branch!
      assert.sameMembers(branches(backend, "kept.git"), ["main", branch])
      const kept = (yield* open(url)).onBranch(branch).collection("people")
      assert.strictEqual(Option.getOrThrow(yield* kept.get("first"))["n"], 1)
      assert.deepStrictEqual(yield* kept.list(), ["first", "mine"])
      assert.deepStrictEqual(
        (yield* other.staleTransactions).map((one) => one.branch),
        [branch]
      )
      yield* other.removeTransaction(branch)
      assert.deepStrictEqual(branches(backend, "kept.git"), ["main"])
      assert.strictEqual(backend.git("kept.git", "fsck", "--strict", "--no-dangling"), "")
    })
  )

  test(
    "inside another one, or that fails, sends no requests",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("nested.git", "receive.fsckObjects=true"))
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const before = backend.requests.length
      yield* store.withTransaction(
        Effect.gen(function* () {
          yield* people.insert({ n: 1 }, { id: "second" })
          yield* store.withTransaction(people.insert({ n: 2 }, { id: "third" }))
          yield* Effect.ignore(
            store.withTransaction(
              Effect.zipRight(people.insert({ n: 3 }, { id: "never" }), Effect.fail("no"))
            )
          )
          yield* people.update("third", { n: 4 })
        })
      )
      const pushes = backend.requests.slice(before).filter(({ path }) => path.endsWith("git-receive-pack"))
      assert.strictEqual(pushes.length, 1)
      assert.deepStrictEqual(yield* people.list(), ["first", "second", "third"])
      assert.strictEqual(backend.git("nested.git", "rev-list", "--count", "main"), "4")
      assert.deepStrictEqual(branches(backend, "nested.git"), ["main"])
    })
  )

  test(
    "is pushed as far as another branch needs its commits",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const { remote, store } = yield* both(backend.create("used.git", "receive.fsckObjects=true"))
      yield* store.collection("people").insert({ n: 0 }, { id: "first" })
      yield* store.transaction({}, (tx) =>
        Effect.gen(function* () {
          yield* tx.collection("people").insert({ n: 1 }, { id: "second" })
          const head = Option.getOrThrow(yield* remote.head(tx.branch))
          yield* remote.createBranch("copy", head.commit)
          assert.strictEqual(Option.getOrUndefined(yield* store.resolveRef(tx.branch)), head.commit)
          yield* store.onBranch("copy").collection("people").insert({ n: 2 }, { id: "third" })
          yield* store.merge(tx.branch, { into: "copy" })
        })
      )
      assert.sameMembers(branches(backend, "used.git"), ["copy", "main"])
      assert.strictEqual(backend.git("used.git", "fsck", "--strict", "--no-dangling"), "")
    })
  )

  test(
    "loses no commit if the clone fails to store the head",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("place.git", "receive.fsckObjects=true")
      const directory = path.join(yield* temporary, "clone.git")
      const remote = yield* GitHost.scoped({ url, cache: { directory } })
      const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      yield* store.transaction({}, (tx) =>
        Effect.gen(function* () {
          yield* tx.collection("people").insert({ n: 1 }, { id: "second" })
          const place = path.join(directory, "refs/heads", tx.branch)
          fs.writeFileSync(place, `${backend.git("place.git", "rev-parse", "main")}\n`)
          yield* tx.collection("people").insert({ n: 2 }, { id: "third" })
        })
      )
      assert.deepStrictEqual(yield* people.list(), ["first", "second", "third"])
    })
  )

  test(
    "is the base of the commits that waited for its push, which are pushed once",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("base.git"))
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      yield* people.insert({ n: 0 }, { id: "second" })
      const before = backend.requests.length
      const received = yield* Deferred.make<() => void>()
      backend.intercept = (request, _, run) => {
        if (!isPush(request)) return false
        backend.intercept = undefined
        Deferred.unsafeDone(received, Effect.succeed(run))
        return true
      }
      const transaction = yield* Effect.fork(
        store.transaction({}, (tx) => tx.collection("people").insert({ n: 1 }, { id: "third" }))
      )
      const run = yield* Deferred.await(received)
      const waiting = yield* Effect.fork(people.insert({ n: 2 }, { id: "fourth" }))
      yield* Effect.sleep("300 millis")
      run()
      yield* Fiber.join(Fiber.zip(transaction, waiting))
      const pushes = backend.requests.slice(before).filter(({ path }) => path.endsWith("git-receive-pack"))
      assert.strictEqual(pushes.length, 2)
      assert.strictEqual(backend.git("base.git", "rev-list", "--count", "main"), "4")
    })
  )

  test(
    "is published although the clone fails to delete its work branch",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const directory = path.join(yield* temporary, "clone.git")
      const remote = yield* GitHost.scoped({ url: backend.create("after.git"), cache: { directory } })
      const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
      yield* store.collection("people").insert({ n: 0 }, { id: "first" })
      yield* store.transaction({}, (tx) =>
        Effect.zipRight(
          tx.collection("people").insert({ n: 1 }, { id: "second" }),
          Effect.sync(() => fs.writeFileSync(path.join(directory, "refs/heads", tx.branch), "damaged\n"))
        )
      )
      assert.deepStrictEqual(yield* store.collection("people").list(), ["first", "second"])
      assert.deepStrictEqual(branches(backend, "after.git"), ["main"])
    })
  )

  test(
    "is known to be on the server if the caller that needs it there is interrupted during its push",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const remote = yield* GitHost.scoped({ url: backend.create("pushed.git") })
      const add = (branch: string, name: string, merges: ReadonlyArray<Oid> = []) =>
        remote.commitNext(branch, () =>
          Effect.succeed({
            commit: Option.some({
              message: name,
              merges,
              changes: [{ _tag: "Put" as const, path: name, content: new TextEncoder().encode(name) }]
            }),
            result: undefined
          })
        )
      const tip = Effect.map(remote.head("work"), (head) => Option.getOrThrow(head).commit)
      yield* add("main", "first")
      const head = Option.getOrThrow(yield* remote.head("main"))
      yield* remote.createBranch("work", head.commit, { temporary: true, unique: true })
      yield* add("work", "second")
      const received = yield* Deferred.make<void>()
      let reply = () => {}
      backend.intercept = (request, response) => {
        if (!isPush(request) || isForwarded(request)) return false
        void bodyOf(request).then(async (body) => {
          const { bytes, type } = await forward(backend, request, body)
          reply = () => void response.writeHead(200, { "content-type": type }).end(bytes)
          Deferred.unsafeDone(received, Effect.void)
        })
        return true
      }
      const merge = yield* Effect.fork(add("main", "merge", [yield* tip]))
      yield* Deferred.await(received)
      backend.intercept = undefined
      const interrupted = yield* Effect.fork(Fiber.interrupt(merge))
      yield* Effect.sleep("20 millis")
      reply()
      yield* Fiber.join(interrupted)
      yield* add("work", "third")
      yield* add("main", "merge again", [yield* tip])
      yield* remote.deleteBranch("work")
      assert.deepStrictEqual(branches(backend, "pushed.git"), ["main"])
      assert.strictEqual(backend.git("pushed.git", "fsck", "--strict", "--no-dangling"), "")
    })
  )

  test(
    "with more objects than are kept in memory is pushed before its next commit, which alone fails with that push",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("large.git"))
      yield* store.collection("people").insert({ n: 0 }, { id: "first" })
      const text = Array.from({ length: 6_000_000 }, (_, n) => String.fromCharCode(33 + ((n * n) % 89))).join(
        ""
      )
      yield* store.transaction({}, (tx) =>
        Effect.gen(function* () {
          const insert = (n: number) => tx.collection("people").insert({ n, text }, { id: `p${n}` })
          backend.intercept = (request, response) => {
            if (!isPush(request)) return false
            request.resume().on("end", () => response.writeHead(429).end())
            return true
          }
          yield* Effect.forEach([1, 2, 3], insert)
          assert.strictEqual((yield* Effect.flip(insert(4)))._tag, "RateLimitError")
          assert.isTrue(Option.isNone(yield* tx.collection("people").get("p4")))
          backend.intercept = undefined
          yield* insert(4)
        })
      )
      assert.strictEqual(yield* store.collection("people").count, 5)
      assert.deepStrictEqual(branches(backend, "large.git"), ["main"])
    })
  )
})

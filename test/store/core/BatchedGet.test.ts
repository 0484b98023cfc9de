import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Predicate, Runtime, Schema, type Scope, Stream } from "effect"
import { RemoteError } from "../../../src/domain/errors/StoreError.js"
import { batching } from "../../../src/store/batching/index.js"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import type { StoreView } from "../../../src/store/View.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"
import { fresh, remoteOf } from "../../support/github/Remote.js"
import { collecting } from "../../support/spans.js"
import { directory } from "./Remotes.js"

const ids = Array.from({ length: 12 }, (_, n) => `d${n}`)

/** A remote whose snapshots are counted. */
const counting = (remote: GitRemoteService) => {
  const looks = { count: 0 }
  const snapshot = (branch: string) => {
    looks.count++
    return remote.snapshot(branch)
  }
  return { looks, remote: { ...remote, snapshot } }
}

const open = (remote: GitRemoteService, options: StoreOptions = {}) =>
  Effect.provideService(Store.make({ batching, ...options }), GitRemote, remote)

const seeded = (store: StoreService) =>
  store.batch({}, (batch) => Effect.forEach(ids, (id) => batch.put("people", id, { id, _rev: 1 })))

/** The field `id` of documents that are asked for at the same time. */
const together = (store: StoreView, wanted: ReadonlyArray<string> = [...ids, "missing"]) =>
  Effect.forEach(
    wanted,
    (id) =>
      Effect.map(
        store.collection("people").get(id),
        Option.map((found) => found["id"])
      ),
    { batching: true, concurrency: "unbounded" }
  )

const expected = [...ids.map((id) => Option.some(id)), Option.none()]

const test = (title: string, body: Effect.Effect<void, unknown, Scope.Scope>) =>
  it.live(title, () => Effect.scoped(body), 60_000)

/** What a fresh client asks for: by a service that gets one document at a time, and all of its gets together. */
const counted = (asked: () => number, fresh: Effect.Effect<StoreService, unknown, Scope.Scope>) =>
  Effect.gen(function* () {
    const store = yield* fresh
    const begin = asked()
    assert.deepStrictEqual(yield* together(store), expected)
    const cold = asked() - begin
    assert.deepStrictEqual(yield* together(store), expected)
    return [cold, asked() - begin - cold]
  })

describe("gets at the same time", () => {
  test(
    "are one query over GraphQL, and over REST no more requests than gets by themselves",
    Effect.gen(function* () {
      const { remote, server } = yield* fresh()
      yield* seeded(yield* open(remote))
      const client = (useGraphql: boolean, options?: StoreOptions) =>
        Effect.flatMap(remoteOf(server, { useGraphql }), (one) => open(one, { cache: false, ...options }))
      const asked = () => server.seen.length
      assert.deepStrictEqual(yield* counted(asked, client(true)), [1, 1])
      // By themselves all of them look for the settings at once.
      const alone = yield* counted(asked, client(false, { batching: undefined }))
      assert.deepStrictEqual(alone, [14, 13])
      assert.deepStrictEqual(yield* counted(asked, client(false)), [14, 13])
      const store = yield* client(true)
      const many = Array.from({ length: 120 }, (_, n) => `${ids[n % 12]}-${n}`)
      yield* store.batch({}, (batch) => Effect.forEach(many, (id) => batch.put("people", id, { id })))
      const before = asked()
      assert.deepStrictEqual(yield* together(yield* client(true), many), many.map(Option.some))
      assert.isAtMost(asked() - before, 3)
    })
  )

  test(
    "are one fetch over Git's protocol",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("together.git")
      const client = Effect.flatMap(GitHost.scoped({ url }), (remote) => open(remote))
      yield* seeded(yield* client)
      const [cold, warm] = yield* counted(() => backend.requests.length, client)
      assert.isAtMost(cold!, 3)
      assert.isAtMost(warm!, 1)
    })
  )

  test(
    "look at one snapshot of a repository on this machine, where gets by themselves look at one each",
    Effect.gen(function* () {
      const remote = yield* LocalGit.scoped({ directory: yield* directory, durability: "none" })
      const { looks, remote: watched } = counting(remote)
      yield* seeded(yield* open(remote))
      assert.deepStrictEqual(yield* counted(() => looks.count, open(watched)), [1, 1])
      assert.deepStrictEqual(
        yield* counted(() => looks.count, open(watched, { batching: undefined })),
        [13, 13]
      )
    })
  )

  test(
    "are batched by Effect's settings, and read by themselves without them",
    Effect.gen(function* () {
      const remote = yield* Memory.make()
      const { looks: counted, remote: watched } = counting(remote)
      const store = yield* open(watched)
      yield* seeded(store)
      const get = (id: string) => store.collection("people").get(id)
      const looks = <A, E>(effect: Effect.Effect<A, E>) =>
        Effect.map(
          Effect.zip(
            Effect.sync(() => counted.count),
            effect
          ),
          ([before]) => counted.count - before
        )
      const three = ids.slice(0, 3)
      assert.deepStrictEqual(
        [
          yield* looks(Effect.forEach(three, get, { batching: true })),
          yield* looks(Effect.all(three.map(get), { batching: true })),
          yield* looks(Effect.withRequestBatching(Effect.forEach(three, get, { batching: "inherit" }), true)),
          yield* looks(Effect.zip(get("d0"), get("d1"), { batching: true })),
          // The second round waits for the first.
          yield* looks(
            Effect.forEach(three, (id) => Effect.flatMap(get(id), () => get("d4")), { batching: true })
          ),
          yield* looks(Effect.forEach(three, get)),
          yield* looks(Effect.forEach(three, get, { concurrency: 3 })),
          yield* looks(
            Effect.forEach(three, (id) => store.collection("people").get(id, { fresh: true }), {
              batching: true
            })
          )
        ],
        [1, 1, 1, 1, 2, 3, 3, 3]
      )
    })
  )

  test(
    "see what their store, their view or their transaction sees",
    Effect.gen(function* () {
      for (const [remote, cache] of [
        [yield* Memory.make(), true],
        [(yield* fresh({ useGraphql: true })).remote, true],
        [(yield* fresh()).remote, false]
      ] as const) {
        const store = yield* open(remote, { cache })
        const people = store.collection("people")
        yield* seeded(store)
        const before = yield* store.snapshot
        yield* store.createBranch("other")
        yield* store.onBranch("other").collection("people").replace("d0", { id: "elsewhere" })
        yield* people.delete("d1")
        yield* people.replace("d2", { id: "new" })
        const wanted = ["d0", "d1", "d2"]
        const now = [Option.some("d0"), Option.none(), Option.some("new")]
        assert.deepStrictEqual(yield* together(store, wanted), now)
        assert.deepStrictEqual(yield* together(before, wanted), wanted.map(Option.some))
        assert.deepStrictEqual(yield* together(before, wanted), wanted.map(Option.some))
        const other = [Option.some("elsewhere"), Option.some("d1"), Option.some("d2")]
        assert.deepStrictEqual(yield* together(store.onBranch("other"), wanted), other)
        const inside = Effect.zipRight(people.replace("d0", { id: "inside" }), together(store, wanted))
        assert.deepStrictEqual(yield* store.withTransaction(inside), [Option.some("inside"), ...now.slice(1)])
        const each = [store, before, store.onBranch("other")]
        assert.deepStrictEqual(
          yield* Effect.forEach(each, (one) => together(one, ["d0"]), { batching: true }),
          [[Option.some("inside")], [Option.some("d0")], [Option.some("elsewhere")]]
        )
        yield* people.replace("d0", { id: "later" })
        const cached = Effect.withRequestCaching(together(store, ["d0", "d1"]), true)
        assert.deepStrictEqual(yield* cached, [Option.some("later"), Option.none()])
        yield* people.replace("d0", { id: "last" })
        assert.deepStrictEqual(yield* cached, [Option.some("last"), Option.none()])
      }
    })
  )

  test(
    "make a transaction fail if another writer changed its documents",
    Effect.gen(function* () {
      const store = yield* open(yield* Memory.make(), { batchRetries: 0 })
      yield* seeded(store)
      const people = store.collection("people")
      const joined = (other: Effect.Effect<unknown, unknown>) =>
        store.withTransaction(
          Effect.zipRight(together(store, ["d0", "d1"]), Effect.zip(people.insert({ id: "seen" }), other))
        )
      // A fiber of its own has not joined the transaction.
      const runtime = yield* Effect.runtime()
      const apart = Effect.promise(() => Runtime.runPromise(runtime, people.replace("d1", { id: "changed" })))
      const failed = yield* Effect.flip(joined(apart))
      assert(Predicate.isTagged(failed, "ConflictError"))
      yield* joined(Effect.void)
    })
  )

  test(
    "fail one by one, and have spans of each and of the common read",
    Effect.gen(function* () {
      const Person = Schema.Struct({ id: Schema.String })
      const { remote } = yield* fresh({ useGraphql: true })
      const store = yield* open(remote)
      yield* seeded(store)
      yield* store.collection("people").insert({ other: 1 }, { id: "unfit" })
      const people = store.collection("people", Person)
      const { attributes, ended, tracer } = collecting()
      const outcomes = yield* Effect.forEach(
        ["d0", "a/b", "unfit", "d0", "missing"],
        (id) => Effect.either(people.get(id)),
        { batching: true }
      ).pipe(Effect.withTracer(tracer))
      assert.deepStrictEqual(
        outcomes.map((one) => (one._tag === "Left" ? one.left._tag : one.right._tag)),
        ["Some", "ValidationError", "ValidationError", "Some", "None"]
      )
      assert.strictEqual(ended.filter(({ name }) => name === "Collection.get").length, 5)
      const { branch, documents, repository, requests } = attributes("Store.getTogether")
      assert.deepStrictEqual([documents, requests], [4, 1])
      assert.deepStrictEqual([repository, branch], [store.repository, store.branch])
    })
  )

  test(
    "read the others where a file is lost",
    Effect.gen(function* () {
      const remote = yield* Memory.make()
      const store = yield* open(remote)
      yield* seeded(store)
      const lost = new RemoteError({ operation: "test", reason: "Corrupt", message: "d1 is lost" })
      const broken: GitRemoteService = {
        ...remote,
        snapshot: (branch) => {
          const whole = remote.snapshot(branch)
          return {
            ...whole,
            file: (path, look) => (path.endsWith("/d1.json") ? Effect.fail(lost) : whole.file(path, look)),
            files: (paths, options) =>
              paths.some((path) => path.endsWith("/d1.json"))
                ? Stream.fail(lost)
                : whole.files(paths, options)
          }
        }
      }
      const people = (yield* open(broken)).collection("people")
      const outcomes = yield* Effect.forEach(["d0", "d1", "d2"], (id) => Effect.either(people.get(id)), {
        batching: true
      })
      assert.deepStrictEqual(
        outcomes.map(({ _tag }) => _tag),
        ["Right", "Left", "Right"]
      )
    })
  )

  test(
    "refuse another value as the option",
    Effect.gen(function* () {
      const failed = yield* Effect.flip(open(yield* Memory.make(), { batching: true as never }))
      assert.include(failed.message, "what chainstore/batching exports")
    })
  )
})

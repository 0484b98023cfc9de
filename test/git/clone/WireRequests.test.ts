import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric, type Scope, Stream } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import { requests } from "../../../src/store/remote/OperationCost.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"
import { collecting } from "../../support/spans.js"

/** The numbers of requests by Git's protocol, counted at the socket: each row of the table in docs/git-hosts.md. */
const test = (title: string, body: Effect.Effect<void, unknown, Scope.Scope>) =>
  it.live(title, () => Effect.scoped(body), 120_000)

const open = (url: string, store: StoreOptions = {}, options: Partial<GitHost.GitHostOptions> = {}) =>
  Effect.flatMap(GitHost.scoped({ url, ...options }), (remote) =>
    Effect.provideService(Store.make(store), GitRemote, remote)
  )

const asking = <A, E, R>(backend: HttpBackend.HttpBackend, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = backend.requests.length
    yield* effect
    return backend.requests.slice(before).map(({ method, path, sent }) => ({
      to: `${method} ${path.replace(/^\/[^/]+\//, "")}`,
      sent
    }))
  })

const many = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Writes documents in one commit. */
const seeded = (store: StoreService, collection: string, count: number) =>
  store.batch({}, (batch) =>
    Effect.forEach(many(count), (n) => batch.put(collection, `d${n}`, { n, group: `g${n % 10}` }), {
      discard: true
    })
  )

const services = (asked: ReadonlyArray<{ readonly to: string }>) => asked.map(({ to }) => to)

const push = "POST git-receive-pack"
const pull = "POST git-upload-pack"

/** The requests that the metric counts for both services. */
const inMetric = Effect.map(
  Effect.forEach(["git-upload-pack", "git-receive-pack"], (service) =>
    Metric.value(Metric.tagged(requests, "operation", service))
  ),
  (states) => states.reduce((sum, { count }) => sum + count, 0)
)

describe("requests by Git's protocol", () => {
  test(
    "are in the span of their operation, and in the metric",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("told.git")
      yield* seeded(yield* open(url), "docs", 20)
      const store = yield* open(url)
      const docs = store.collection("docs")
      const operations: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown>]> = [
        ["Collection.get", docs.get("d2")],
        ["Collection.all", Stream.runDrain(docs.all())],
        ["Collection.update", docs.update("d2", { n: -1 })],
        ["Store.batch", store.batch({}, (batch) => batch.put("docs", "d3", { n: -2 }))],
        ["Store.withTransaction", store.withTransaction(docs.insert({ n: -3 }))],
        ["Store.createBranch", store.createBranch("other")]
      ]
      for (const [name, operation] of operations) {
        const { attributes, tracer } = collecting()
        const before = yield* inMetric
        const asked = yield* asking(backend, Effect.withTracer(operation, tracer))
        assert.isAbove(asked.length, 0, name)
        assert.strictEqual(attributes(name)["requests"], asked.length, name)
        assert.strictEqual((yield* inMetric) - before, asked.length, name)
      }
      const { ended, tracer } = collecting()
      const together = Effect.forEach(many(4), (n) => docs.insert({ n }), { concurrency: "unbounded" })
      const asked = yield* asking(backend, Effect.withTracer(together, tracer))
      const inserts = ended.filter(({ name }) => name === "Collection.insert")
      assert.lengthOf(inserts, 4)
      assert.strictEqual(
        inserts.reduce((sum, { attributes }) => sum + Number(attributes.get("requests")), 0),
        asked.length
      )
      for (const { attributes } of inserts) {
        assert.containsAllKeys(Object.fromEntries(attributes), ["id", "commit", "branch", "documents"])
      }
    })
  )

  test(
    "all of 3,000 documents, cold, alone and among others: 3",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("all.git")
      const writer = yield* open(url)
      yield* seeded(writer, "docs", 3_000)
      const reading = Effect.flatMap(open(url), (store) =>
        Effect.map(Stream.runCount(store.collection("docs").all()), (count) =>
          assert.strictEqual(count, 3_000)
        )
      )
      assert.deepStrictEqual(services(yield* asking(backend, reading)), [pull, pull, pull])
      yield* seeded(writer, "others", 500)
      assert.deepStrictEqual(services(yield* asking(backend, reading)), [pull, pull, pull])
    })
  )

  test(
    "all of 3,000 documents, or one of them, cold, if commits are fetched with their files: 2",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("whole.git")
      const cache = { directory: path.join(backend.directory, "clone.git") }
      const writer = yield* open(url)
      yield* seeded(writer, "docs", 3_000)
      const reading = (
        options: Partial<GitHost.GitHostOptions>,
        body: (store: StoreService) => Effect.Effect<unknown, unknown>
      ) =>
        Effect.flatMap(open(url, {}, options), body).pipe(
          Effect.scoped,
          (read) => asking(backend, read),
          Effect.map(services)
        )
      const all = (store: StoreService) =>
        Effect.map(Stream.runCount(store.collection("docs").all()), (count) =>
          assert.strictEqual(count, 3_000)
        )
      const get = (store: StoreService) => store.collection("docs").get("d2")
      assert.deepStrictEqual(yield* reading({ filter: "none" }, all), [pull, pull])
      assert.deepStrictEqual(yield* reading({ filter: "none" }, get), [pull, pull])
      // The server must not send deltas whose bases the clone does not have.
      yield* writer.collection("docs").update("d7", { long: many(200).join(" ") })
      yield* reading({ cache }, get)
      yield* writer.collection("docs").update("d7", { n: -7 })
      yield* reading({ cache, filter: "none" }, all)
    })
  )

  test(
    "a revert of 50 documents: 1, and 4 as the first call of a process",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("few.git")
      const store = yield* open(url)
      yield* seeded(store, "docs", 50)
      yield* store.batch({}, (batch) =>
        Effect.forEach(many(50), (n) => batch.put("docs", `d${n}`, { n: -n }), { discard: true })
      )
      const warm = backend.git("few.git", "rev-parse", "main")
      assert.deepStrictEqual(services(yield* asking(backend, store.revert(warm))), [push])
      const cold = backend.git("few.git", "rev-parse", "main")
      const other = yield* open(url)
      const asked = services(yield* asking(backend, other.revert(cold)))
      assert.strictEqual(asked.at(-1), push)
      assert.deepStrictEqual(asked, [pull, pull, "GET info/refs", push])
      assert.strictEqual(yield* Stream.runCount(store.collection("docs").all()), 50)
    })
  )

  test(
    "a revert, as the first call of a process, fetches the documents that the commit changed, and no other file",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("beside.git")
      const store = yield* open(url, { root: "data" })
      yield* seeded(store, "docs", 5)
      const work = path.join(backend.directory, "work")
      const git = (...args: ReadonlyArray<string>) => backend.git("beside.git", "-C", work, ...args)
      backend.git("beside.git", "worktree", "add", "-q", "--detach", work)
      fs.writeFileSync(path.join(work, "video.bin"), randomBytes(1_000_000))
      fs.writeFileSync(path.join(work, "data/docs/d1.json"), '{"_id":"d1","n":-1}')
      git("add", ".")
      git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "both")
      const both = git("rev-parse", "HEAD")
      backend.git("beside.git", "update-ref", "refs/heads/main", both)
      let received = 0
      backend.intercept = (_, response, run) => {
        const { write } = response
        response.write = ((chunk: Uint8Array, ...rest: Array<never>) => {
          received += chunk.length
          return Reflect.apply(write, response, [chunk, ...rest])
        }) as typeof response.write
        run()
        return true
      }
      const { skipped } = yield* (yield* open(url, { root: "data" })).revert(both)
      assert.deepStrictEqual(skipped, ["video.bin"])
      assert.isAtMost(received, 100_000)
    })
  )

  test(
    "a transaction of 3 inserts: 2, and 4 as the first call of a process, with an index and a manifest; 3 without",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("together.git", "receive.fsckObjects=true")
      const settings = { indexes: { docs: ["group"] }, manifests: { docs: ["n"] } }
      const store = yield* open(url, settings)
      yield* seeded(store, "docs", 20)
      const three = (of: StoreService, name: string) =>
        of.transaction({}, (tx) =>
          Effect.forEach(many(3), (n) =>
            tx.collection("docs").insert({ n, group: "g1" }, { id: `${name}${n}` })
          )
        )
      assert.deepStrictEqual(services(yield* asking(backend, three(store, "a"))), [pull, push])
      const other = yield* open(url, settings)
      const cold = services(yield* asking(backend, three(other, "b")))
      assert.deepStrictEqual(cold, ["GET info/refs", pull, pull, push])
      // Without index and manifest files no file is read.
      const plain = backend.create("plain.git", "receive.fsckObjects=true")
      yield* seeded(yield* open(plain), "docs", 20)
      const third = yield* open(plain)
      assert.deepStrictEqual(services(yield* asking(backend, three(third, "c"))), [
        "GET info/refs",
        pull,
        push
      ])
      // The index and the manifest of a large collection must be read first.
      const writer = yield* open(url, settings)
      const update = writer.collection("docs").update("a1", { group: "g2" })
      const first = services(yield* asking(backend, update))
      assert.isAtMost(first.length, 4, first.join("\n"))
      assert.strictEqual((yield* store.collection("docs").findBy("group", "g1")).length, 7)
      assert.strictEqual(
        backend.git("together.git", "for-each-ref", "--format=%(refname)"),
        "refs/heads/main"
      )
      assert.strictEqual(backend.git("together.git", "fsck", "--strict", "--no-dangling"), "")
    })
  )

  for (const format of [1, 2] as const) {
    test(
      `a write of a store that finds its index and manifest in the repository's settings: 4 as the first call of a process, format ${format}`,
      Effect.gen(function* () {
        const backend = yield* HttpBackend.make
        const url = backend.create("recorded.git", "receive.fsckObjects=true")
        const settings = { format, indexes: { docs: ["group"] }, manifests: { docs: ["n"] } }
        const store = yield* open(url, settings)
        yield* seeded(store, "docs", 200)
        const writes: ReadonlyArray<
          readonly [string, (of: StoreService, kind: string) => Effect.Effect<unknown, unknown>]
        > = [
          ["insert", (of, kind) => of.collection("docs").insert({ n: -1, group: "g1" }, { id: kind })],
          ["update", (of, kind) => of.collection("docs").update("d7", { group: kind })],
          ["delete", (of, kind) => of.collection("docs").delete(kind)],
          ["batch", (of, kind) => seeded(of, "docs", kind === "known" ? 20 : 25)]
        ]
        for (const [name, write] of writes) {
          for (const [kind, options] of [
            ["known", settings],
            ["found", {}]
          ] as const) {
            const asked = services(
              yield* asking(
                backend,
                Effect.flatMap(open(url, options), (of) => write(of, kind))
              )
            )
            assert.deepStrictEqual(asked, ["GET info/refs", pull, pull, push], `${name}, ${kind}`)
          }
        }
        assert.lengthOf(yield* store.collection("docs").findBy("group", "g1"), 20)
        assert.strictEqual(backend.git("recorded.git", "fsck", "--strict", "--no-dangling"), "")
      })
    )
  }

  // Thin packs hold what has changed: of 100,000 documents it is as much, which `bench/github.ts` measures.
  test(
    "an update of one of 4,000 sharded documents with an index: a body of at most 4 kB and the document",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("small.git", "receive.fsckObjects=true")
      const settings = { format: 2, shardBy: "hash", shardDepth: 2, indexes: { docs: ["n"] } } as const
      const store = yield* open(url, settings)
      yield* seeded(store, "docs", 4_000)
      for (const [of, n] of [
        [store, 5_000],
        [store, 2_000.5],
        [yield* open(url), 1_000.5]
      ] as const) {
        const sent = yield* asking(backend, of.collection("docs").update("d77", { n }))
        const bodies = sent.filter(({ to }) => to === push).map((one) => one.sent)
        assert.strictEqual(bodies.length, 1)
        assert.isAtMost(bodies[0]!, 4_096)
      }
    })
  )

  // A fiftieth of the 100,000 rows that take 100 pushes of 1,000 rows.
  test(
    "an import of 2,000 rows in commits of 200: 10 pushes, and as the first call of a process 2 to find an empty repository",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("import.git"))
      const rows = many(2_000).map((n) => ({ _id: `i${n}`, n }))
      const asked = services(
        yield* asking(backend, store.collection("docs").importRecords(rows, { chunkSize: 200 }))
      )
      assert.strictEqual(asked.filter((to) => to === push).length, 10)
      assert.strictEqual(asked.length, 12, asked.join("\n"))
      const then = yield* asking(backend, store.collection("more").importRecords(rows, { chunkSize: 200 }))
      assert.deepStrictEqual(services(then), Array<string>(10).fill(push))
    })
  )

  test(
    "64 callers share the pushes to a server with a push interval: 10,000 commits an hour at 6 pushes a minute",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("paced.git")
      // A second stands for ten: there is less time in between for callers to come back.
      const store = yield* open(url, {}, { pushInterval: "1 second" })
      yield* seeded(store, "docs", 64)
      const rounds = 4
      const asked = yield* asking(
        backend,
        Effect.forEach(
          many(64),
          (n) => Effect.forEach(many(rounds), (round) => store.collection("docs").update(`d${n}`, { round })),
          { concurrency: "unbounded", discard: true }
        )
      )
      const pushes = services(asked).filter((to) => to === push).length
      assert.strictEqual(backend.git("paced.git", "rev-list", "--count", "main"), `${1 + 64 * rounds}`)
      const anHour = ((64 * rounds) / pushes) * 6 * 60
      console.log(
        `${64 * rounds} commits in ${pushes} pushes: ${anHour.toFixed(0)} an hour at 6 pushes a minute`
      )
      assert.isAtLeast(anHour, 10_000)
    })
  )

  for (const [documents, updates, most] of [
    [0, 0, 4],
    [20, 0, 4],
    [20, 20, 4],
    // The inserts are pushed while the updated documents are fetched, and on a busy machine in two pushes.
    [20, 10, 6]
  ] as const) {
    test(
      `twenty first writes at once, ${updates} of them updates, to a repository with ${documents} documents: at most ${most}`,
      Effect.gen(function* () {
        const backend = yield* HttpBackend.make
        const url = backend.create("together.git")
        if (documents > 0) yield* seeded(yield* open(url), "docs", documents)
        const docs = (yield* open(url)).collection("docs")
        const writes = many(20).map((n) =>
          n < updates ? docs.update(`d${n}`, { n: -n }) : docs.insert({ n }, { id: `new${n}` })
        )
        const asked = services(
          yield* asking(backend, Effect.all(writes, { concurrency: "unbounded", discard: true }))
        )
        assert.isAtMost(asked.length, most, asked.join("\n"))
        assert.strictEqual(
          backend.git("together.git", "rev-list", "--count", "main"),
          `${20 + Math.min(documents, 1)}`
        )
      })
    )
  }

  test(
    "twenty first reads of one branch at once share requests: at most 4",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("read.git")
      yield* seeded(yield* open(url), "docs", 20)
      const docs = (yield* open(url)).collection("docs")
      const asked = yield* asking(
        backend,
        Effect.forEach(many(20), (n) => docs.get(`d${n}`), { concurrency: "unbounded", discard: true })
      )
      assert.isAtMost(asked.length, 4, services(asked).join("\n"))
    })
  )

  test(
    "concurrent first callers of a server that does not reply share each question for its version",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      let questions = 0
      backend.intercept = ({ method }) => {
        if (method === "GET") questions++
        return true
      }
      const url = backend.create("mute.git")
      const remote = yield* GitHost.scoped({ url, timeout: "300 millis", maxRetries: 1 })
      const failures = yield* Effect.forEach(many(12), (n) => Effect.flip(remote.head(`b${n}`)), {
        concurrency: "unbounded"
      })
      for (const error of failures) assert.include(error, { _tag: "RemoteError", reason: "Timeout" })
      assert.isAtMost(questions, 6)
    })
  )
})

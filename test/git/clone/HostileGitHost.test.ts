import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as os from "node:os"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, Fiber, Option, Scope } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"
import { bodyOf, forward, isForwarded } from "../../support/git/WireFaults.js"

const test = (title: string, body: Effect.Effect<void, unknown, Scope.Scope>) =>
  it.live(title, () => Effect.scoped(body), 60_000)

const both = (url: string, options: Partial<GitHost.GitHostOptions> = {}, store: StoreOptions = {}) =>
  Effect.flatMap(GitHost.scoped({ url, ...options }), (remote) =>
    Effect.map(Effect.provideService(Store.make(store), GitRemote, remote), (made) => ({
      remote,
      store: made
    }))
  )

const open = (url: string, options: Partial<GitHost.GitHostOptions> = {}, store: StoreOptions = {}) =>
  Effect.map(both(url, options, store), (made) => made.store)

const failure = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(effect), (exit) =>
    Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined
  )

const tagOf = (error: unknown) => (error as { readonly _tag?: string } | undefined)?._tag

const isPush = ({ method, url }: IncomingMessage) =>
  method === "POST" && url?.endsWith("git-receive-pack") === true

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "chainstore-hostile-"))),
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
)

/** Delivers each push twice and returns the second response, like a proxy that repeats requests. */
const twice = (backend: HttpBackend.HttpBackend) => (request: IncomingMessage, response: ServerResponse) => {
  if (!isPush(request) || isForwarded(request)) return false
  void bodyOf(request).then(async (body) => {
    await forward(backend, request, body)
    const { bytes, type } = await forward(backend, request, body)
    response.writeHead(200, { "content-type": type }).end(bytes)
  })
  return true
}

const hook = (backend: HttpBackend.HttpBackend, name: string, kind: string, script: string) => {
  const file = path.join(backend.directory, name, "hooks", kind)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, `#!/bin/sh\n${script}\n`)
  fs.chmodSync(file, 0o755)
}

describe("a store on a hostile Git server", () => {
  test(
    "does not fail writers of another branch because of a commit that a hook refuses",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const { remote, store } = yield* both(backend.create("two.git"))
      yield* store.collection("people").insert({ n: 0 }, { id: "first" })
      const head = Option.getOrThrow(yield* remote.head("main"))
      yield* remote.createBranch("other", head.commit)
      yield* store.onBranch("other").collection("people").insert({ n: 0 }, { id: "second" })
      hook(
        backend,
        "two.git",
        "pre-receive",
        `while read old new ref; do git diff-tree -r --name-only $old $new | grep -q evil && exit 1; done; exit 0`
      )
      const [evil, good] = yield* Effect.all(
        [
          Effect.exit(store.collection("people").insert({ n: 1 }, { id: "evil" })),
          Effect.exit(store.onBranch("other").collection("people").insert({ n: 1 }, { id: "good" }))
        ],
        { concurrency: "unbounded" }
      )
      assert.isTrue(Exit.isFailure(evil))
      assert.isTrue(Exit.isSuccess(good), String(good))
    })
  )

  test(
    "writes a branch below the name of a deleted one",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const { remote, store } = yield* both(backend.create("names.git"))
      yield* store.onBranch("a").collection("people").insert({ n: 0 }, { id: "first" })
      yield* remote.deleteBranch("a")
      const below = store.onBranch("a/b").collection("people")
      yield* below.insert({ n: 1 }, { id: "p1" })
      yield* below.insert({ n: 2 }, { id: "p2" })
      assert.deepStrictEqual(yield* below.list(), ["p1", "p2"])
    })
  )

  test(
    "writes a branch above the names of deleted ones",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const { store } = yield* both(backend.create("names.git"))
      yield* store.onBranch("a/b").collection("people").insert({ n: 0 }, { id: "first" })
      backend.git("names.git", "update-ref", "refs/heads/keep", "refs/heads/a/b")
      backend.git("names.git", "update-ref", "-d", "refs/heads/a/b")
      backend.git("names.git", "update-ref", "refs/heads/a", "refs/heads/keep")
      yield* store.onBranch("a").collection("people").update("first", { n: 1 })
    })
  )

  test(
    "reads history that another process has begun to fetch into the same cache",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("shared.git")
      const writer = (yield* open(url)).collection("people")
      yield* writer.insert({ n: 0 }, { id: "first" })
      for (const n of [1, 2, 3]) yield* writer.update("first", { n })
      const cache = { directory: path.join(yield* temporary, "clone.git") }
      const a = yield* open(url, { cache })
      const b = yield* open(url, { cache })
      yield* a.collection("people").get("first")
      assert.strictEqual((yield* b.collection("people").history("first")).length, 4)
    })
  )

  test(
    "reads history after a revision with suffixes",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("back.git")
      const writer = (yield* open(url)).collection("people")
      yield* writer.insert({ n: 0 }, { id: "first" })
      for (const n of [1, 2, 3]) yield* writer.update("first", { n })
      const store = yield* open(url)
      assert.isTrue(Option.isSome(yield* store.resolveRef("main~1")))
      assert.strictEqual((yield* store.collection("people").history("first")).length, 4)
    })
  )

  test(
    "keeps few packs of fetched objects",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("packs.git")
      const people = (yield* open(url)).collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const directory = path.join(yield* temporary, "clone.git")
      const reader = (yield* open(url, { cache: { directory } })).collection("people")
      for (let n = 1; n <= 30; n++) {
        yield* people.update("first", { n })
        yield* reader.get("first", { fresh: true })
      }
      yield* Effect.sleep("3 seconds")
      const packs = fs.readdirSync(path.join(directory, "objects/pack"))
      assert.isAtMost(packs.filter((name) => name.endsWith(".pack")).length, 52)
    })
  )

  test(
    "keeps the shallow commits that another process fetched into the same cache",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("shared.git")
      const writer = yield* open(url)
      yield* writer.collection("people").insert({ n: 0 }, { id: "first" })
      backend.git("shared.git", "branch", "other", "main")
      for (const branch of ["main", "other"]) {
        const people = writer.onBranch(branch).collection("people")
        for (const n of [1, 2, 3]) yield* people.update("first", { n, branch })
      }
      const cache = { directory: path.join(yield* temporary, "clone.git") }
      yield* Effect.scoped(
        Effect.gen(function* () {
          const a = yield* open(url, { cache })
          const b = yield* open(url, { cache })
          yield* a.collection("people").get("first")
          yield* b.onBranch("other").collection("people").get("first")
          yield* b.onBranch("other").collection("people").history("first")
        })
      )
      const later = yield* open(url, { cache })
      assert.strictEqual((yield* later.collection("people").history("first")).length, 4)
    })
  )

  for (const name of ["HEAD", "HEAD~1", "heads/main"] as const) {
    test(
      `reads ${name} where the server has it`,
      Effect.gen(function* () {
        const backend = yield* HttpBackend.make
        const url = backend.create("heads.git")
        const store = yield* open(url)
        yield* store.collection("people").insert({ n: 0 }, { id: "first" })
        yield* store.collection("people").update("first", { n: 1 })
        const other = yield* open(url)
        yield* other.collection("people").update("first", { n: 2 })
        const head = backend.git("heads.git", "rev-parse", name)
        assert.strictEqual(Option.getOrUndefined(yield* store.resolveRef(name)), head)
      })
    )
  }

  test(
    "resolves suffixes of a full id",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("id.git")
      const writer = (yield* open(url)).collection("people")
      yield* writer.insert({ n: 0 }, { id: "first" })
      yield* writer.update("first", { n: 1 })
      const [head, before] = ["main", "main~1"].map((name) => backend.git("id.git", "rev-parse", name))
      assert.strictEqual(Option.getOrUndefined(yield* (yield* open(url)).resolveRef(`${head}~1`)), before)
    })
  )

  test(
    "reads a branch whose name contains @",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("at.git")
      yield* (yield* open(url)).onBranch("me@home").collection("people").insert({ n: 0 }, { id: "first" })
      const head = backend.git("at.git", "rev-parse", "refs/heads/me@home")
      assert.strictEqual(Option.getOrUndefined(yield* (yield* open(url)).resolveRef("me@home")), head)
    })
  )

  test(
    "resolves an abbreviated id as well as main~1",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("short.git")
      const writer = (yield* open(url)).collection("people")
      yield* writer.insert({ n: 0 }, { id: "first" })
      yield* writer.update("first", { n: 1 })
      const before = backend.git("short.git", "rev-parse", "main~1")
      const store = yield* open(url)
      assert.strictEqual(Option.getOrUndefined(yield* store.resolveRef("main~1")), before)
      const cold = yield* open(url)
      yield* cold.collection("people").get("first")
      assert.strictEqual(Option.getOrUndefined(yield* cold.resolveRef(before.slice(0, 12))), before)
    })
  )

  test(
    "recognises that the push of a transaction that was delivered twice took effect",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("twice.git"))
      yield* store.collection("people").insert({ n: 0 }, { id: "first" })
      yield* store.transaction({}, (tx) =>
        Effect.gen(function* () {
          yield* tx.collection("people").insert({ n: 1 }, { id: "second" })
          backend.intercept = twice(backend)
        })
      )
      backend.intercept = undefined
      assert.strictEqual(yield* store.collection("people").count, 2)
      assert.strictEqual(backend.git("twice.git", "for-each-ref", "--format=%(refname)"), "refs/heads/main")
    })
  )

  test(
    "does not report a push as refused if its report is too long",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("long.git"), { maxRetries: 0 })
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      hook(backend, "long.git", "post-receive", "head -c 70000000 /dev/zero >&2")
      const error = yield* failure(people.update("first", { n: 1 }))
      assert.strictEqual(Option.getOrThrow(yield* people.get("first"))["n"], 1)
      if (error !== undefined) assert.strictEqual(tagOf(error), "AmbiguousWriteError", String(error))
    })
  )

  test(
    "ends a transaction on a server that deletes no branches",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("keep.git", "receive.denyDeletes=true"))
      yield* store.collection("people").insert({ n: 0 }, { id: "first" })
      yield* store.transaction({}, (tx) => tx.collection("people").insert({ n: 1 }, { id: "second" }))
      assert.strictEqual(yield* store.collection("people").count, 2)
    })
  )

  test(
    "does not read a web page in place of the report as a refusal",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("page.git"), { maxRetries: 0 })
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      backend.intercept = (request, response) => {
        if (!isPush(request) || isForwarded(request)) return false
        void bodyOf(request).then(async (body) => {
          await forward(backend, request, body)
          response.writeHead(200, { "content-type": "text/html" }).end("<h1>One moment, please</h1>")
        })
        return true
      }
      const error = yield* failure(people.update("first", { n: 1 }))
      backend.intercept = undefined
      assert.strictEqual(Option.getOrThrow(yield* people.get("first"))["n"], 1)
      if (error !== undefined) assert.strictEqual(tagOf(error), "AmbiguousWriteError", String(error))
    })
  )

  test(
    "pushes the waiting commits when the store is closed",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const scope = yield* Scope.make()
      const store = yield* Scope.extend(
        open(backend.create("closed.git"), { pushInterval: "25 seconds" }),
        scope
      )
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const waiting = yield* Effect.fork(people.insert({ n: 1 }, { id: "second" }))
      yield* Effect.sleep("500 millis")
      const [took] = yield* Effect.timed(Scope.close(scope, Exit.void))
      const exit = yield* Fiber.await(waiting)
      assert.isTrue(Exit.isSuccess(exit), `${Duration.format(took)} ${String(exit)}`)
      assert.isBelow(Duration.toSeconds(took), 15)
    })
  )

  test(
    "pushes the waiting commits when the store is closed, even if another caller is interrupted then",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const scope = yield* Scope.make()
      const store = yield* Scope.extend(
        open(backend.create("left.git"), { pushInterval: "25 seconds" }),
        scope
      )
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const waiting = yield* Effect.fork(people.insert({ n: 1 }, { id: "second" }))
      const left = yield* Effect.fork(people.insert({ n: 2 }, { id: "third" }))
      yield* Effect.sleep("500 millis")
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(left)
      yield* Fiber.join(closing)
      const exit = yield* Fiber.await(waiting)
      assert.isTrue(Exit.isSuccess(exit), String(exit))
      assert.include(
        backend.git("left.git", "ls-tree", "-r", "--name-only", "main"),
        "data/people/second.json"
      )
    })
  )

  test(
    "sends no thin pack to a server that refuses thin packs",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("thin.git")
      const seed = yield* open(url)
      yield* seed.batch({}, (batch) =>
        Effect.forEach(Array.from({ length: 300 }), (_, n) => batch.put("people", `p${n}`, { n }))
      )
      const packs: Array<Buffer> = []
      let told = ""
      backend.intercept = (request, response, run) => {
        if (isPush(request) && !isForwarded(request)) {
          void bodyOf(request).then(async (body) => {
            packs.push(body.subarray(body.indexOf("PACK")))
            const { bytes, type } = await forward(backend, request, body)
            response.writeHead(200, { "content-type": type }).end(bytes)
          })
          return true
        }
        if (request.method === "GET" && request.url?.includes("git-receive-pack") === true) {
          const end = response.end.bind(response)
          const chunks: Array<Buffer> = []
          response.write = (chunk: Buffer) => chunks.push(chunk) > 0
          response.end = () => {
            told = Buffer.concat(chunks)
              .toString("latin1")
              .replace("quiet atomic", "no-thin quiet".slice(0, 12))
            end(Buffer.from(told, "latin1"))
            return response
          }
          run()
          return true
        }
        return false
      }
      const store = yield* open(url)
      yield* store.collection("people").update("p7", { n: 8 })
      assert.include(told, " no-thin ")
      const empty = path.join(yield* temporary, "empty.git")
      execFileSync("git", ["init", "-q", "--bare", empty])
      const [pack] = packs
      execFileSync("git", ["-C", empty, "index-pack", "--stdin"], { input: pack!, stdio: "pipe" })
    })
  )

  for (const status of [200, 500] as const) {
    test(
      `reads a bounded part of an endless reply ${status}`,
      Effect.gen(function* () {
        const backend = yield* HttpBackend.make
        const url = backend.create("endless.git")
        yield* (yield* open(url)).collection("people").insert({ n: 0 }, { id: "first" })
        let sent = 0
        const line = (text: string) => (text.length + 4).toString(16).padStart(4, "0") + text
        backend.intercept = (request, response) => {
          if (request.method !== "POST") return false
          if (status === 200 && Number(request.headers["content-length"]) < 200) return false
          void bodyOf(request).then((body) => {
            if (status === 200 && !body.includes("command=fetch")) return response.destroy()
            response.writeHead(status, { "content-type": "application/x-git-upload-pack-result" })
            if (status === 200) response.write(line("shallow-info\n"))
            const part = Buffer.from(line(`shallow ${"a".repeat(40)}\n`).repeat(20_000))
            const more = () => {
              while (!response.destroyed && sent < 512 * 1024 ** 2) {
                sent += part.length
                if (!response.write(part)) return void response.once("drain", more)
              }
              response.destroy()
            }
            more()
          })
          return true
        }
        const store = yield* open(url, { maxRetries: 0, maxFetch: 1024 ** 2, timeout: "5 seconds" })
        yield* failure(store.collection("people").get("first"))
        assert.isAbove(sent, 0)
        assert.isBelow(sent / 1024 ** 2, 128)
      })
    )
  }

  test(
    "writes to a shallow repository",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("deep.git")
      const people = (yield* open(url)).collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      for (const n of [1, 2, 3]) yield* people.update("first", { n })
      shallowCopy(backend)
      yield* (yield* open(`${backend.url}/shallow.git`)).collection("people").update("first", { n: 9 })
    })
  )

  test(
    "ends a walk of the history in a shallow repository",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("deep.git")
      const people = (yield* open(url)).collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      for (const n of [1, 2, 3]) yield* people.update("first", { n })
      shallowCopy(backend)
      const head = backend.git("deep.git", "rev-parse", "main") as Oid
      const { remote } = yield* both(`${backend.url}/shallow.git`)
      const before = backend.requests.length
      const answer = yield* Effect.timeoutOption(remote.isAncestor("1".repeat(40) as Oid, head), "10 seconds")
      assert.isBelow(backend.requests.length - before, 20)
      assert.isTrue(Option.isSome(answer))
    })
  )

  test(
    "decides a first write on the current head of the branch, not on an earlier one",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("first.git")
      const other = yield* open(url)
      yield* other.collection("people").insert({ n: 0 }, { id: "first" })
      backend.git("first.git", "branch", "old", "main")
      const { remote, store } = yield* both(url)
      yield* remote.deleteBranch("old")
      yield* other.collection("people").insert({ n: 0 }, { id: "second" })
      yield* store.collection("people").update("second", { n: 1 })
    })
  )

  test(
    "reads a moving branch with requests of constant size",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("growing.git")
      const people = (yield* open(url)).collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const directory = path.join(yield* temporary, "clone.git")
      const reader = (yield* open(url, { cache: { directory } })).collection("people")
      for (let n = 1; n <= 12; n++) {
        yield* people.update("first", { n })
        yield* reader.get("first", { fresh: true })
      }
      const lines = fs.readFileSync(path.join(directory, "shallow"), "utf8").trim().split("\n")
      assert.isAtMost(lines.length, 4)
    })
  )

  test(
    "does not show the commits of another repository if a cache directory is reused",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const [one, two] = [backend.create("one.git"), backend.create("two.git")]
      const cache = { directory: path.join(yield* temporary, "clone.git") }
      yield* Effect.scoped(
        Effect.flatMap(open(one, { cache }), (store) =>
          store.collection("people").insert({ secret: true }, { id: "first" })
        )
      )
      const id = backend.git("one.git", "rev-parse", "main")
      yield* (yield* open(two)).collection("people").insert({ n: 0 }, { id: "second" })
      const found = yield* Effect.exit(
        Effect.scoped(Effect.flatMap(open(two, { cache }), (store) => store.resolveRef(id)))
      )
      assert.isFalse(Exit.isSuccess(found) && Option.isSome(found.value), String(found))
    })
  )
})

const shallowCopy = (backend: HttpBackend.HttpBackend) => {
  execFileSync(
    "git",
    ["clone", "-q", "--bare", "--depth", "1", `file://${backend.directory}/deep.git`, "shallow.git"],
    { cwd: backend.directory, stdio: "pipe" }
  )
  backend.git("shallow.git", "config", "http.receivepack", "true")
  backend.git("shallow.git", "config", "uploadpack.allowFilter", "true")
}

import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, connect } from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { FetchHttpClient, HttpClient } from "@effect/platform"
import { NodeHttpClient, Undici } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import {
  Cause,
  Duration,
  Effect,
  Either,
  Exit,
  Fiber,
  Layer,
  Option,
  Redacted,
  type Scope,
  Stream
} from "effect"
import { RemoteError } from "../../../src/domain/errors/StoreError.js"
import { openGit } from "../../../src/store/local/OpenGit.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHub from "../../../src/store/remote/github/GitHub.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { commandLine } from "../../cli/CommandLine.js"
import { hostServer } from "../../store/core/Remotes.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"
import { bodyOf, forward, isForwarded } from "../../support/git/WireFaults.js"

const test = (title: string, body: Effect.Effect<void, unknown, Scope.Scope>) =>
  it.live(title, () => Effect.scoped(body), 60_000)

const open = (url: string, options: Partial<GitHost.GitHostOptions> = {}, store: StoreOptions = {}) =>
  Effect.flatMap(GitHost.scoped({ url, ...options }), (remote) =>
    Effect.provideService(Store.make(store), GitRemote, remote)
  )

const services = (asked: ReadonlyArray<HttpBackend.ReceivedRequest>) =>
  asked.map(({ method, path: at }) => `${method} ${at.replace(/^\/[^/]+\//, "")}`)

/** The requests of an effect. */
const asking = <A, E, R>(backend: HttpBackend.HttpBackend, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = backend.requests.length
    yield* effect
    return services(backend.requests.slice(before))
  })

const push = "POST git-receive-pack"
const pull = "POST git-upload-pack"

const failure = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.map(Effect.exit(effect), (exit) =>
    Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined
  )

/** A proxy that records the addresses that it connects to. */
const tunnelling = (tunnels: Array<string>) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly close: () => void }>((resume) => {
      const proxy = createServer()
      proxy.on("connect", ({ url = "" }, client, head) => {
        tunnels.push(url)
        const [host = "", port = ""] = url.split(":")
        const server = connect(Number(port), host, () => {
          client.write("HTTP/1.1 200 Connection established\r\n\r\n")
          server.write(head)
          server.pipe(client).pipe(server)
        })
        server.on("error", () => client.destroy())
        client.on("error", () => server.destroy())
      })
      proxy.listen(0, "127.0.0.1", () => {
        const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
        resume(Effect.succeed({ url, close: () => proxy.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ url }) => url))

const isPush = ({ method, url }: IncomingMessage) =>
  method === "POST" && url?.endsWith("git-receive-pack") === true

describe("a store on a Git server", () => {
  test(
    "takes the documented numbers of requests",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("few.git")
      const cold = yield* open(url)
      const people = cold.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      assert.deepStrictEqual(yield* asking(backend, people.insert({ n: 1 }, { id: "second" })), [push])
      assert.deepStrictEqual(yield* asking(backend, people.update("first", { n: 2 })), [push])
      assert.deepStrictEqual(
        yield* asking(
          backend,
          cold.batch({}, (batch) =>
            Effect.forEach(Array.from({ length: 50 }), (_, n) => batch.put("people", `p${n}`, { n }))
          )
        ),
        [push]
      )
      assert.deepStrictEqual(yield* asking(backend, people.get("first")), [pull])

      const another = yield* open(url)
      const theirs = another.collection("people")
      assert.deepStrictEqual(yield* asking(backend, theirs.get("second")), [pull, pull, pull])
      assert.deepStrictEqual(yield* asking(backend, theirs.get("second")), [pull])
      assert.deepStrictEqual(yield* asking(backend, Stream.runDrain(theirs.all())), [pull, pull])
      const third = yield* open(url)
      assert.deepStrictEqual(yield* asking(backend, third.collection("people").update("first", { n: 3 })), [
        "GET info/refs",
        pull,
        pull,
        push
      ])
      yield* people.insert({ n: 3 }, { id: "third" })
      assert.deepStrictEqual(yield* asking(backend, theirs.insert({ n: 4 }, { id: "fourth" })), [
        "GET info/refs",
        push,
        pull,
        push
      ])
    })
  )

  test(
    "pushes the commits of many callers together, each a commit of its own",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("many.git"))
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const asked = yield* asking(
        backend,
        Effect.forEach(Array.from({ length: 64 }), (_, n) => people.insert({ n }, { id: `p${n}` }), {
          concurrency: "unbounded"
        })
      )
      assert.isAtMost(asked.length, 16)
      assert.strictEqual(backend.git("many.git", "rev-list", "--count", "main"), "65")
      assert.strictEqual(backend.git("many.git", "fsck", "--strict"), "")
    })
  )

  test(
    "fails only the caller of a commit that a hook refuses",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("hooked.git"), {}, { batchRetries: 0 })
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const hook = path.join(backend.directory, "hooked.git", "hooks", "pre-receive")
      fs.mkdirSync(path.dirname(hook), { recursive: true })
      fs.writeFileSync(
        hook,
        `#!/bin/sh\nwhile read old new ref; do\n  if git diff-tree -r --name-only $old $new | grep -q evil; then echo "no evil, please" >&2; exit 1; fi\ndone\n`
      )
      fs.chmodSync(hook, 0o755)
      const ids = Array.from({ length: 16 }, (_, n) => (n === 7 ? "evil" : `p${n}`))
      // A batch that is pushed by itself has not lost a race, so it is not built a second time.
      const put = (id: string) => store.batch({}, (batch) => batch.put("people", id, { n: 1 }))
      const exits = yield* Effect.forEach(ids, (id) => Effect.exit(put(id)), { concurrency: "unbounded" })
      const refused = ids.filter((_, at) => Exit.isFailure(exits[at]!))
      assert.deepStrictEqual(refused, ["evil"])
      assert.match(String(exits[7]), /no evil, please/)
      const present = yield* store.collection("people").list()
      assert.strictEqual(present.length, 16)
    })
  )

  test(
    "a write that fetches its document does not hold up other writes to the branch",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("slow.git")
      yield* (yield* open(url)).collection("people").insert({ n: 0 }, { id: "first" })
      const people = (yield* open(url)).collection("people")
      yield* people.insert({ n: 1 }, { id: "second" })
      let reply: (() => void) | undefined
      backend.intercept = (request, _, run) => {
        if (isPush(request)) return false
        reply = run
        return true
      }
      const waiting = yield* Effect.fork(people.update("first", { n: 7 }))
      while (reply === undefined) yield* Effect.sleep(5)
      yield* people.insert({ n: 2 }, { id: "third" })
      backend.intercept = undefined
      reply()
      assert.strictEqual((yield* Fiber.join(waiting))["n"], 7)
      assert.strictEqual(backend.git("slow.git", "rev-list", "--count", "main"), "4")
    })
  )

  test(
    "waits for a branch that is locked on the server, and reports a lock that stays",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("locked.git")
      const people = (yield* open(url)).collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const lock = path.join(backend.directory, "locked.git", "refs/heads/main.lock")
      fs.writeFileSync(lock, "")
      let refused = 0
      backend.intercept = (request, _, run) => {
        if (isPush(request) && refused++ > 0) fs.rmSync(lock, { force: true })
        run()
        return true
      }
      yield* people.insert({ n: 1 }, { id: "second" })
      assert.isAbove(refused, 1)
      backend.intercept = undefined
      fs.writeFileSync(lock, "")
      const hasty = (yield* open(url, { maxRetries: 0 })).collection("people")
      const error = yield* failure(hasty.update("first", { n: 1 }))
      assert.strictEqual((error as { readonly reason?: string }).reason, "Locked", String(error))
      assert.match(String(error), /main\.lock/)
      fs.rmSync(lock)
      yield* hasty.update("first", { n: 2 })
      assert.strictEqual(backend.git("locked.git", "rev-list", "--count", "main"), "3")
    })
  )

  for (const when of ["before", "after"] as const) {
    test(
      `writes once where the reply to a push is lost ${when} it took effect`,
      Effect.gen(function* () {
        const backend = yield* HttpBackend.make
        const url = backend.create("lost.git")
        const store = yield* open(url)
        const people = store.collection("people")
        yield* people.insert({ n: 0 }, { id: "first" })
        let left = 2
        backend.intercept = (request: IncomingMessage, response: ServerResponse, run) => {
          if (!isPush(request) || left-- <= 0) return false
          if (when === "before") {
            request.socket.destroy()
          } else {
            const end = response.end.bind(response)
            response.write = () => true
            response.end = () => {
              request.socket.destroy()
              return end()
            }
            run()
          }
          return true
        }
        yield* people.update("first", { n: 1 })
        const { _rev } = Option.getOrThrow(yield* people.get("first"))
        assert.strictEqual(_rev, 2)
        assert.strictEqual(backend.git("lost.git", "rev-list", "--count", "main"), "2")
      })
    )
  }

  test(
    "reports an unknown outcome if the server is gone after a push",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("gone.git"), { maxRetries: 1 })
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      let gone = false
      backend.intercept = (request) => {
        if (isPush(request)) gone = true
        if (gone) request.socket.destroy()
        return gone
      }
      const error = yield* failure(people.update("first", { n: 1 }))
      assert.strictEqual((error as { readonly _tag: string })._tag, "AmbiguousWriteError")
    })
  )

  test(
    "does not write to a server that reports refused updates as done",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("liar.git")
      yield* Effect.flatMap(open(url), (store) =>
        store.collection("people").insert({ n: 0 }, { id: "first" })
      )
      backend.intercept = (request, response, run) => {
        const chunks: Array<Buffer> = []
        const end = response.end.bind(response)
        response.write = (chunk: Buffer) => chunks.push(chunk) > 0
        response.end = () => {
          const text = Buffer.concat(chunks).toString("latin1")
          // Like Dulwich: no agent, and "ok" for every update.
          const lie = text
            .replace(/ agent=git\/\S+/, (agent) => ` ${"x".repeat(agent.length - 1)}`)
            .replace(
              /[0-9a-f]{4}ng (\S+) [^\n]*\n/,
              (line, name: string) =>
                `${(line.length - 4 === 0 ? 0 : `ok ${name}\n`.length + 4).toString(16).padStart(4, "0")}ok ${name}\n`
            )
          end(Buffer.from(isPush(request) ? rewrapped(lie) : lie, "latin1"))
          return response
        }
        run()
        return true
      }
      const store = yield* open(url)
      const error = yield* failure(store.collection("people").insert({ n: 1 }, { id: "second" }))
      assert.match(String(error), /reports updates as done that it has refused/)
      backend.intercept = undefined
      assert.strictEqual(backend.git("liar.git", "for-each-ref", "--format=%(refname)"), "refs/heads/main")
    })
  )

  test(
    "reads from a server without filters",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("whole.git", "uploadpack.allowFilter=false")
      const store = yield* open(url)
      yield* store.batch({}, (batch) =>
        Effect.forEach(Array.from({ length: 20 }), (_, n) => batch.put("people", `p${n}`, { n }))
      )
      const another = yield* open(url)
      assert.strictEqual((yield* Stream.runCollect(another.collection("people").all())).length, 20)
    })
  )

  test(
    "stores fetched objects in a directory that stock Git can read",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("kept.git")
      yield* Effect.flatMap(open(url), (store) =>
        store.batch({}, (batch) =>
          Effect.forEach(Array.from({ length: 20 }), (_, n) => batch.put("people", `p${n}`, { n }))
        )
      )
      const parent = fs.mkdtempSync(path.join(os.tmpdir(), "chainstore-kept-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => fs.rmSync(parent, { recursive: true })))
      const cache = { directory: path.join(parent, "kept.git") }
      const reading = Effect.scoped(
        Effect.flatMap(open(url, { cache }), (store) => Stream.runCount(store.collection("people").all()))
      )
      yield* reading
      assert.deepStrictEqual(yield* asking(backend, reading), [pull])
    })
  )

  test(
    "is written from the command line and by promises",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("lines.git")
      const { call } = yield* commandLine
      const put = yield* call(["put", "people", "ada", "--data", '{"name":"Ada"}', "--git-url", url])
      assert.strictEqual(put.code, 0, put.err)
      const store = yield* Effect.acquireRelease(
        Effect.promise(() => openGit({ url })),
        (open) => Effect.promise(() => open.close())
      )
      const ada = yield* Effect.promise(() => store.collection("people").get("ada"))
      assert.strictEqual(ada?.["name"], "Ada")
      const doctor = yield* call(["doctor"], { environment: { CHAINSTORE_GIT_URL: url } })
      assert.include(doctor.out, url)
    })
  )

  test(
    "takes plain values by promises: a token, a function that returns a header, another fetch",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("plain.git")
      const sent = new Set<string | null>()
      const fetch: typeof globalThis.fetch = (input, init) => {
        sent.add(new Request(input as string, { headers: init?.headers ?? {} }).headers.get("authorization"))
        return globalThis.fetch(input, init)
      }
      for (const credentials of [
        { username: "me", token: "secret" },
        { auth: async () => ({ header: "Bearer secret" }) }
      ]) {
        const store = yield* Effect.promise(() => openGit({ url, fetch, ...credentials }))
        yield* Effect.promise(() => store.collection("people").insert({ name: "Ada" }))
        yield* Effect.promise(() => store.close())
      }
      assert.deepStrictEqual(Array.from(sent), [`Basic ${btoa("me:secret")}`, "Bearer secret"])
    })
  )

  test(
    "reports whether the server lets it push, and the message of an error in JSON",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("public.git")
      yield* Effect.flatMap(open(url), (store) => store.collection("people").insert({ name: "Ada" }))
      const mayWrite = Effect.scoped(
        Effect.flatMap(GitHost.scoped({ url }), (remote) =>
          Effect.map(remote.probe("main", { rights: true }), ({ write }) => write)
        )
      )
      assert.deepStrictEqual(yield* mayWrite, Option.some(true))
      backend.intercept = (request, response) => {
        if (!request.url!.includes("git-receive-pack")) return false
        response
          .writeHead(403, { "content-type": "application/json" })
          .end('{"message":"Read \\"only\\"","status":"403"}')
        return true
      }
      assert.deepStrictEqual(yield* mayWrite, Option.some(false))
      const refused = yield* failure(
        Effect.flatMap(open(url), (store) => store.collection("people").insert({ name: "Bob" }))
      )
      assert.strictEqual((refused as Error).message, `${url} answered 403: Read "only"`)
    })
  )

  test(
    "takes the credentials of Git's helpers on the command line, unless a token is given",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("helped.git")
      const authorizations = new Set<string | undefined>()
      backend.intercept = (request, _, run) => {
        authorizations.add(request.headers.authorization)
        run()
        return true
      }
      const { call } = yield* commandLine
      const helper = {
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "credential.helper",
        GIT_CONFIG_VALUE_0: "!f() { echo username=ada; echo password=of-the-helper; }; f"
      }
      yield* Effect.acquireRelease(
        Effect.sync(() => Object.assign(process.env, helper)),
        () => Effect.sync(() => Object.keys(helper).forEach((name) => delete process.env[name]))
      )
      const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`
      const put = yield* call(["put", "people", "ada", "--data", '{"n":1}', "--git-url", url])
      assert.strictEqual(put.code, 0, put.err)
      assert.deepStrictEqual([...authorizations], [basic("ada:of-the-helper")])
      authorizations.clear()
      const got = yield* call(["get", "people", "ada", "--git-url", url], {
        environment: { CHAINSTORE_TOKEN: "given" }
      })
      assert.strictEqual(got.code, 0, got.err)
      assert.deepStrictEqual([...authorizations], [basic("git:given")])
    })
  )

  test(
    "does not read or write a repository whose objects are named by SHA-256",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const directory = path.join(backend.directory, "sha256.git")
      const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { encoding: "utf8" })
      git("init", "-q", "--bare", "-b", "main", "--object-format=sha256", directory)
      git("-C", directory, "config", "http.receivepack", "true")
      const people = (yield* open(`${backend.url}/sha256.git`)).collection("people")
      for (const call of [Effect.asVoid(people.list()), Effect.asVoid(people.insert({ n: 1 }))]) {
        const error = yield* failure(call)
        assert.match(String(error), /: the server names its objects by sha256, not by sha1$/)
        assert.strictEqual((error as { readonly reason?: string }).reason, "Unsupported")
      }
      assert.strictEqual(git("-C", directory, "for-each-ref"), "")
    })
  )

  test(
    "fails with the server's text where a branch is protected, and writes other branches",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("protected.git")
      const store = yield* open(url)
      yield* store.collection("people").insert({ n: 1 }, { id: "a" })
      yield* store.createBranch("draft")
      const hook = path.join(backend.directory, "protected.git/hooks/update")
      fs.writeFileSync(
        hook,
        '#!/bin/sh\n[ "$1" != refs/heads/main ] || { echo "GH006: Protected branch update failed for refs/heads/main." >&2; exit 1; }\n',
        { mode: 0o755 }
      )
      const error = yield* failure(store.collection("people").insert({ n: 2 }, { id: "b" }))
      assert.match(String(error), /GH006: Protected branch update failed/)
      yield* store.onBranch("draft").collection("people").insert({ n: 2 }, { id: "b" })
      assert.deepStrictEqual(yield* store.collection("people").list(), ["a"])
    })
  )

  test(
    "waits for the push interval, and pushes all commits that were made meanwhile together",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("paced.git"), { pushInterval: "1 second" })
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const asked = yield* asking(
        backend,
        Effect.forEach(
          Array.from({ length: 16 }),
          (_, n) => Effect.delay(people.insert({ n }, { id: `p${n}` }), 20 * n),
          { concurrency: "unbounded" }
        )
      )
      assert.isAtMost(asked.length, 3)
    })
  )

  test(
    "pushes a write that has to fetch a file together with the commits that wait for the push interval",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("fetching.git")
      yield* (yield* open(url)).collection("people").insert({ n: 0 }, { id: "theirs" })
      const people = (yield* open(url, { pushInterval: "4 seconds" })).collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const asked = yield* asking(
        backend,
        Effect.all(
          [
            people.insert({ n: 1 }, { id: "second" }),
            Effect.delay(people.update("theirs", { n: 1 }), "300 millis")
          ],
          { concurrency: "unbounded" }
        )
      )
      assert.deepStrictEqual(asked, [pull, push])
    })
  )

  test(
    "reports a file that a write needs and that a fetch did not contain",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("lacking.git")
      const theirs = (yield* open(url)).collection("people")
      yield* theirs.insert({ n: 0 }, { id: "one" })
      yield* theirs.insert({ n: 1 }, { id: "other" })
      const people = (yield* open(url)).collection("people")
      yield* people.insert({ n: 2 }, { id: "first" })
      let recorded: ReturnType<typeof forward> | undefined
      backend.intercept = (request, response) => {
        if (isForwarded(request) || !request.url!.endsWith("upload-pack") || request.method !== "POST")
          return false
        void bodyOf(request).then(async (body) => {
          const isFetch = body.includes("command=fetch")
          const reply = isFetch && recorded !== undefined ? recorded : forward(backend, request, body)
          if (isFetch) recorded = reply
          const { bytes, type } = await reply
          response.writeHead(200, { "content-type": type }).end(bytes)
        })
        return true
      }
      yield* people.get("one")
      const error = yield* failure(people.update("other", { n: 3 }))
      assert.instanceOf(error, RemoteError)
    })
  )

  test(
    "withdraws the commit of an interrupted caller before the push, and pushes the others",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("interrupted.git"), { pushInterval: "2 seconds" })
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const insert = (id: string) =>
        Effect.zipLeft(Effect.fork(people.insert({ n: 1 }, { id })), Effect.sleep("100 millis"))
      const [before, given, after] = yield* Effect.all([
        insert("before"),
        insert("given-up"),
        insert("after")
      ])
      const [took] = yield* Effect.timed(Fiber.interrupt(given))
      assert.isBelow(Duration.toMillis(took), 500)
      const again = yield* Effect.either(people.insert({ n: 2 }, { id: "given-up" }))
      yield* Fiber.join(before)
      yield* Fiber.join(after)
      assert.isTrue(Either.isRight(again))
      assert.strictEqual(Option.getOrThrow(yield* people.get("given-up"))["n"], 2)
      assert.strictEqual(backend.git("interrupted.git", "rev-list", "--count", "main"), "4")
      backend.git("interrupted.git", "fsck", "--strict")
    })
  )

  test(
    "ends a write at its deadline before its push, and writes nothing",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const store = yield* open(backend.create("late.git"), { pushInterval: "2 seconds" })
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const [took, late] = yield* Effect.timed(
        Effect.option(Effect.timeout(people.update("first", { n: 1 }), "300 millis"))
      )
      assert.isTrue(Option.isNone(late))
      assert.isBelow(Duration.toMillis(took), 1_200)
      assert.strictEqual((yield* people.update("first", { m: 2 }))["n"], 0)
      assert.strictEqual(backend.git("late.git", "rev-list", "--count", "main"), "2")
    })
  )

  test(
    "is a store on our own host, and GitHub's client reads its repositories",
    Effect.gen(function* () {
      const { api, token, url } = yield* hostServer
      const repo = "local/by-wire"
      yield* Effect.promise(() =>
        fetch(`${api}/user/repos`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}` },
          body: JSON.stringify({ name: "by-wire" })
        })
      )
      const store = yield* open(
        `${url}/${repo}.git`,
        { token: Redacted.make(token) },
        { indexes: { people: ["n"] } }
      )
      const people = store.collection("people")
      yield* Effect.forEach(Array.from({ length: 8 }), (_, n) => people.insert({ n }, { id: `p${n}` }), {
        concurrency: "unbounded"
      })
      yield* store.transaction({}, (tx) =>
        Effect.zipRight(tx.collection("people").update("p1", { n: 10 }), tx.collection("people").delete("p2"))
      )
      const remote = yield* GitHub.make({ repo, apiUrl: api, token: Redacted.make(token) }).pipe(
        Effect.provide(FetchHttpClient.layer)
      )
      const other = yield* Effect.provideService(Store.make(), GitRemote, remote)
      assert.strictEqual(yield* other.collection("people").count, 7)
      yield* other.collection("people").update("p3", { n: 30 })
      assert.deepStrictEqual(
        (yield* people.findBy("n", 30)).map(({ _id }) => _id),
        ["p3"]
      )
      assert.strictEqual((yield* people.history("p3")).length, 2)
    })
  )

  test(
    "sends its requests through the proxy of its session",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("behind.git")
      const tunnels: Array<string> = []
      const proxy = yield* tunnelling(tunnels)
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Undici.ProxyAgent(proxy)),
        (one) => Effect.promise(() => one.destroy())
      )
      const session = yield* Effect.provide(
        HttpClient.HttpClient,
        Layer.provide(
          NodeHttpClient.layerUndiciWithoutDispatcher,
          Layer.succeed(NodeHttpClient.Dispatcher, agent)
        )
      )
      const people = (yield* open(url, { session, token: Redacted.make("t") })).collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      yield* people.update("first", { n: 1 })
      assert.strictEqual(Option.getOrThrow(yield* people.get("first"))["n"], 1)
      assert.isAbove(backend.requests.length, 0)
      assert.deepStrictEqual([...new Set(tunnels)], [new URL(url).host])
    })
  )

  test(
    "explains what is wrong with a server or an address",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const list = (url: string, options: Partial<GitHost.GitHostOptions> = {}) =>
        Effect.map(
          failure(Effect.flatMap(open(url, options), (store) => store.collection("people").list())),
          String
        )
      for (const unsafe of [
        "-oProxyCommand=true:data.git",
        "ssh://-oProxyCommand=true/data.git",
        "ssh://example.org"
      ]) {
        assert.match(yield* list(unsafe), /ValidationError/)
      }
      const token = Redacted.make("secret-token")
      assert.match(yield* list("git@example.org:me/data.git", { token }), /ssh takes no token/)
      assert.match(yield* list("ssh://git:secret@example.org/data.git"), /user name or a password/)
      assert.match(yield* list("http://example.org/data.git"), /unencrypted/)
      assert.match(yield* list("https://me:secret@example.org/data.git"), /user name or a password/)
      assert.match(yield* list(`${backend.url}/missing.git`), /NotFoundError: there is no Git repository/)

      const old = backend.create("old.git")
      const answering = (status: number, headers: Record<string, string> = {}) => {
        backend.intercept = (_, response) => {
          response.writeHead(status, headers)
          response.end("<html>")
          return true
        }
      }
      answering(200, { "content-type": "text/html" })
      assert.match(yield* list(old), /is not a Git server: it answered with text\/html/)
      answering(401)
      assert.match(yield* list(old, { token: Redacted.make("secret-token") }), /AuthError/)
      answering(302, { location: "https://elsewhere.example.org/" })
      assert.match(yield* list(old), /redirect to https:\/\/elsewhere/)
      answering(429, { "retry-after": "30" })
      assert.match(yield* list(old), /RateLimitError/)
    })
  )
})

/** Encodes the side-band packets of a report again, since its length has changed. */
const rewrapped = (text: string): string => {
  const at = text.indexOf("unpack ")
  if (at < 0) return text
  const report = text.slice(at - 4).replace(/0000(?:0000)?$/, "")
  const inner = `${report}0000`
  return `${(inner.length + 5).toString(16).padStart(4, "0")}\x01${inner}0000`
}

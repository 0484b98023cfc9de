import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, Option, type Scope } from "effect"
import type { Change } from "../../../src/git/Commit.js"
import type { GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"
import { bodyOf, forward, isForwarded } from "../../support/git/WireFaults.js"

const test = (title: string, body: Effect.Effect<void, unknown, Scope.Scope>) =>
  it.live(title, () => Effect.scoped(body), 60_000)

const put = (name: string): Change => ({ _tag: "Put", path: name, content: new TextEncoder().encode(name) })

const add = (remote: GitRemoteService, name: string, branch = "main") =>
  remote.commitNext(branch, () =>
    Effect.succeed({ commit: Option.some({ message: name, changes: [put(name)] }), result: name })
  )

/** Begins to add a file. Returns when its commit is built, and waits for the push. */
const beginAdding = (remote: GitRemoteService, name: string) =>
  Effect.gen(function* () {
    const built = yield* Deferred.make<void>()
    const adding = yield* Effect.fork(
      Effect.either(
        remote.commitNext("main", () =>
          Effect.as(Deferred.succeed(built, undefined), {
            commit: Option.some({ message: name, changes: [put(name)] }),
            result: name
          })
        )
      )
    )
    yield* Deferred.await(built)
    return adding
  })

const isPush = ({
  method,
  url
}: {
  readonly method?: string | undefined
  readonly url?: string | undefined
}) => method === "POST" && url?.endsWith("git-receive-pack") === true

const hook = (backend: HttpBackend.HttpBackend, name: string, text: string, kind = "pre-receive") => {
  const file = path.join(backend.directory, name, "hooks", kind)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 })
}

const refuseEvil =
  'while read old new ref; do if git ls-tree -r --name-only $new | grep -q evil; then echo "no evil, please" >&2; exit 1; fi; done'

/** A repository whose hook refuses commits with the file `evil`, and a push of that commit which the server holds. */
const heldPush = (name: string) =>
  Effect.gen(function* () {
    const backend = yield* HttpBackend.make
    const remote = yield* GitHost.scoped({ url: backend.create(name), maxRetries: 0 })
    yield* add(remote, "first")
    hook(backend, name, refuseEvil)
    const arrived = yield* Deferred.make<void>()
    let release = () => {}
    let drop = () => {}
    backend.intercept = (request, _, run) => {
      if (!isPush(request)) return false
      backend.intercept = undefined
      release = run
      drop = () => {
        backend.intercept = (next) => {
          next.socket.destroy()
          return true
        }
        request.socket.destroy()
      }
      Deferred.unsafeDone(arrived, Effect.void)
      return true
    }
    const evil = yield* Effect.fork(Effect.either(add(remote, "evil")))
    yield* Deferred.await(arrived)
    return { backend, remote, evil, release: Effect.sync(() => release()), drop: Effect.sync(() => drop()) }
  })

/** An edit that ends as `whenTaken` says where it finds the file `evil`. It has looked, and waits for the held push. */
const judgeEvil = <E>(remote: GitRemoteService, whenTaken: Effect.Effect<string, E>) =>
  Effect.gen(function* () {
    const judged = yield* Deferred.make<void>()
    const judge = yield* Effect.fork(
      Effect.either(
        remote.commitNext("main", (snapshot) =>
          Effect.gen(function* () {
            const isTaken = Option.isSome(yield* snapshot.file("evil"))
            yield* Deferred.succeed(judged, undefined)
            return { commit: Option.none(), result: isTaken ? yield* whenTaken : "free" }
          })
        )
      )
    )
    yield* Deferred.await(judged)
    yield* Effect.sleep("50 millis")
    return judge
  })

const isRefusal = (result: Either.Either<unknown, { readonly message: string }>) =>
  Either.isLeft(result) && /no evil, please/.test(result.left.message)

/** Begins an edit. Returns an effect that lets it read a file of the commit below it, and returns what it saw. */
const beginReading = (remote: GitRemoteService, file: string) =>
  Effect.gen(function* () {
    const began = yield* Deferred.make<void>()
    const go = yield* Deferred.make<void>()
    const edit = yield* Effect.fork(
      Effect.either(
        remote.commitNext("main", (snapshot) =>
          Effect.gen(function* () {
            yield* Deferred.succeed(began, undefined)
            yield* Deferred.await(go)
            const isThere = Option.isSome(yield* snapshot.file(file))
            return { commit: Option.none(), result: isThere ? "there" : "absent" }
          })
        )
      )
    )
    yield* Deferred.await(began)
    return Effect.zipRight(
      Deferred.succeed(go, undefined),
      Effect.map(
        Fiber.join(edit),
        Either.map(({ result }) => result)
      )
    )
  })

describe("a push that is refused or lost", () => {
  test(
    "does not fail the caller whose commit was built on the refused one during its push",
    Effect.gen(function* () {
      const { backend, evil, release, remote } = yield* heldPush("follower.git")
      const good = yield* beginAdding(remote, "good")
      yield* Effect.sleep("50 millis")
      yield* release
      assert.isTrue(isRefusal(yield* Fiber.join(evil)))
      const result = yield* Fiber.join(good)
      assert.isTrue(Either.isRight(result), String(result))
      assert.strictEqual(backend.git("follower.git", "ls-tree", "--name-only", "main"), "first\ngood")
    })
  )

  const endings = { fails: Effect.fail({ message: "taken" }), "commits nothing": Effect.succeed("taken") }
  for (const [ending, whenTaken] of Object.entries(endings)) {
    test(
      `runs an edit again that ${ending} because of a commit that is refused`,
      Effect.gen(function* () {
        const { evil, release, remote } = yield* heldPush("judged.git")
        const judge = yield* judgeEvil(remote, whenTaken)
        yield* release
        assert.isTrue(isRefusal(yield* Fiber.join(evil)))
        assert.deepStrictEqual(
          Either.map(yield* Fiber.join(judge), ({ result }) => result),
          Either.right("free")
        )
      })
    )
  }

  for (const [ending, whenTaken] of Object.entries(endings)) {
    test(
      `runs an edit again that ${ending} because of one of two commits whose common push is refused`,
      Effect.gen(function* () {
        const backend = yield* HttpBackend.make
        const remote = yield* GitHost.scoped({ url: backend.create("common.git"), pushInterval: "1 second" })
        yield* add(remote, "first")
        hook(backend, "common.git", refuseEvil)
        const [good, evil] = [yield* beginAdding(remote, "good"), yield* beginAdding(remote, "evil")]
        const judge = yield* judgeEvil(remote, whenTaken)
        assert.isTrue(isRefusal(yield* Fiber.join(evil)))
        assert.isTrue(Either.isRight(yield* Fiber.join(good)))
        assert.deepStrictEqual(
          Either.map(yield* Fiber.join(judge), ({ result }) => result),
          Either.right("free")
        )
      })
    )
  }

  test(
    "runs an edit again that reads a file of the commit below it after that commit was refused",
    Effect.gen(function* () {
      const { evil, release, remote } = yield* heldPush("late.git")
      const read = yield* beginReading(remote, "evil")
      yield* release
      assert.isTrue(isRefusal(yield* Fiber.join(evil)))
      assert.deepStrictEqual(yield* read, Either.right("absent"))
    })
  )

  test(
    "runs an edit again that reads a file of the commit below it after that commit was withdrawn",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const remote = yield* GitHost.scoped({
        url: backend.create("withdrawn.git"),
        pushInterval: "30 seconds"
      })
      yield* add(remote, "first")
      // It waits for the next push, and is withdrawn when its caller is interrupted.
      const third = yield* beginAdding(remote, "third")
      const read = yield* beginReading(remote, "third")
      yield* Fiber.interrupt(third)
      assert.deepStrictEqual(yield* read, Either.right("absent"))
    })
  )

  test(
    "runs an edit again that was running when the commit below it was refused",
    Effect.gen(function* () {
      const { evil, release, remote } = yield* heldPush("running.git")
      const begun = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const good = yield* Effect.fork(
        Effect.either(
          remote.commitNext("main", () =>
            Effect.gen(function* () {
              yield* Deferred.succeed(begun, undefined)
              yield* Deferred.await(goOn)
              return { commit: Option.some({ message: "good", changes: [put("good")] }), result: "good" }
            })
          )
        )
      )
      yield* Deferred.await(begun)
      yield* release
      assert.isTrue(isRefusal(yield* Fiber.join(evil)))
      yield* Deferred.succeed(goOn, undefined)
      const result = yield* Fiber.join(good)
      assert.isTrue(Either.isRight(result), String(result))
    })
  )

  test(
    "does not call an edit ambiguous that wrote nothing and was judged against a commit whose outcome is unknown",
    Effect.gen(function* () {
      const { drop, evil, remote } = yield* heldPush("unknown.git")
      const judge = yield* judgeEvil(remote, Effect.fail({ _tag: "Taken" as const }))
      yield* drop
      const tagOf = (result: Either.Either<unknown, { readonly _tag: string }>) =>
        Either.match(result, { onLeft: ({ _tag }) => _tag, onRight: () => "done" })
      assert.strictEqual(tagOf(yield* Fiber.join(evil)), "AmbiguousWriteError")
      assert.strictEqual(tagOf(yield* Fiber.join(judge)), "RemoteError")
    })
  )

  const refusals = {
    "for its content": { hook: "pre-receive", script: `sleep 0.1; ${refuseEvil}`, branch: "main" },
    "for its branch, by itself": {
      hook: "update",
      script: 'sleep 0.1; [ "$1" != refs/heads/protected ] || { echo "no evil, please" >&2; exit 1; }',
      branch: "protected"
    },
    "for its branch, with all others": {
      hook: "pre-receive",
      script: 'sleep 0.1; if grep -q protected; then echo "no evil, please" >&2; exit 1; fi',
      branch: "protected"
    }
  }

  for (const [kind, refusal] of Object.entries(refusals)) {
    test(
      `fails a commit that is refused ${kind}, although others are written all the time`,
      Effect.gen(function* () {
        const backend = yield* HttpBackend.make
        const remote = yield* GitHost.scoped({ url: backend.create("busy.git") })
        yield* add(remote, "first")
        const head = Option.getOrThrow(yield* remote.head("main"))
        yield* remote.createBranch("protected", head.commit)
        hook(backend, "busy.git", refusal.script, refusal.hook)
        let written = 0
        let isRefused = false
        const most = 150
        const writer = (n: number) =>
          Effect.gen(function* () {
            while (!isRefused && written < most) yield* add(remote, `w${n}-${written++}`)
          })
        const writers = yield* Effect.fork(
          Effect.forEach([0, 1, 2, 3, 4, 5], writer, { concurrency: "unbounded", discard: true })
        )
        const evil = yield* Effect.either(add(remote, "evil", refusal.branch))
        isRefused = true
        yield* Fiber.join(writers)
        assert.isTrue(isRefusal(evil), String(evil))
        assert.isBelow(written, most)
        assert.strictEqual(backend.git("busy.git", "rev-list", "--count", "main"), String(1 + written))
      })
    )
  }

  test(
    "does not call a commit refused that the report leaves out, if a replica that is behind shows the old head",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const remote = yield* GitHost.scoped({ url: backend.create("silent.git") })
      yield* add(remote, "first")
      const before = backend.git("silent.git", "rev-parse", "main")
      backend.intercept = (request, response) => {
        if (isForwarded(request) || request.method !== "POST") return false
        void bodyOf(request).then(async (body) => {
          const { bytes, type } = await forward(backend, request, body)
          const after = backend.git("silent.git", "rev-parse", "main")
          const reply = isPush(request)
            ? "0017\x01000eunpack ok\n00000000"
            : bytes.toString("latin1").replaceAll(after, before)
          response.writeHead(200, { "content-type": type }).end(Buffer.from(reply, "latin1"))
        })
        return true
      }
      const error = yield* Effect.flip(add(remote, "second"))
      backend.intercept = undefined
      assert.strictEqual(backend.git("silent.git", "ls-tree", "--name-only", "main"), "first\nsecond")
      assert.strictEqual(error._tag, "AmbiguousWriteError", String(error))
    })
  )

  test(
    "finds a refused commit among 32 by pushing halves",
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const remote = yield* GitHost.scoped({ url: backend.create("halves.git"), pushInterval: "300 millis" })
      yield* add(remote, "first")
      hook(backend, "halves.git", refuseEvil)
      const before = backend.requests.length
      const names = Array.from({ length: 32 }, (_, n) => (n === 13 ? "evil" : `f${n}`))
      const results = yield* Effect.forEach(names, (name) => Effect.either(add(remote, name)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        names.filter((_, at) => Either.isLeft(results[at]!)),
        ["evil"]
      )
      assert.isTrue(isRefusal(results[13]!))
      const pushes = backend.requests
        .slice(before)
        .filter(({ method, path: to }) => isPush({ method, url: to }))
      // The group of all, and two for each of five halvings.
      assert.isAtMost(pushes.length, 11)
      assert.strictEqual(backend.git("halves.git", "rev-list", "--count", "main"), "32")
    })
  )
})

import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Fiber, Option, Scope } from "effect"
import type { RemoteError, ValidationError } from "../../../src/domain/errors/StoreError.js"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import { writerProcess } from "./support/processes.js"
import { assertSound, engine, git, put, readOnly, remove, temporary, write } from "./support/temporary.js"

const failure = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.either(effect), (result) =>
    Either.isLeft(result)
      ? result.left
      : assert.fail(`expected a failure, got ${JSON.stringify(result.right)}`)
  )

const reasonOf = (error: unknown) => (error as RemoteError).reason
const opened = (directory: string) => Effect.scoped(Engine.open({ directory }))

describe("bad input", () => {
  const bad = [
    "",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "a/../b",
    ".git/config",
    "a/.GIT/b",
    "git~1",
    "a\0b",
    ".git ",
    "a/.g\u200cit",
    "\ud800"
  ]
  it.scopedLive("an invalid path is a ValidationError, and nothing is written", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      for (const file of bad) {
        const error = yield* failure(write(repository, [put("fine", "1"), put(file, "1")]))
        assert.strictEqual((error as ValidationError)._tag, "ValidationError", JSON.stringify(file))
      }
      assert.isTrue(Option.isNone(yield* repository.ref("refs/heads/main")))
      yield* write(repository, [put(".gitignore", "1"), put("a\\b", "2"), put(" ", "3"), put("git~2", "4")])
      assertSound(repository.directory)
    })
  )

  it.scopedLive("a file where a directory should be, and the reverse, are refused", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      yield* write(repository, [put("a/b", "1"), put("c", "1")])
      for (const changes of [
        [put("a", "2")],
        [put("c/d", "2")],
        [put("a/b/c", "2")],
        [remove("a")],
        [remove("nothing")],
        [put("x", "1"), put("x/y", "1")],
        [put("x", "1"), put("x", "2")]
      ]) {
        assert.strictEqual(
          (yield* failure(write(repository, changes)))._tag,
          "ValidationError",
          JSON.stringify(changes)
        )
      }
      yield* write(repository, [
        remove("a/b"),
        put("a", "now a file"),
        remove("c"),
        put("c/d", "now a directory")
      ])
      assert.strictEqual(git(repository.directory, "ls-tree", "-r", "--name-only", "main"), "a\nc/d\n")
    })
  )

  it.scopedLive("branch names that Git refuses, and options as branch names", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      for (const branch of ["-x", "a..b", "a b", "a.lock", "/a", "a/", "@", "", "a^", "../../x"]) {
        assert.strictEqual(
          (yield* failure(write(repository, [put("a", "1")], { branch })))._tag,
          "ValidationError",
          branch
        )
        assert.isTrue(Option.isNone(yield* repository.resolve(branch)))
      }
      const outside = repository.updateRef("config", Option.none(), Option.none())
      assert.strictEqual(reasonOf(yield* failure(outside)), "Denied")
      yield* write(repository, [put("a", "1")], { branch: "a" })
      assert.strictEqual(
        reasonOf(yield* failure(write(repository, [put("a", "1")], { branch: "a/b" }))),
        "Denied"
      )
    })
  )

  it.scopedLive("linking an object that is missing or is not a blob", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { tree } = yield* write(repository, [put("a", "1")])
      for (const oid of ["1".repeat(40) as Oid, tree]) {
        const error = yield* failure(write(repository, [{ _tag: "Link", path: "b", oid }]))
        assert.strictEqual(error._tag, "ValidationError")
      }
    })
  )
})

describe("faults of the disk", () => {
  it.scopedLive("a missing repository, one that is not bare, one of another format", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      assert.strictEqual(reasonOf(yield* failure(opened(path.join(home, "missing")))), "Unreachable")
      fs.mkdirSync(path.join(home, "plain"))
      assert.strictEqual(reasonOf(yield* failure(opened(path.join(home, "plain")))), "Corrupt")
      fs.writeFileSync(path.join(home, "plain", "file"), "")
      const create = Effect.scoped(Engine.open({ directory: path.join(home, "plain"), create: true }))
      assert.strictEqual(reasonOf(yield* failure(create)), "Denied")
      git(home, "init", "-q", "--bare", "--object-format=sha256", "other.git")
      assert.strictEqual(reasonOf(yield* failure(opened(path.join(home, "other.git")))), "Unsupported")
    })
  )

  it.scopedLive("a directory that disappears while the repository is open", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ timeout: 200 })
      yield* write(repository, [put("a", "1")])
      fs.rmSync(repository.directory, { recursive: true })
      assert.strictEqual(reasonOf(yield* failure(write(repository, [put("a", "2")]))), "Unreachable")
      assert.strictEqual(reasonOf(yield* failure(repository.ref("refs/heads/main"))), "Unreachable")
      assert.strictEqual(reasonOf(yield* failure(repository.refs("refs/heads/"))), "Unreachable")
      assert.isFalse(fs.existsSync(repository.directory))
    })
  )

  it.scopedLive("a read-only repository can be read, and a write reports it", (context) =>
    Effect.gen(function* () {
      const directory = path.join(yield* temporary, "sealed.git")
      const commit = yield* Effect.scoped(
        Effect.flatMap(Engine.open({ directory, create: true }), (made) => write(made, [put("a", "1")]))
      )
      if (!(yield* readOnly(directory))) context.skip()
      const repository = yield* Engine.open({ directory })
      assert.isTrue(Option.isSome(yield* repository.lookup(commit.commit, "a")))
      assert.strictEqual(reasonOf(yield* failure(write(repository, [put("a", "2")]))), "Denied")
      assert.strictEqual(reasonOf(yield* failure(repository.writeObject("blob", Buffer.from("x")))), "Denied")
      assert.strictEqual(git(directory, "rev-parse", "main").trim(), commit.commit)
      const elsewhere = Effect.scoped(Engine.open({ directory: "/sys/chainstore/x.git", create: true }))
      assert.include(["Denied", "Unreachable"], reasonOf(yield* failure(elsewhere)))
    })
  )

  it.scopedLive("an invalid ref, a missing object and a damaged object are reported as corruption", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { blobs, commit } = yield* write(repository, [put("a", "one"), put("d/b", "two")])
      const alone = yield* repository.writeObject("blob", Buffer.from("three"))
      const file = path.join(repository.directory, "objects", alone.slice(0, 2), alone.slice(2))
      fs.chmodSync(file, 0o644)
      fs.writeFileSync(file, "")
      assert.strictEqual(reasonOf(yield* failure(repository.object(alone))), "Corrupt")
      fs.writeFileSync(file, "damaged")
      assert.strictEqual(reasonOf(yield* failure(repository.object(alone))), "Corrupt")
      fs.rmSync(file)
      const pack = fs
        .readdirSync(path.join(repository.directory, "objects/pack"))
        .find((name) => name.endsWith(".pack"))!
      const packed = path.join(repository.directory, "objects/pack", pack)
      const bytes = fs.readFileSync(packed)
      fs.chmodSync(packed, 0o644)
      fs.writeFileSync(
        packed,
        bytes.map((byte, i) => (i > 11 ? byte ^ 0x55 : byte))
      )
      const again = yield* Engine.open({ directory: repository.directory }).pipe(Effect.either)
      const problem = Either.isLeft(again) ? again.left : yield* failure(again.right.object(blobs.get("a")!))
      assert.strictEqual(reasonOf(problem), "Corrupt")
      fs.writeFileSync(packed, bytes)
      fs.writeFileSync(path.join(repository.directory, "refs/heads/main"), "")
      assert.strictEqual(reasonOf(yield* failure(write(repository, [put("a", "2")]))), "Corrupt")
      fs.writeFileSync(path.join(repository.directory, "refs/heads/main"), `${commit}\n`)
      yield* write(repository, [put("a", "2")])
      assertSound(repository.directory)
    })
  )
})

describe("locks", () => {
  it.scopedLive("the lock of another program is awaited, then reported, and never removed", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ timeout: 150 })
      yield* write(repository, [put("a", "1")])
      const lock = path.join(repository.directory, "refs/heads/main.lock")
      fs.writeFileSync(lock, "")
      const error = yield* failure(write(repository, [put("a", "2")]))
      assert.strictEqual(reasonOf(error), "Locked")
      assert.include(error.message, lock)
      assert.isTrue(fs.existsSync(lock))
      const waiting = yield* Effect.fork(write(repository, [put("a", "3")]))
      yield* Effect.sleep(40)
      fs.rmSync(lock)
      yield* Fiber.join(waiting)
      assertSound(repository.directory)
    })
  )

  it.scopedLive("a dead process's lock is removed, a living one's is not", () =>
    Effect.gen(function* () {
      const directory = path.join(yield* temporary, "locked.git")
      yield* Effect.scoped(
        Effect.flatMap(Engine.open({ directory, create: true }), (made) => write(made, [put("counter", "1")]))
      )
      const lock = path.join(directory, "refs/heads/main.lock")
      const scope = yield* Scope.make()
      const writer = yield* Scope.extend(writerProcess(directory, "w", { writes: 1 }), scope)
      yield* writer.ready
      const own = fs.readdirSync(path.join(directory, "chainstore")).filter((name) => name.includes("~"))
      const owner = path.join(directory, "chainstore", own[0]!)
      fs.writeFileSync(path.join(owner, "held"), "")
      yield* writer.exit
      assert.strictEqual(own.length, 1)
      fs.mkdirSync(owner, { recursive: true })
      fs.writeFileSync(path.join(owner, "held"), "")
      const others = ["chainstore/maintenance.lock", "packed-refs.lock", "objects/pack/pack-1.keep"]
      for (const file of [lock, ...others.map((name) => path.join(directory, name))]) {
        fs.linkSync(path.join(owner, "held"), file)
      }
      fs.writeFileSync(path.join(directory, "HEAD.lock"), "")
      const repository = yield* Engine.open({ directory, timeout: 200 })
      assert.isFalse(fs.existsSync(lock), "its process is dead")
      assert.isFalse(fs.existsSync(owner))
      for (const name of others) assert.isFalse(fs.existsSync(path.join(directory, name)), name)
      assert.isTrue(fs.existsSync(path.join(directory, "HEAD.lock")), "nobody knows whose this is")
      const living = fs.readdirSync(path.join(directory, "chainstore")).find((name) => name.includes("~"))!
      fs.writeFileSync(path.join(directory, "chainstore", living, "held"), "")
      fs.linkSync(path.join(directory, "chainstore", living, "held"), lock)
      assert.strictEqual(reasonOf(yield* failure(write(repository, [put("a", "1")]))), "Locked")
      fs.rmSync(lock)
      yield* write(repository, [put("a", "1")])
      yield* Scope.close(scope, Exit.void)
    })
  )
})

describe("the queue", () => {
  it.scopedLive("a build that fails or is interrupted does not affect other commits", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const blocked = yield* Deferred.make<void>()
      const stuck = yield* Effect.fork(
        repository.commitNext("main", () =>
          Effect.zipRight(Deferred.succeed(blocked, undefined), Effect.never)
        )
      )
      yield* Deferred.await(blocked)
      const others = yield* Effect.fork(
        Effect.forEach(
          Array.from({ length: 20 }, (_, i) => i),
          (i) =>
            i % 4 === 0
              ? Effect.ignore(repository.commitNext<void, string>("main", () => Effect.fail("refused")))
              : Effect.orDie(Effect.asVoid(write(repository, [put(`f${i}`, `${i}`)]))),
          { concurrency: "unbounded" }
        )
      )
      yield* Fiber.interrupt(stuck)
      yield* Fiber.join(others)
      assert.strictEqual(git(repository.directory, "rev-list", "--count", "main").trim(), "15")
      assertSound(repository.directory)
    })
  )

  it.scopedLive(
    "when a flush loses a race, all commits that are staged on it fail, and later writes succeed",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine()
        const first = yield* write(repository, [put("a", "1")])
        const elsewhere = git(
          repository.directory,
          "commit-tree",
          "-m",
          "elsewhere",
          "-p",
          first.commit,
          first.tree
        ).trim()
        const results = yield* Effect.forEach(
          Array.from({ length: 30 }, (_, i) => i),
          (i) =>
            Effect.either(
              repository.commitNext("main", () => {
                if (i === 10) git(repository.directory, "update-ref", "refs/heads/main", elsewhere)
                return Effect.succeed({
                  commit: Option.some({ message: `m${i}`, changes: [put(`f${i}`, "x")] }),
                  result: i
                })
              })
            ),
          { concurrency: "unbounded" }
        )
        const made = results.filter(Either.isRight).length
        assert.isTrue(results.filter(Either.isLeft).every(({ left }) => left._tag === "RefMoved"))
        const commits = git(repository.directory, "rev-list", "main").trim().split("\n")
        for (const result of results) {
          if (Either.isLeft(result)) continue
          assert.include(commits, Option.getOrThrow(result.right.committed).commit)
        }
        assert.include(commits, elsewhere)
        assert.strictEqual(commits.length, 2 + made)
        yield* write(repository, [put("after", "1")])
        assertSound(repository.directory)
      })
  )

  it.scopedLive("exclusive access begins after all commits are flushed and while no writer runs", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const writers = yield* Effect.fork(
        Effect.forEach(
          Array.from({ length: 40 }, (_, i) => i),
          (i) => write(repository, [put(`f${i}`, `${i}`)]),
          { concurrency: 8 }
        )
      )
      yield* Effect.sleep(5)
      yield* repository.withExclusiveAccess(
        Effect.gen(function* () {
          const before = git(repository.directory, "for-each-ref")
          yield* Effect.sleep(30)
          assert.strictEqual(git(repository.directory, "for-each-ref"), before)
          assert.deepStrictEqual(
            fs.readdirSync(path.join(repository.directory, "refs/heads")).filter((n) => n.endsWith(".lock")),
            []
          )
        })
      )
      yield* Fiber.join(writers)
      assert.strictEqual(git(repository.directory, "rev-list", "--count", "main").trim(), "40")
    })
  )

  it.scopedLive("closing the repository flushes, and leaves no temporary files", () =>
    Effect.gen(function* () {
      const directory = path.join(yield* temporary, "closed.git")
      const scope = yield* Scope.make()
      const repository = yield* Scope.extend(Engine.open({ directory, create: true }), scope)
      const writes = yield* Effect.fork(
        Effect.forEach(
          Array.from({ length: 20 }, (_, i) => i),
          (i) => write(repository, [put(`f${i}`, `${i}`)]),
          { concurrency: "unbounded" }
        )
      )
      yield* Effect.yieldNow()
      yield* Scope.close(scope, Exit.void)
      const exit = yield* Fiber.await(writes)
      const commits = fs.existsSync(path.join(directory, "refs/heads/main"))
        ? Number(git(directory, "rev-list", "--count", "main"))
        : 0
      if (Exit.isSuccess(exit)) assert.strictEqual(commits, 20)
      assert.deepStrictEqual(fs.readdirSync(path.join(directory, "chainstore")), [])
      assert.strictEqual(reasonOf(yield* failure(write(repository, [put("late", "1")]))), "Unreachable")
      assertSound(directory)
    })
  )
})

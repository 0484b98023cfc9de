import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, Option } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { refusing, withReplaced } from "./support/replacedMethod.js"
import { assertSound, engine, git, put, write } from "./support/temporary.js"

/** Runs an effect while no pack can be written. */
const withFullDisk = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  withReplaced({ writevSync: refusing("ENOSPC") }, effect)

/** Runs an effect in the turn of `main`, with the newest commit, on its way or not. */
const onNewest = <A, E>(repository: GitRepository, use: (commit: Oid) => Effect.Effect<A, E>) =>
  Effect.map(
    repository.commitNext("main", (head) =>
      Effect.map(use(Option.getOrThrow(head).commit), (result) => ({ commit: Option.none(), result }))
    ),
    ({ result }) => result
  )

it.scopedLive("a branch that is broken meanwhile fails alone", () =>
  Effect.gen(function* () {
    const repository = yield* engine()
    const { directory } = repository
    const { commit } = yield* write(repository, [put("a", "1")])
    const oid = git(directory, "hash-object", "--stdin", "--no-filters").trim() as Oid
    const breaking = repository.commitNext("other", () =>
      Effect.gen(function* () {
        yield* Effect.repeat(repository.objectInfo(oid), { until: Option.isSome })
        fs.writeFileSync(`${directory}/refs/heads/main`, "")
        const commit = { message: "m", changes: [put("a", "2")] }
        return { commit: Option.some(commit), result: undefined }
      })
    )
    const [broken, sound] = yield* Effect.all(
      [Effect.either(write(repository, [put("empty", "")])), Effect.either(breaking)],
      { concurrency: "unbounded" }
    )
    assert.isTrue(Either.isLeft(broken))
    assert.isTrue(Either.isRight(sound))
    fs.writeFileSync(`${directory}/refs/heads/main`, `${commit}\n`)
    assertSound(directory)
  })
)

it.scopedLive("a branch that somebody has locked holds up no other branch", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ timeout: 20_000 })
    const { directory } = repository
    yield* write(repository, [put("a", "1")])
    fs.writeFileSync(`${directory}/refs/heads/main.lock`, "")
    const waiting = yield* Effect.fork(
      Effect.forEach([1, 2, 3], (n) => write(repository, [put(`${n}`, "x")]), { concurrency: "unbounded" })
    )
    yield* Effect.forEach([1, 2, 3], (n) => write(repository, [put("b", `${n}`)], { branch: "other" })).pipe(
      Effect.timeout("5 seconds")
    )
    assert.isNull(waiting.unsafePoll())
    fs.rmSync(`${directory}/refs/heads/main.lock`)
    yield* Effect.timeout(Fiber.join(waiting), "5 seconds")
    assert.strictEqual(git(directory, "rev-list", "--count", "main").trim(), "4")
    assertSound(directory)
  })
)

it.scopedLive("the throttle is awaited no more once all commits that waited for it are withdrawn", () =>
  Effect.gen(function* () {
    const awaited = yield* Deferred.make<void>()
    const abandoned = yield* Deferred.make<void>()
    const throttle = Effect.zipRight(Deferred.succeed(awaited, undefined), Effect.never).pipe(
      Effect.onInterrupt(() => Deferred.succeed(abandoned, undefined))
    )
    const repository = yield* engine({ throttle })
    const withdrawn = yield* Effect.fork(write(repository, [put("a", "1")]))
    yield* Deferred.await(awaited)
    yield* Fiber.interrupt(withdrawn)
    yield* Effect.timeout(Deferred.await(abandoned), "3 seconds")
  })
)

it.scopedLive("a commit does not wait for the refused edits of other branches, which follow each other", () =>
  Effect.gen(function* () {
    const repository = yield* engine()
    yield* write(repository, [put("a", "1")])
    const begun = yield* Deferred.make<void>()
    const refused = (branch: number) =>
      Effect.ignore(
        repository.commitNext(`refused${branch}`, () =>
          Deferred.succeed(begun, undefined).pipe(
            // The edits end at different times, so that one of them is always running.
            Effect.zipRight(Effect.repeatN(Effect.sleep(1), branch % 4)),
            Effect.zipRight(Effect.fail("no"))
          )
        )
      )
    const refusals = yield* Effect.fork(
      Effect.forEach(
        Array.from({ length: 16 }, (_, branch) => branch),
        (branch) => Effect.forever(refused(branch)),
        { concurrency: "unbounded" }
      )
    )
    yield* Deferred.await(begun)
    const written = yield* Effect.fork(write(repository, [put("b", "1")]))
    const isWritten = yield* Effect.raceFirst(
      Effect.as(Fiber.join(written), true),
      Effect.delay(Effect.succeed(false), "3 seconds")
    )
    yield* Fiber.interrupt(refusals)
    yield* Fiber.join(written)
    assert.isTrue(isWritten)
  })
)

describe("a commit that is still on its way", () => {
  it.scopedLive("is not in another branch before it is durable", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const first = yield* write(repository, [put("a", "1")])
      const [, copied] = yield* withFullDisk(
        Effect.all(
          [
            Effect.either(write(repository, [put("a", "2")])),
            Effect.either(
              onNewest(repository, (commit) => {
                assert.notStrictEqual(commit, first.commit)
                return repository.updateRef("refs/heads/copy", Option.none(), Option.some(commit))
              })
            )
          ],
          { concurrency: "unbounded" }
        )
      )
      assert.isTrue(Either.isLeft(copied))
      assert.isTrue(Option.isNone(yield* repository.ref("refs/heads/copy")))
      assertSound(repository.directory)
    })
  )

  it.scopedLive("may fail without another one that links a blob of it", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { directory } = repository
      const { commit, tree } = yield* write(repository, [put("a", "1")])
      const pushed = git(directory, "commit-tree", "-m", "pushed", "-p", commit, tree).trim()
      const oid = git(directory, "hash-object", "--stdin", "--no-filters").trim() as Oid
      const linked = repository.commitNext("other", () =>
        Effect.gen(function* () {
          yield* Effect.repeat(repository.objectInfo(oid), { until: Option.isSome })
          git(directory, "update-ref", "refs/heads/main", pushed)
          const change = { _tag: "Link", path: "linked", oid } as const
          return { commit: Option.some({ message: "link", changes: [change] }), result: undefined }
        })
      )
      const [lost, made] = yield* Effect.all(
        [Effect.either(write(repository, [put("empty", "")])), Effect.either(linked)],
        { concurrency: "unbounded" }
      )
      assert.isTrue(Either.isLeft(lost))
      assertSound(directory)
      assert.isTrue(Either.isRight(made))
    })
  )
})

it.scopedLive("a commit of very many files lets others run meanwhile", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ durability: "none", maintenance: false })
    let turns = 0
    let done = false
    const tick = () => {
      turns++
      if (!done) setTimeout(tick, 0)
    }
    const changes = Array.from({ length: 30_000 }, (_, n) => put(`d/${n % 100}/${n}`, `${n}`))
    setTimeout(tick, 0)
    const { commit } = yield* write(repository, changes)
    done = true
    assert.isAtLeast(turns, 5)
    assert.strictEqual(
      git(repository.directory, "ls-tree", "-r", "--name-only", commit).split("\n").length,
      30_001
    )
  })
)

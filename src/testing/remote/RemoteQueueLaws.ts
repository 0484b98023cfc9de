import { Deferred, Effect, Either, Exit, Fiber, Option } from "effect"
import type { GitRemoteService, Head } from "../../store/remote/GitRemote.js"
import { assert } from "../store/LawAssert.js"
import {
  assertTag,
  bytes,
  failureOf,
  filesOf,
  headOf,
  put,
  readAt,
  remove,
  text,
  write,
  writeNext
} from "./RemoteCommits.js"
import type { RemoteContract } from "./RemoteLaw.js"
import { deleteFile, putFile } from "./RemoteSingleFile.js"

/** The commit that was made, as another client sees it. */
const madeBy = (
  remote: GitRemoteService,
  { committed }: { readonly committed: Option.Option<{ readonly commit: string }> }
) => Effect.map(remote.resolve(Option.getOrThrow(committed).commit), Option.getOrThrow)

const countUp = (remote: GitRemoteService, path: string) => (head: Option.Option<Head>) =>
  Effect.gen(function* () {
    const file = Option.isNone(head) ? Option.none() : yield* remote.file(head.value, path)
    const count = Option.match(file, { onNone: () => 0, onSome: (blob) => Number(text(blob.content)) })
    return [put(path, `${count + 1}`)]
  })

export const queues = ({ promises, sizes, test }: RemoteContract): void => {
  test(
    "commitNext: every write its own commit, none lost, each build sees those before",
    "Creates the next commit of a branch. Waits until no other caller of this process commits to the branch, runs `edit` with a snapshot of the parent of the new commit, and creates the commit.",
    ({ remote }) =>
      Effect.gen(function* () {
        const fibres = sizes.fibres
        yield* Effect.forEach(
          Array.from({ length: fibres }, (_, index) => index),
          (index) =>
            writeNext(
              remote,
              (head) =>
                Effect.map(countUp(remote, "count")(head), (changes) => [
                  ...changes,
                  put(`own/${index}`, `${index}`)
                ]),
              { message: `write ${index}` }
            ),
          { concurrency: "unbounded", discard: true }
        )
        const head = yield* headOf(remote)
        assert.deepStrictEqual(yield* readAt(remote, head, "count"), Option.some(`${fibres}`))
        assert.strictEqual((yield* filesOf(remote, head)).size, fibres + 1)
        const messages: Array<string> = []
        let at: Head = head
        for (let count = fibres; count > 0; count--) {
          assert.deepStrictEqual(yield* readAt(remote, at, "count"), Option.some(`${count}`))
          const info = Option.getOrThrow(yield* remote.commitInfo(at.commit))
          messages.push(info.message.trimEnd())
          assert.strictEqual(info.parents.length, count > 1 || !promises.firstIsRoot ? 1 : 0)
          if (count > 1) at = Option.getOrThrow(yield* remote.commitInfo(info.parents[0]!))
        }
        assert.strictEqual(new Set(messages).size, fibres)
      })
  )

  test(
    "commitNext: two clients of one repository lose nothing",
    "Fails with `RefMoved` if something that the edit has read has changed: call `commitNext` again.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        const each = Math.min(12, sizes.fibres)
        yield* Effect.forEach(
          Array.from({ length: each * 2 }, (_, index) => (index % 2 === 0 ? remote : other)),
          (client) => writeNext(client, countUp(client, "count")),
          { concurrency: "unbounded", discard: true }
        )
        const head = yield* headOf(other)
        assert.deepStrictEqual(yield* readAt(other, head, "count"), Option.some(`${each * 2}`))
      })
  )

  test(
    "commitNext: what is answered is what was committed, and is durable for others",
    "Succeeds when the commit is durable. Commits of waiting callers may share one flush.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        const answers = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, index) => index),
          (index) =>
            Effect.flatMap(
              remote.commitNext("main", () =>
                Effect.succeed({
                  commit: Option.some({ message: `m ${index}`, changes: [put(`f${index}`, `${index}`)] }),
                  result: index
                })
              ),
              ({ committed, result }) =>
                Effect.gen(function* () {
                  const commit = Option.getOrThrow(committed)
                  const visible = yield* headOf(other)
                  const reached = yield* other.isAncestor(commit.commit, visible.commit)
                  return { made: commit, result, reached }
                })
            ),
          { concurrency: "unbounded" }
        )
        for (const { made, reached, result } of answers) {
          assert.isTrue(reached, "an answered commit is on the branch")
          assert.deepStrictEqual(yield* readAt(other, made.commit, `f${result}`), Option.some(`${result}`))
          assert.isTrue(made.blobs.has(`f${result}`))
        }
      })
  )

  test(
    "commitNext: a build that gives nothing, fails, dies or is interrupted leaves its neighbours alone",
    "An edit without a commit writes nothing. `edit` may run more than once; only its last result counts.",
    ({ remote }) =>
      Effect.gen(function* () {
        const first = yield* write(remote, [put("base", "1")])
        const idle = yield* remote.commitNext("main", ({ head }) =>
          Effect.map(head, (at) => ({ commit: Option.none(), result: Option.getOrThrow(at).commit }))
        )
        assert.isTrue(Option.isNone(idle.committed))
        assert.strictEqual(idle.result, first.commit)
        assert.strictEqual((yield* headOf(remote)).commit, first.commit)

        const entered = yield* Deferred.make<void>()
        const hanging = yield* Effect.fork(
          remote.commitNext("main", () => Effect.zipRight(Deferred.succeed(entered, undefined), Effect.never))
        )
        yield* Deferred.await(entered)
        const neighbours = yield* Effect.fork(
          Effect.forEach(
            Array.from({ length: 12 }, (_, index) => index),
            (index) =>
              Effect.exit(
                remote.commitNext("main", () => {
                  if (index % 4 === 1) return Effect.fail("no" as const)
                  if (index % 4 === 2) return Effect.die(new Error("a bug in build"))
                  if (index % 4 === 3) return Effect.interrupt
                  return Effect.succeed({
                    commit: Option.some({ message: `m ${index}`, changes: [put(`n${index}`, "1")] }),
                    result: index
                  })
                })
              ),
            { concurrency: "unbounded" }
          )
        )
        yield* Fiber.interrupt(hanging)
        const exits = yield* Fiber.join(neighbours)
        exits.forEach((exit, index) => {
          assert.strictEqual(Exit.isSuccess(exit), index % 4 === 0, `neighbour ${index}`)
          if (index % 4 === 1) assert.deepStrictEqual(exit, Exit.fail("no" as const))
        })
        const files = yield* filesOf(remote, yield* headOf(remote))
        assert.deepStrictEqual(Array.from(files.keys()), ["base", "n0", "n4", "n8"])
      })
  )

  test(
    "commitNext: a commit that cannot be made leaves its neighbours alone",
    "Creates the next commit of a branch. Waits until no other caller of this process commits to the branch, runs `edit` with a snapshot of the parent of the new commit, and creates the commit.",
    ({ remote }) =>
      Effect.gen(function* () {
        yield* write(remote, [put("base", "1")])
        const exits = yield* Effect.forEach(
          Array.from({ length: 9 }, (_, index) => index),
          (index) =>
            Effect.either(
              remote.commitNext("main", () =>
                Effect.succeed({
                  commit: Option.some({
                    message: `m ${index}`,
                    changes: [index % 3 === 1 ? remove(`missing${index}`) : put(`n${index}`, "1")]
                  }),
                  result: undefined
                })
              )
            ),
          { concurrency: "unbounded" }
        )
        exits.forEach((exit, index) => {
          if (index % 3 === 1) assertTag(Either.isLeft(exit) ? exit.left : "a success", "ValidationError")
          else assert.isTrue(Either.isRight(exit), `neighbour ${index}: ${JSON.stringify(exit)}`)
        })
        assert.strictEqual((yield* filesOf(remote, yield* headOf(remote))).size, 7)
      })
  )

  test(
    "commitNext: somebody else's commit is met, never overwritten",
    "Fails with `RefMoved` if something that the edit has read has changed: call `commitNext` again.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        yield* write(remote, [put("base", "1")])
        let rounds = 0
        const written = yield* writeNext(remote, () =>
          Effect.gen(function* () {
            rounds++
            if (rounds === 1) yield* write(other, [put("theirs", "1")])
            return [put("ours", `${rounds}`)]
          })
        )
        assert.isAtLeast(rounds, 2)
        const files = yield* filesOf(other, yield* madeBy(other, written))
        assert.deepStrictEqual(Object.fromEntries(files), { base: "1", ours: `${rounds}`, theirs: "1" })
        const after = yield* writeNext(remote, countUp(remote, "count"))
        assert.isTrue(Option.isSome(after.committed))
      })
  )

  if (promises.movedBackIsNoticed) {
    test(
      "a branch moved back is noticed",
      "Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist; the repository may be empty. Fails with `RefMoved` if the branch points to another commit. When it succeeds, the commit is durable and visible.",
      ({ force, remote }) =>
        Effect.gen(function* () {
          const first = yield* write(remote, [put("a", "1")])
          const second = yield* write(remote, [put("a", "2")])
          yield* force("main", first.commit)
          yield* remote.invalidate
          const failure = yield* failureOf(
            remote.commit("main", Option.some(second), { message: "on what was", changes: [put("b", "1")] })
          )
          assertTag(failure, "RefMoved")
          assert.strictEqual((yield* headOf(remote)).commit, first.commit)
          const next = yield* writeNext(remote, countUp(remote, "count"))
          const files = yield* filesOf(remote, yield* madeBy(remote, next))
          assert.deepStrictEqual(Object.fromEntries(files), { a: "1", count: "1" })
        })
    )
  }

  test(
    "commitNext: a file is written only as it was seen",
    "Fails with `RefMoved` if something that the edit has read has changed: call `commitNext` again.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        yield* write(remote, [put("seed", "1")])
        const written = yield* putFile(remote, "main", "d/a", bytes("1"), Option.none(), { message: "make" })
        const blob = Option.getOrThrow(written.blob)
        assert.strictEqual((yield* headOf(other)).commit, written.commit)
        const again = putFile(remote, "main", "d/a", bytes("2"), Option.none(), { message: "make again" })
        assertTag(yield* failureOf(again), "ConflictError")
        yield* write(other, [put("elsewhere", "1")])
        const updated = yield* putFile(remote, "main", "d/a", bytes("2"), Option.some(blob), {
          message: "update"
        })
        const stale = putFile(remote, "main", "d/a", bytes("3"), Option.some(blob), { message: "stale" })
        assertTag(yield* failureOf(stale), "ConflictError")
        assertTag(
          yield* failureOf(deleteFile(remote, "main", "d/a", blob, { message: "stale delete" })),
          "ConflictError"
        )
        assert.deepStrictEqual(yield* readAt(other, yield* headOf(other), "d/a"), Option.some("2"))
        const gone = yield* deleteFile(remote, "main", "d/a", Option.getOrThrow(updated.blob), {
          message: "delete"
        })
        assert.isTrue(Option.isNone(gone.blob))
        const files = yield* filesOf(other, yield* headOf(other))
        assert.deepStrictEqual(Object.fromEntries(files), { elsewhere: "1", seed: "1" })
      })
  )
}

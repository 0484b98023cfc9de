import { Effect, Either, Fiber, Option } from "effect"
import type { Head } from "../../store/remote/GitRemote.js"
import { assert } from "../store/LawAssert.js"
import {
  assertMoved,
  assertTag,
  bytes,
  failureOf,
  filesOf,
  headOf,
  put,
  readAt,
  remove,
  write,
  writeNext
} from "./RemoteCommits.js"
import type { RemoteContract } from "./RemoteLaw.js"
import { deleteFile, putFile } from "./RemoteSingleFile.js"

export const races = ({ sizes, test }: RemoteContract): void => {
  test(
    "a commit on anything but the branch's head is refused, and says where the branch is",
    "Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist; the repository may be empty. Fails with `RefMoved` if the branch points to another commit. When it succeeds, the commit is durable and visible.",
    ({ remote }) =>
      Effect.gen(function* () {
        const first = yield* write(remote, [put("a", "1")])
        const second = yield* write(remote, [put("a", "2")])
        const stale = yield* failureOf(
          remote.commit("main", Option.some(first), { message: "stale", changes: [put("a", "3")] })
        )
        assertMoved(stale, "main")
        if (stale._tag === "RefMoved") assert.deepStrictEqual(stale.actual, Option.some(second.commit))
        const fresh = yield* failureOf(
          remote.commit("main", Option.none(), { message: "first?", changes: [put("a", "3")] })
        )
        assertTag(fresh, "RefMoved")
        const gone = yield* failureOf(
          remote.commit("gone", Option.some(second), { message: "gone", changes: [put("a", "3")] })
        )
        assertMoved(gone, "gone")
        assert.isTrue(Option.isNone(yield* remote.head("gone")))
        assert.strictEqual((yield* headOf(remote)).commit, second.commit)
      })
  )

  test(
    "of writers that race from one head exactly one wins",
    "Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist; the repository may be empty. Fails with `RefMoved` if the branch points to another commit. When it succeeds, the commit is durable and visible.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        for (const start of ["absent", "present"]) {
          if (start === "present") yield* write(remote, [put("base", "1")], { branch: "present" })
          const head = yield* remote.head(start)
          const results = yield* Effect.forEach(
            Array.from({ length: 12 }, (_, index) => index),
            (index) =>
              Effect.either(
                (index % 2 === 0 ? remote : other).commit(start, head, {
                  message: `writer ${index}`,
                  changes: [put("winner", `${index}`)]
                })
              ),
            { concurrency: "unbounded" }
          )
          const won = results.flatMap((result, index) => (Either.isRight(result) ? [index] : []))
          assert.strictEqual(won.length, 1, start)
          for (const result of results) if (Either.isLeft(result)) assertTag(result.left, "RefMoved")
          const now = yield* headOf(other, start)
          assert.deepStrictEqual(yield* readAt(other, now, "winner"), Option.some(`${won[0]}`))
        }
      })
  )

  test(
    "a path deleted under an update is not brought back",
    "Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist; the repository may be empty. Fails with `RefMoved` if the branch points to another commit. When it succeeds, the commit is durable and visible.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        const first = yield* write(remote, [put("a", "1"), put("b", "1")])
        yield* write(other, [remove("a")])
        const failure = yield* failureOf(
          remote.commit("main", Option.some(first), { message: "update a", changes: [put("a", "2")] })
        )
        assertTag(failure, "RefMoved")
        const blob = first.blobs.get("a")!
        for (const write of [
          putFile(remote, "main", "a", bytes("2"), Option.some(blob), { message: "update a" }),
          deleteFile(remote, "main", "a", blob, { message: "delete a" })
        ]) {
          assertTag(yield* failureOf(write), "ConflictError")
        }
        const files = yield* filesOf(other, yield* headOf(other))
        assert.deepStrictEqual(Object.fromEntries(files), { b: "1" })
      })
  )

  test(
    "a write that is interrupted at any point happened as a whole or not at all",
    "an interrupted write takes effect completely or not at all.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        let last: Head = yield* write(remote, [put("count", "0"), put("twin", "0")])
        let happened = 0
        for (let round = 1; round <= sizes.interruptions; round++) {
          const changes = [put("count", `${round}`), put("twin", `${round}`)]
          const attempt: Effect.Effect<unknown, unknown> =
            round % 2 === 0
              ? remote.commit("main", Option.some(last), { message: `round ${round}`, changes })
              : writeNext(remote, () => Effect.succeed(changes))
          const fiber = yield* Effect.fork(attempt)
          for (let yields = 0; yields < round % 12; yields++) yield* Effect.yieldNow()
          if (round > 12) yield* Effect.sleep((sizes.interruptWithin * round) / sizes.interruptions)
          yield* Fiber.interrupt(fiber)
          const head = yield* headOf(other)
          const files = yield* filesOf(other, head)
          assert.strictEqual(files.get("count"), files.get("twin"))
          if (head.commit !== last.commit) {
            assert.strictEqual(files.get("count"), `${round}`)
            const info = Option.getOrThrow(yield* other.commitInfo(head.commit))
            assert.deepStrictEqual(info.parents, [last.commit])
            happened++
          }
          last = yield* headOf(remote)
          assert.strictEqual(last.commit, head.commit)
        }
        const after = yield* writeNext(remote, () => Effect.succeed([put("after", `${happened}`)]))
        assert.isTrue(Option.isSome(after.committed), "the queue goes on")
      })
  )
}

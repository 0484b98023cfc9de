import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Fiber, Option } from "effect"
import type { GitRemoteService, Head } from "../../src/store/remote/GitRemote.js"
import { deleteFile, putFile } from "../support/singleFile.js"
import type { Contract } from "./GitRemoteContract.js"
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
} from "./GitRemoteSupport.js"

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

export const races = ({ promises, sizes, test }: Contract) =>
  describe("races", () => {
    test("a commit on anything but the branch's head is refused, and says where the branch is", ({
      remote
    }) =>
      Effect.gen(function* () {
        const first = yield* write(remote, [put("a", "1")])
        const second = yield* write(remote, [put("a", "2")])
        const stale = yield* failureOf(
          remote.commit("main", Option.some(first), { message: "stale", changes: [put("a", "3")] })
        )
        assertTag(stale, "RefMoved")
        if (stale._tag === "RefMoved") assert.deepStrictEqual(stale.actual, Option.some(second.commit))
        const fresh = yield* failureOf(
          remote.commit("main", Option.none(), { message: "first?", changes: [put("a", "3")] })
        )
        assertTag(fresh, "RefMoved")
        const gone = yield* failureOf(
          remote.commit("gone", Option.some(second), { message: "gone", changes: [put("a", "3")] })
        )
        assertTag(gone, "RefMoved")
        assert.isTrue(Option.isNone(yield* remote.head("gone")))
        assert.strictEqual((yield* headOf(remote)).commit, second.commit)
      }))

    test("of writers that race from one head exactly one wins", ({ another, remote }) =>
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
      }))

    test("commitNext: every write its own commit, none lost, each build sees those before", ({ remote }) =>
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
      }))

    test("commitNext: two clients of one repository lose nothing", ({ another, remote }) =>
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
      }))

    test("commitNext: what is answered is what was committed, and is durable for others", ({
      another,
      remote
    }) =>
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
                  const made = Option.getOrThrow(committed)
                  const visible = yield* headOf(other)
                  const reached = yield* other.isAncestor(made.commit, visible.commit)
                  return { made, result, reached }
                })
            ),
          { concurrency: "unbounded" }
        )
        for (const { made, reached, result } of answers) {
          assert.isTrue(reached, "an answered commit is on the branch")
          assert.deepStrictEqual(yield* readAt(other, made.commit, `f${result}`), Option.some(`${result}`))
          assert.isTrue(made.blobs.has(`f${result}`))
        }
      }))

    test("commitNext: a build that gives nothing, fails, dies or is interrupted leaves its neighbours alone", ({
      remote
    }) =>
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
      }))

    test("commitNext: a commit that cannot be made leaves its neighbours alone", ({ remote }) =>
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
      }))

    test("commitNext: somebody else's commit is met, never overwritten", ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        yield* write(remote, [put("base", "1")])
        let rounds = 0
        const made = yield* writeNext(remote, () =>
          Effect.gen(function* () {
            rounds++
            if (rounds === 1) yield* write(other, [put("theirs", "1")])
            return [put("ours", `${rounds}`)]
          })
        )
        assert.isAtLeast(rounds, 2)
        const files = yield* filesOf(other, yield* madeBy(other, made))
        assert.deepStrictEqual(Object.fromEntries(files), { base: "1", ours: `${rounds}`, theirs: "1" })
        const after = yield* writeNext(remote, countUp(remote, "count"))
        assert.isTrue(Option.isSome(after.committed))
      }))

    if (promises.movedBackIsNoticed) {
      test("a branch moved back is noticed", ({ force, remote }) =>
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
        }))
    }

    test("a path deleted under an update is not brought back", ({ another, remote }) =>
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
      }))

    test("commitNext: a file is written only as it was seen", ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        yield* write(remote, [put("seed", "1")])
        const made = yield* putFile(remote, "main", "d/a", bytes("1"), Option.none(), { message: "make" })
        const blob = Option.getOrThrow(made.blob)
        assert.strictEqual((yield* headOf(other)).commit, made.commit)
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
      }))

    test("a write that is interrupted at any point happened as a whole or not at all", ({
      another,
      remote
    }) =>
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
      }))
  })

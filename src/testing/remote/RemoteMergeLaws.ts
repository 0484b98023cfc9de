import { Effect, Either, Option, Stream } from "effect"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { Change, GitRemoteService } from "../../store/remote/GitRemote.js"
import { assert } from "../store/LawAssert.js"
import { assertTag, failureOf, filesOf, headOf, put, remove, write } from "./RemoteCommits.js"
import type { RemoteContract } from "./RemoteLaw.js"

const sentence =
  "The `merges` of the commit become its further parents; a merged commit that is not in the repository is a `ValidationError`."
const bases =
  "All best common ancestors of two commits, ordered by id. Criss-cross histories have several, unrelated histories have none."

const missing = "0123456789012345678901234567890123456789" as Oid

/** The next commit of a branch, which merges others. */
const merge = (
  remote: GitRemoteService,
  branch: string,
  merges: ReadonlyArray<Oid>,
  changes: ReadonlyArray<Change>
) =>
  Effect.flatMap(remote.head(branch), (head) =>
    remote.commit(branch, head, { message: `merge into ${branch}`, changes, merges })
  )

/** A branch beside `main` that has left it at a commit, and a commit on each of them. */
const diverged = (remote: GitRemoteService) =>
  Effect.gen(function* () {
    const fork = yield* write(remote, [put("a", "1"), put("b", "1")])
    yield* remote.createBranch("side", fork.commit)
    const ours = yield* write(remote, [put("a", "2")])
    const theirs = yield* write(remote, [put("b", "2"), put("c", "2")], { branch: "side" })
    return { fork, ours, theirs }
  })

export const merges = ({ sizes, test }: RemoteContract): void => {
  test(
    "a commit that merges another one has both as its parents, in their order",
    sentence,
    ({ another, remote }) =>
      Effect.gen(function* () {
        const { ours, theirs } = yield* diverged(remote)
        const merged = yield* remote.commitNext("main", (snapshot) =>
          Effect.map(snapshot.head, (head) => ({
            commit: Option.some({
              message: "merge side",
              merges: [theirs.commit],
              changes: [
                { _tag: "Link" as const, path: "b", oid: theirs.blobs.get("b")! },
                { _tag: "Link" as const, path: "run", oid: theirs.blobs.get("c")!, mode: "100755" as const }
              ]
            }),
            result: head
          }))
        )
        const { commit } = Option.getOrThrow(merged.committed)
        const other = yield* another
        for (const client of [remote, other]) {
          const head = yield* headOf(client)
          assert.strictEqual(head.commit, commit)
          const info = Option.getOrThrow(yield* client.commitInfo(commit))
          assert.deepStrictEqual(info.parents, [ours.commit, theirs.commit])
          assert.deepStrictEqual(Object.fromEntries(yield* filesOf(client, head)), {
            a: "2",
            b: "2",
            run: "2"
          })
          assert.isTrue(yield* client.isAncestor(theirs.commit, commit))
          const { entries } = Option.getOrThrow(yield* client.tree(head, ""))
          assert.deepStrictEqual(
            entries.map(({ mode, path }) => [path, mode]),
            [
              ["a", "100644"],
              ["b", "100644"],
              ["run", "100755"]
            ]
          )
          assert.strictEqual(
            yield* Stream.runCount(client.log(head, "")),
            (yield* Stream.runCount(client.log(ours, ""))) + 2
          )
        }
      })
  )

  test("a merge may leave every file as it is", sentence, ({ remote }) =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* diverged(remote)
      const merged = yield* merge(remote, "main", [theirs.commit], [])
      assert.strictEqual(merged.tree, ours.tree)
      const info = Option.getOrThrow(yield* remote.commitInfo(merged.commit))
      assert.deepStrictEqual(info.parents, [ours.commit, theirs.commit])
      const next = yield* write(remote, [put("a", "3")])
      assert.isTrue(yield* remote.isAncestor(theirs.commit, next.commit))
    })
  )

  test("a merge of what is not there is refused, and nothing moves", sentence, ({ remote }) =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* diverged(remote)
      for (const wrong of [missing, theirs.tree]) {
        assertTag(yield* failureOf(merge(remote, "main", [wrong], [put("a", "3")])), "ValidationError")
      }
      yield* remote.invalidate
      assert.strictEqual((yield* headOf(remote)).commit, ours.commit)
    })
  )

  test(
    "of two merges of one branch, made on one head, one is refused, and both stand after it is made again",
    "Fails with `RefMoved` if the branch points to another commit.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const { ours, theirs } = yield* diverged(remote)
        const other = yield* another
        const head = yield* remote.head("main")
        const results = yield* Effect.forEach(
          [remote, other],
          (client, index) =>
            Effect.either(
              client.commit("main", head, {
                message: `merge ${index}`,
                merges: [theirs.commit],
                changes: [put(`own/${index}`, "1")]
              })
            ),
          { concurrency: 2 }
        )
        const [won] = results.filter(Either.isRight)
        const [lost] = results.filter(Either.isLeft)
        assert.isTrue(won !== undefined && lost !== undefined, "one is made, and one is refused")
        assertTag(lost!.left, "RefMoved")
        const again = yield* merge(other, "main", [theirs.commit], [put("own/again", "1")])
        const info = Option.getOrThrow(yield* other.commitInfo(again.commit))
        assert.deepStrictEqual(info.parents, [won!.right.commit, theirs.commit])
        assert.deepStrictEqual(yield* remote.mergeBases(again.commit, ours.commit), [ours.commit])
      })
  )

  test(
    "the merge base is where two branches parted, or the one that the other descends from",
    bases,
    ({ remote }) =>
      Effect.gen(function* () {
        const { fork, ours, theirs } = yield* diverged(remote)
        const both = (a: Oid, b: Oid) => Effect.all([remote.mergeBases(a, b), remote.mergeBases(b, a)])
        assert.deepStrictEqual(yield* both(ours.commit, theirs.commit), [[fork.commit], [fork.commit]])
        assert.deepStrictEqual(yield* both(ours.commit, fork.commit), [[fork.commit], [fork.commit]])
        assert.deepStrictEqual(yield* both(ours.commit, ours.commit), [[ours.commit], [ours.commit]])
        // A branch that main was merged into, more than once: only what came last counts.
        yield* merge(remote, "side", [ours.commit], [put("a", "2")])
        const later = yield* write(remote, [put("a", "3")])
        const synced = yield* merge(remote, "side", [later.commit], [put("a", "3")])
        const last = yield* write(remote, [put("a", "4")])
        const end = yield* write(remote, [remove("c")], { branch: "side" })
        assert.deepStrictEqual(yield* both(last.commit, end.commit), [[later.commit], [later.commit]])
        assert.deepStrictEqual(yield* both(synced.commit, later.commit), [[later.commit], [later.commit]])
      })
  )

  test("histories that cross have several merge bases", bases, ({ remote }) =>
    Effect.gen(function* () {
      const { ours, theirs } = yield* diverged(remote)
      const into = yield* merge(remote, "main", [theirs.commit], [put("b", "2")])
      const back = yield* merge(remote, "side", [ours.commit], [put("a", "2")])
      const crossed = [ours.commit, theirs.commit].sort()
      assert.deepStrictEqual(yield* remote.mergeBases(into.commit, back.commit), crossed)
      const ahead = yield* write(remote, [put("a", "5")])
      const beside = yield* write(remote, [put("b", "5")], { branch: "side" })
      assert.deepStrictEqual(yield* remote.mergeBases(ahead.commit, beside.commit), crossed)
      assert.deepStrictEqual(yield* remote.mergeBases(beside.commit, ahead.commit), crossed)
    })
  )

  test("unrelated histories have no merge base", bases, ({ remote }) =>
    Effect.gen(function* () {
      const one = yield* write(remote, [put("a", "1")])
      const other = yield* write(remote, [put("a", "1")], {
        branch: "orphan",
        message: "another first commit"
      })
      assert.deepStrictEqual(yield* remote.mergeBases(one.commit, other.commit), [])
    })
  )

  test("the merge base of long branches is found", bases, ({ another, force, merge, remote }) =>
    Effect.gen(function* () {
      const { fork, theirs } = yield* diverged(remote)
      const length = Math.min(110, sizes.files)
      let tip = theirs.commit
      for (let round = 0; round < length; round++) {
        tip =
          merge === undefined
            ? (yield* write(remote, [put("long", `${round}`)], { branch: "side" })).commit
            : yield* merge([tip], theirs.tree)
      }
      yield* force("side", tip)
      const ours = yield* headOf(remote)
      const other = yield* another
      assert.deepStrictEqual(yield* other.mergeBases(ours.commit, tip), [fork.commit])
      assert.deepStrictEqual(yield* other.mergeBases(tip, ours.commit), [fork.commit])
    })
  )
}

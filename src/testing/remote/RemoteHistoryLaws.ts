import { Chunk, Effect, Option, Stream } from "effect"
import type { Head } from "../../git/Commit.js"
import type { PathChange } from "../../store/remote/GitRemote.js"
import { assert } from "../store/LawAssert.js"
import { put, remove, write } from "./RemoteCommits.js"
import type { RemoteContract } from "./RemoteLaw.js"

const plain = (changes: ReadonlyArray<PathChange>) =>
  changes
    .map(({ after, before, path }) => ({
      path,
      before: Option.getOrNull(before),
      after: Option.getOrNull(after)
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))

export const histories = ({ promises, sizes, test }: RemoteContract): void => {
  test(
    "the history of a path holds the commits that changed it, newest first",
    'The commits reachable from `at` that changed `path` ("": all commits), newest first. Renames are not followed.',
    ({ remote }) =>
      Effect.gen(function* () {
        const say = (message: string) => ({ message })
        if (!promises.firstIsRoot) yield* write(remote, [put("seed", "0")], say("c0"))
        const c1 = yield* write(remote, [put("d/a", "1"), put("d/b", "1")], say("c1"))
        const c2 = yield* write(remote, [put("d/b", "2")], say("c2"))
        const c3 = yield* write(remote, [put("d/a", "2")], say("c3"))
        const c4 = yield* write(remote, [remove("d/a")], say("c4"))
        const c5 = yield* write(remote, [put("d/a", "2"), put("other", "1")], say("c5"))
        const log = (path: string, limit?: number, at = c5.commit) =>
          Effect.map(Stream.runCollect(remote.log(at, path, limit === undefined ? {} : { limit })), (found) =>
            Chunk.toReadonlyArray(found).map((commit) => commit.commit)
          )
        assert.deepStrictEqual(
          yield* log("d/a"),
          [c5, c4, c3, c1].map((made) => made.commit)
        )
        assert.deepStrictEqual(
          yield* log("d/b"),
          [c2, c1].map((made) => made.commit)
        )
        assert.deepStrictEqual(yield* log("other"), [c5.commit])
        assert.deepStrictEqual(
          yield* log("d"),
          [c5, c4, c3, c2, c1].map((made) => made.commit)
        )
        assert.deepStrictEqual(
          (yield* log("")).slice(0, 5),
          [c5, c4, c3, c2, c1].map((made) => made.commit)
        )
        assert.strictEqual((yield* log("")).length, promises.firstIsRoot ? 5 : 6)
        assert.deepStrictEqual(
          yield* log("d/a", 2),
          [c5, c4].map((made) => made.commit)
        )
        assert.deepStrictEqual(
          yield* log("d/a", undefined, c3.commit),
          [c3, c1].map((made) => made.commit)
        )
        assert.deepStrictEqual(yield* log("never/was"), [])
        const infos = Chunk.toReadonlyArray(yield* Stream.runCollect(remote.log(c5, "d/a")))
        assert.deepStrictEqual(
          infos.map((info) => info.message.trimEnd()),
          ["c5", "c4", "c3", "c1"]
        )
        assert.strictEqual(infos[0]!.tree, c5.tree)
        assert.deepStrictEqual(infos[0]!.parents, [c4.commit])
      })
  )

  test(
    "a history longer than a page is complete",
    'The commits reachable from `at` that changed `path` ("": all commits), newest first. Renames are not followed.',
    ({ another, force, merge, remote }) =>
      Effect.gen(function* () {
        const length = 106
        const commits: Array<Head> = []
        for (let round = 0; round < length; round++) {
          // Each of the two files changes with every second commit, so once both exist, the trees repeat after four commits.
          if (merge === undefined || round < 5) {
            const file = round % 2 === 0 ? "even" : "odd"
            commits.push(yield* write(remote, [put(file, `${(round >> 1) % 2}`)]))
          } else {
            const { tree } = commits.at(-4)!
            commits.push({ commit: yield* merge([commits.at(-1)!.commit], tree), tree })
          }
        }
        const head = commits.at(-1)!
        yield* force("main", head.commit)
        const other = yield* another
        const newestFirst = commits.map(({ commit }) => commit).reverse()
        const idsOf = (path: string, options?: { readonly limit: number }) =>
          Effect.map(Stream.runCollect(other.log(head, path, options)), (infos) =>
            Chunk.toReadonlyArray(infos).map(({ commit }) => commit)
          )
        assert.deepStrictEqual(yield* idsOf(""), newestFirst)
        assert.deepStrictEqual(
          yield* idsOf("odd"),
          newestFirst.filter((_, at) => at % 2 === 0)
        )
        assert.deepStrictEqual(yield* idsOf("", { limit: 101 }), newestFirst.slice(0, 101))
      })
  )

  test(
    "the difference of two commits is complete; renames are a removal and an addition",
    "Every path below `under` whose file differs in content or mode between two commits or trees (none: the empty tree). Complete, whatever its size.",
    ({ remote }) =>
      Effect.gen(function* () {
        const first = yield* write(remote, [
          put("d/same", "same"),
          put("d/changed", "1"),
          put("d/gone", "gone"),
          put("d/old-name", "a long enough content to be seen as renamed"),
          put("e/other", "1")
        ])
        const second = yield* write(remote, [
          put("d/changed", "2"),
          remove("d/gone"),
          remove("d/old-name"),
          put("d/sub/new-name", "a long enough content to be seen as renamed"),
          put("e/other", "2")
        ])
        const blob = (at: typeof first, path: string) => at.blobs.get(path)!
        const below = [
          { path: "d/changed", before: blob(first, "d/changed"), after: blob(second, "d/changed") },
          { path: "d/gone", before: blob(first, "d/gone"), after: null },
          { path: "d/old-name", before: blob(first, "d/old-name"), after: null },
          { path: "d/sub/new-name", before: null, after: blob(first, "d/old-name") }
        ]
        const all = [
          ...below,
          { path: "e/other", before: blob(first, "e/other"), after: blob(second, "e/other") }
        ]
        assert.deepStrictEqual(plain(yield* remote.diff(Option.some(first), second)), all)
        assert.deepStrictEqual(
          plain(yield* remote.diff(Option.some(first.commit), second.commit, { under: "d" })),
          below
        )
        const back = all.map(({ after, before, path }) => ({ path, before: after, after: before }))
        assert.deepStrictEqual(plain(yield* remote.diff(Option.some(second), first)), back)
        assert.deepStrictEqual(plain(yield* remote.diff(Option.some(first), first)), [])
        assert.deepStrictEqual(
          plain(yield* remote.diff(Option.none(), first)).map(({ before, path }) => [path, before]),
          [
            ["d/changed", null],
            ["d/gone", null],
            ["d/old-name", null],
            ["d/same", null],
            ["e/other", null]
          ]
        )
        const file = yield* write(remote, [put("f", "1")])
        const directory = yield* write(remote, [remove("f"), put("f/g", "2")])
        assert.deepStrictEqual(
          plain(yield* remote.diff(Option.some(file), directory)).map(({ path }) => path),
          ["f", "f/g"],
          "a file that became a directory"
        )
      })
  )

  test(
    "a large difference is complete",
    "Every path below `under` whose file differs in content or mode between two commits or trees (none: the empty tree). Complete, whatever its size.",
    ({ remote }) =>
      Effect.gen(function* () {
        const count = Math.min(sizes.files, 4_000)
        const paths = Array.from({ length: count }, (_, index) => `d/${index % 3}/${index}.json`)
        const first = yield* write(
          remote,
          paths.map((path) => put(path, "1"))
        )
        const second = yield* write(
          remote,
          paths.map((path, index) => (index % 2 === 0 ? put(path, "2") : remove(path)))
        )
        const changes = plain(yield* remote.diff(Option.some(first), second))
        assert.strictEqual(changes.length, count)
        assert.strictEqual(changes.filter((change) => change.after === null).length, Math.floor(count / 2))
      })
  )

  test(
    "a difference tells modes, links and submodules",
    "Every path below `under` whose file differs in content or mode between two commits or trees (none: the empty tree). Complete, whatever its size.",
    ({ remote }) =>
      Effect.gen(function* () {
        const first = yield* write(remote, [put("d/run", "1"), put("d/same", "2"), put("d/to", "run")])
        const blob = (path: string) => first.blobs.get(path)!
        const second = yield* write(remote, [
          { _tag: "Link", path: "d/run", oid: blob("d/run"), mode: "100755" },
          { _tag: "Link", path: "d/same", oid: blob("d/same") },
          { _tag: "Link", path: "d/to", oid: blob("d/to"), mode: "120000" },
          { _tag: "Link", path: "sub", oid: first.commit, mode: "160000" }
        ])
        const told = (from: typeof first, to: typeof first) =>
          Effect.map(remote.diff(Option.some(from), to), (changes) =>
            changes.map(({ modes, path }) => [path, modes?.before, modes?.after])
          )
        assert.deepStrictEqual(yield* told(first, second), [
          ["d/run", "100644", "100755"],
          ["d/to", "100644", "120000"],
          ["sub", undefined, "160000"]
        ])
        assert.deepStrictEqual(yield* told(second, first), [
          ["d/run", "100755", "100644"],
          ["d/to", "120000", "100644"],
          ["sub", "160000", undefined]
        ])
        const third = yield* write(remote, [put("d/run", "3")])
        assert.deepStrictEqual(yield* told(second, third), [["d/run", "100755", "100644"]])
        const [, change] = yield* remote.diff(Option.some(first), second)
        assert.deepStrictEqual(
          [change!.before, change!.after],
          [Option.some(blob("d/to")), Option.some(blob("d/to"))]
        )
      })
  )

  test("ancestors are told from strangers", "if `to` does not descend from `from`", ({ remote }) =>
    Effect.gen(function* () {
      const c1 = yield* write(remote, [put("a", "1")])
      const c2 = yield* write(remote, [put("a", "2")])
      yield* remote.createBranch("side", c1.commit)
      const side = yield* write(remote, [put("b", "1")], { branch: "side" })
      assert.isTrue(yield* remote.isAncestor(c1.commit, c2.commit))
      assert.isTrue(yield* remote.isAncestor(c1.commit, c1.commit))
      assert.isFalse(yield* remote.isAncestor(c2.commit, c1.commit))
      assert.isFalse(yield* remote.isAncestor(side.commit, c2.commit))
      assert.isTrue(yield* remote.isAncestor(c1.commit, side.commit))
    })
  )

  test(
    "a merge is followed to both its parents",
    'The commits reachable from `at` that changed `path` ("": all commits), newest first. Renames are not followed.',
    ({ force, merge, remote }) =>
      Effect.gen(function* () {
        if (merge === undefined) return
        const c1 = yield* write(remote, [put("a", "1"), put("b", "1")])
        yield* remote.createBranch("side", c1.commit)
        const c2 = yield* write(remote, [put("a", "2")])
        // Git's dates are whole seconds.
        yield* Effect.sleep("1 second")
        const side = yield* write(remote, [put("b", "2")], { branch: "side" })
        const both = yield* remote.commit("scratch", Option.none(), {
          message: "tree of the merge",
          changes: [put("a", "2"), put("b", "2")]
        })
        const merged = yield* merge([c2.commit, side.commit], both.tree)
        yield* force("main", merged)
        yield* remote.invalidate
        const info = Option.getOrThrow(yield* remote.commitInfo(merged))
        assert.deepStrictEqual(info.parents, [c2.commit, side.commit])
        assert.isTrue(yield* remote.isAncestor(side.commit, merged))
        const log = yield* Stream.runCollect(remote.log(merged, "b"))
        assert.deepStrictEqual(
          Array.from(log, (commit) => commit.commit),
          [side.commit, c1.commit]
        )
        const all = yield* Stream.runCollect(remote.log(merged, ""))
        assert.deepStrictEqual(Array.from(all, (commit) => commit.commit).slice(0, 4), [
          merged,
          side.commit,
          c2.commit,
          c1.commit
        ])
        const changes = plain(yield* remote.diff(Option.some(c2), merged))
        assert.deepStrictEqual(
          changes.map((change) => change.path),
          ["b"]
        )
      })
  )
}

import { Effect, Either, Option } from "effect"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { WriteFailure } from "../../store/remote/GitRemote.js"
import { assert } from "../store/LawAssert.js"
import { assertMoved, assertTag, failureOf, filesOf, headOf, put, write } from "./RemoteCommits.js"
import type { RemoteContract } from "./RemoteLaw.js"

/** Whether the host turned out not to move several branches at once: a remote may find that out by the attempt. */
const isUnsupported = (error: WriteFailure): boolean =>
  error._tag === "RemoteError" && error.reason === "Unsupported"

export const branches = ({ promises, test }: RemoteContract): void => {
  test(
    "a name resolves as branch, tag, full and short id, or is absent",
    "The commit that `resolve` finds. A full id is assumed to be that of a commit until a read finds nothing.",
    ({ remote, tag }) =>
      Effect.gen(function* () {
        const first = yield* write(remote, [put("a", "1")])
        const second = yield* write(remote, [put("a", "2")])
        const resolved = (name: string) =>
          Effect.map(
            remote.resolve(name),
            Option.map((head) => [head.commit, head.tree])
          )
        assert.deepStrictEqual(yield* resolved("main"), Option.some([second.commit, second.tree]))
        assert.deepStrictEqual(yield* resolved(first.commit), Option.some([first.commit, first.tree]))
        assert.deepStrictEqual(
          yield* resolved(first.commit.slice(0, 10)),
          Option.some([first.commit, first.tree])
        )
        assert.deepStrictEqual(yield* resolved("missing"), Option.none())
        assert.deepStrictEqual(yield* resolved("0123456789012345678901234567890123456789"), Option.none())
        for (const branch of ["feature/über-1", "feature/status", "x/pulls", "x/branches-where-head"]) {
          yield* remote.createBranch(branch, first.commit)
          assert.deepStrictEqual(yield* resolved(branch), Option.some([first.commit, first.tree]), branch)
          const head = Option.map(yield* remote.head(branch), ({ commit }) => commit)
          assert.deepStrictEqual(head, Option.some(first.commit), branch)
        }
        if (promises.tags) {
          yield* tag("v1.0", first.commit)
          assert.deepStrictEqual(yield* resolved("v1.0"), Option.some([first.commit, first.tree]))
        }
      })
  )

  test(
    "steps from a name lead to an earlier commit, as Git's revisions do",
    "The commit that `resolve` finds. A full id is assumed to be that of a commit until a read finds nothing.",
    ({ remote, tag }) =>
      Effect.gen(function* () {
        const zeroth = yield* write(remote, [put("a", "0")])
        const first = yield* write(remote, [put("a", "1")])
        const second = yield* write(remote, [put("a", "2")])
        const commits = { zeroth: zeroth.commit, first: first.commit, second: second.commit }
        const expected: ReadonlyArray<readonly [revision: string, commit: keyof typeof commits | undefined]> =
          [
            ["main~", "first"],
            ["main~1", "first"],
            ["main~2", "zeroth"],
            ["main~0", "second"],
            ["main^^", "zeroth"],
            ["main^0", "second"],
            ["main~1^", "zeroth"],
            ["main~1^{commit}", "first"],
            ["main^2", undefined],
            ["main~999", undefined],
            ["none~1", undefined],
            ["main~x", undefined],
            ["~1", undefined],
            [`${second.commit}~1`, "first"],
            [`${second.commit.slice(0, 10)}^`, "first"],
            [first.commit.toUpperCase(), "first"],
            [first.commit.slice(0, 10).toUpperCase(), "first"],
            [`${first.commit.toUpperCase()}^`, "zeroth"],
            ["MAIN", undefined],
            ["HEAD", "second"],
            ["HEAD~2", "zeroth"]
          ]
        for (const [revision, commit] of expected) {
          const found = Option.getOrUndefined(yield* remote.resolve(revision))?.commit
          assert.strictEqual(found, commit === undefined ? undefined : commits[commit], revision)
        }
        if (promises.tags) {
          yield* tag("v1.0", second.commit)
          const found = yield* remote.resolve("v1.0~1")
          assert.deepStrictEqual(
            Option.map(found, ({ commit }) => commit),
            Option.some(first.commit)
          )
        }
      })
  )

  test(
    "branches are created, listed and deleted; creating twice is refused",
    "Fails with `RefMoved` if the branch exists.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        const first = yield* write(remote, [put("a", "1")])
        const second = yield* write(remote, [put("a", "2")])
        yield* remote.createBranch("work-1", first.commit)
        yield* remote.createBranch("work-2", second.commit)
        yield* remote.createBranch("other/work-3", second.commit)
        for (const at of [first.commit, second.commit]) {
          assertMoved(yield* failureOf(remote.createBranch("work-1", at)), "work-1")
        }
        assertTag(
          yield* failureOf(remote.createBranch("nowhere", "0123456789012345678901234567890123456789" as Oid)),
          "NotFoundError",
          "ValidationError"
        )
        const names = (prefix: string) =>
          Effect.map(other.listBranches(prefix), (found) => found.map((branch) => branch.name))
        assert.deepStrictEqual(yield* names("work-"), ["work-1", "work-2"])
        assert.deepStrictEqual(yield* names(""), ["main", "other/work-3", "work-1", "work-2"])
        assert.deepStrictEqual(yield* names("zzz"), [])
        const listed = yield* remote.listBranches("work-1")
        assert.deepStrictEqual(listed, [{ name: "work-1", commit: first.commit }])
        yield* remote.deleteBranch("work-1")
        yield* remote.deleteBranch("work-1")
        yield* remote.deleteBranch("never-was")
        assert.isTrue(Option.isNone(yield* remote.head("work-1")))
        assert.deepStrictEqual(yield* names("work-"), ["work-2"])
        yield* remote.createBranch("work-1", second.commit)
        assert.strictEqual((yield* headOf(other, "work-1")).commit, second.commit)
      })
  )

  test(
    "branches are listed by name, in whatever order they were created",
    "The branches whose names begin with the prefix, ordered by name.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const { commit } = yield* write(remote, [put("a", "1")])
        for (const name of ["work-2", "work", "work-10", "work-1", "other/z", "other/a"])
          yield* remote.createBranch(name, commit)
        const listings = {
          "": ["main", "other/a", "other/z", "work", "work-1", "work-10", "work-2"],
          work: ["work", "work-1", "work-10", "work-2"],
          "other/": ["other/a", "other/z"]
        }
        for (const client of [remote, yield* another]) {
          for (const [prefix, names] of Object.entries(listings)) {
            const listed = yield* client.listBranches(prefix)
            assert.deepStrictEqual(
              listed.map(({ name }) => name),
              names
            )
          }
        }
      })
  )

  test(
    "a branch with a unique name may be created twice, at one commit",
    "`unique`: no other process uses this name, so an existing branch at `at` means that the request was delivered twice, which is a success.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        const first = yield* write(remote, [put("a", "1")])
        const second = yield* write(remote, [put("a", "2")])
        const unique = (at: Oid) => remote.createBranch("work", at, { unique: true })
        yield* unique(first.commit)
        yield* unique(first.commit)
        assertMoved(yield* failureOf(unique(second.commit)), "work")
        assertMoved(yield* failureOf(remote.createBranch("work", first.commit)), "work")
        assert.strictEqual((yield* headOf(other, "work")).commit, first.commit)
      })
  )

  test(
    "a temporary branch is read, written, published and deleted like another one",
    "`temporary`: no other process has to see the branch. A remote may keep it in this process until `moveBranches` fails with it, and it disappears with the process.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        const temporary = { temporary: true, unique: true }
        const c1 = yield* write(remote, [put("a", "1")])
        yield* remote.createBranch("work", c1.commit, temporary)
        assert.strictEqual((yield* headOf(remote, "work")).commit, c1.commit)
        yield* write(remote, [put("b", "1")], { branch: "work" })
        const w2 = yield* write(remote, [put("b", "2")], { branch: "work" })
        assert.deepStrictEqual(Object.fromEntries(yield* filesOf(remote, w2)), { a: "1", b: "2" })
        assert.strictEqual((yield* headOf(remote)).commit, c1.commit)
        yield* remote.advance("main", c1.commit, w2.commit)
        assert.strictEqual((yield* headOf(other)).commit, w2.commit)
        const files = yield* filesOf(other, yield* headOf(other))
        assert.deepStrictEqual(Object.fromEntries(files), { a: "1", b: "2" })
        yield* remote.deleteBranch("work")
        for (const client of [remote, other]) {
          assert.isTrue(Option.isNone(yield* client.head("work")))
        }
        const { moveBranches } = remote
        if (moveBranches === undefined) return
        yield* remote.createBranch("work", w2.commit, temporary)
        const w3 = yield* write(remote, [put("b", "3")], { branch: "work" })
        const done = { branch: "work", from: Option.some(w3.commit), to: Option.none() }
        const main = { branch: "main", from: Option.some(c1.commit), to: Option.some(w3.commit) }
        const refused = yield* failureOf(moveBranches([main, done]))
        assert.strictEqual((yield* headOf(other, "work")).commit, w3.commit)
        assert.strictEqual((yield* headOf(other)).commit, w2.commit)
        if (isUnsupported(refused)) return
        assertMoved(refused, "main")
        const moved = yield* Effect.either(moveBranches([{ ...main, from: Option.some(w2.commit) }, done]))
        if (Either.isLeft(moved) && isUnsupported(moved.left)) {
          assert.strictEqual((yield* headOf(other, "work")).commit, w3.commit)
          assert.strictEqual((yield* headOf(other)).commit, w2.commit)
          return
        }
        yield* moved
        assert.strictEqual((yield* headOf(other)).commit, w3.commit)
        for (const client of [remote, other]) {
          assert.isTrue(Option.isNone(yield* client.head("work")))
        }
      })
  )

  test(
    "a branch is written without moving the others",
    "Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist; the repository may be empty. Fails with `RefMoved` if the branch points to another commit. When it succeeds, the commit is durable and visible.",
    ({ remote }) =>
      Effect.gen(function* () {
        const first = yield* write(remote, [put("a", "1")])
        yield* remote.createBranch("side", first.commit)
        const side = yield* write(remote, [put("b", "1")], { branch: "side" })
        assert.strictEqual((yield* headOf(remote)).commit, first.commit)
        assert.strictEqual((yield* headOf(remote, "side")).commit, side.commit)
        const root = yield* remote.commit("orphan", Option.none(), {
          message: "root",
          changes: [put("c", "1")]
        })
        assert.deepStrictEqual(Object.fromEntries(yield* filesOf(remote, root)), { c: "1" })
        assert.deepStrictEqual(Option.getOrThrow(yield* remote.commitInfo(root.commit)).parents, [])
      })
  )

  test(
    "advance moves forward from where it is said to be, and never by force",
    "Fast-forwards a branch. Fails with `RefMoved` if it is not at `from`, or if `to` does not descend from `from`.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        const c1 = yield* write(remote, [put("a", "1")])
        yield* remote.createBranch("work", c1.commit)
        const w1 = yield* write(remote, [put("b", "1")], { branch: "work" })
        const w2 = yield* write(remote, [put("b", "2")], { branch: "work" })
        yield* remote.advance("main", c1.commit, w2.commit)
        assert.strictEqual((yield* headOf(other)).commit, w2.commit)
        assert.deepStrictEqual(Object.fromEntries(yield* filesOf(other, yield* headOf(other))), {
          a: "1",
          b: "2"
        })
        assertMoved(yield* failureOf(remote.advance("main", w2.commit, w1.commit)), "main")
        const next = yield* write(other, [put("a", "2")])
        const w3 = yield* write(remote, [put("b", "3")], { branch: "work" })
        assertTag(yield* failureOf(remote.advance("main", w2.commit, w3.commit)), "RefMoved")
        assertTag(yield* failureOf(remote.advance("main", next.commit, w3.commit)), "RefMoved")
        assertTag(
          yield* failureOf(remote.advance("missing", c1.commit, w3.commit)),
          "RefMoved",
          "NotFoundError"
        )
        assert.strictEqual((yield* headOf(remote)).commit, next.commit)
        const moreOnMain = yield* write(remote, [put("a", "3")])
        assert.deepStrictEqual(Option.getOrThrow(yield* remote.commitInfo(moreOnMain.commit)).parents, [
          next.commit
        ])
      })
  )

  test(
    "several branches move at once or not at all, where the remote knows how",
    "Creates, fast-forwards and deletes several branches in one transaction. Fails with `RefMoved`, which names a branch that is not at `from`, or whose `to` does not descend from `from`.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const { moveBranches } = remote
        if (moveBranches === undefined) return
        const other = yield* another
        const some = Option.some<Oid>
        const none = Option.none<Oid>()
        const at = (branch: string) =>
          Effect.map(
            other.head(branch),
            Option.map((head) => head.commit)
          )
        const c1 = yield* write(remote, [put("a", "1")])
        yield* remote.createBranch("work", c1.commit)
        const w1 = yield* write(remote, [put("b", "1")], { branch: "work" })
        const main = { branch: "main", from: some(c1.commit), to: some(w1.commit) }
        const work = { branch: "work", from: some(w1.commit), to: none }
        const refused = (named: string, ...moves: Parameters<typeof moveBranches>[0]) =>
          Effect.gen(function* () {
            assertMoved(yield* failureOf(moveBranches(moves)), named)
            assert.deepStrictEqual(yield* at("main"), some(c1.commit))
            assert.deepStrictEqual(yield* at("work"), some(w1.commit))
          })
        const first = yield* failureOf(moveBranches([main, { ...work, from: some(c1.commit) }]))
        assert.deepStrictEqual(yield* at("main"), some(c1.commit))
        assert.deepStrictEqual(yield* at("work"), some(w1.commit))
        if (isUnsupported(first)) return
        assertMoved(first, "work")
        yield* refused("main", { ...main, from: some(w1.commit) }, work)
        yield* refused("missing", main, { branch: "missing", from: some(c1.commit), to: none })
        yield* refused("main", { ...main, from: none }, work)
        yield* refused("work", main, { branch: "work", from: some(w1.commit), to: some(c1.commit) })
        yield* moveBranches([main, work, { branch: "new", from: none, to: some(c1.commit) }])
        assert.deepStrictEqual(yield* at("main"), some(w1.commit))
        assert.deepStrictEqual(yield* at("work"), none)
        assert.deepStrictEqual(yield* at("new"), some(c1.commit))
        assert.isTrue(Option.isNone(yield* remote.head("work")))
        assert.strictEqual((yield* headOf(remote)).commit, w1.commit)
        const next = yield* write(remote, [put("a", "2")])
        assert.deepStrictEqual(Option.getOrThrow(yield* remote.commitInfo(next.commit)).parents, [w1.commit])
        yield* remote.createBranch("work", next.commit)
        assert.strictEqual((yield* headOf(other, "work")).commit, next.commit)
      })
  )

  test(
    "budget and estimate answer without a charge",
    "The known state of the rate limits, without a charged request. Empty if there are none.",
    ({ remote }) =>
      Effect.gen(function* () {
        const budgets = yield* remote.budget
        for (const budget of budgets) assert.isAtMost(budget.remaining, budget.limit)
        for (const operation of [
          { _tag: "Read", documents: 10 },
          { _tag: "List", entries: 10 },
          { _tag: "Commit", changes: 3, bytes: 100, warm: true },
          { _tag: "PutFile", bytes: 100, warm: false }
        ] as const) {
          assert.isAtLeast(remote.estimate(operation), 0)
        }
        assert.isAbove(remote.name.length, 0)
      })
  )
}

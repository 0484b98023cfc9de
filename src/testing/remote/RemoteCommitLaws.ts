import { Clock, Effect, Option } from "effect"
import type { Oid } from "../../domain/identifiers/Oid.js"
import * as GitObject from "../../git/GitObject.js"
import type { Change, GitRemoteService, RemoteSnapshot } from "../../store/remote/GitRemote.js"
import { assert } from "../store/LawAssert.js"
import {
  assertTag,
  bytes,
  failureOf,
  filesOf,
  headOf,
  link,
  put,
  readAt,
  remove,
  write
} from "./RemoteCommits.js"
import type { RemoteContract, RemoteSubject } from "./RemoteLaw.js"

/** Clocks of remotes may differ by less. */
const day = 86_400_000

export const commits = ({ promises, sizes, test }: RemoteContract): void => {
  test(
    "the first commit makes the branch, and has no parent",
    "Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist; the repository may be empty. Fails with `RefMoved` if the branch points to another commit. When it succeeds, the commit is durable and visible.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const committed = yield* remote.commit("main", Option.none(), {
          message: "first\n\nwith a body: grüße",
          changes: [put("data/a.json", "{}\n")],
          author: { name: "Ada Łovelace", email: "ada@example.org" },
          committer: { name: "Charles", email: "charles@example.org" }
        })
        const head = yield* headOf(remote)
        assert.deepStrictEqual([head.commit, head.tree], [committed.commit, committed.tree])
        assert.strictEqual(committed.blobs.get("data/a.json"), GitObject.hash("blob", bytes("{}\n")))
        const info = Option.getOrThrow(yield* remote.commitInfo(committed.commit))
        assert.deepStrictEqual(info.parents, [])
        assert.strictEqual(info.tree, committed.tree)
        assert.strictEqual(info.message.trimEnd(), "first\n\nwith a body: grüße")
        assert.deepStrictEqual(
          [info.author.name, info.author.email, info.committer.name, info.committer.email],
          ["Ada Łovelace", "ada@example.org", "Charles", "charles@example.org"]
        )
        const age = (yield* Clock.currentTimeMillis) - Date.parse(info.committer.date)
        assert.isTrue(Math.abs(age) < day, `the committer's date ${info.committer.date} is of today`)
        const probe = yield* remote.probe("main")
        assert.strictEqual(probe.repository, "present")
        assert.isTrue(probe.branch)
        const other = yield* another
        assert.deepStrictEqual(yield* headOf(other), head)
        assert.deepStrictEqual(yield* readAt(other, head, "data/a.json"), Option.some("{}\n"))
      })
  )

  test(
    "one file changed leaves the others as they were",
    "Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist; the repository may be empty. Fails with `RefMoved` if the branch points to another commit. When it succeeds, the commit is durable and visible.",
    ({ remote }) =>
      Effect.gen(function* () {
        const first = yield* write(remote, [put("a/x", "1"), put("a/y", "2"), put("b", "3")])
        const second = yield* write(remote, [put("a/x", "one")])
        assert.deepStrictEqual(Object.fromEntries(yield* filesOf(remote, second)), {
          "a/x": "one",
          "a/y": "2",
          b: "3"
        })
        assert.strictEqual((yield* filesOf(remote, first)).get("a/x"), "1", "the old commit still stands")
        const info = Option.getOrThrow(yield* remote.commitInfo(second.commit))
        assert.deepStrictEqual(info.parents, [first.commit])
      })
  )

  test(
    "put, link and remove in one commit; directories left empty are gone",
    "Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist; the repository may be empty. Fails with `RefMoved` if the branch points to another commit. When it succeeds, the commit is durable and visible.",
    ({ remote }) =>
      Effect.gen(function* () {
        const first = yield* write(remote, [put("a/x", "1"), put("b/only", "2"), put("c", "3")])
        const second = yield* write(remote, [
          put("new/deep/file", "4"),
          link("a/copy", first.blobs.get("c")!),
          remove("b/only")
        ])
        assert.deepStrictEqual(Object.fromEntries(yield* filesOf(remote, second)), {
          "a/copy": "3",
          "a/x": "1",
          c: "3",
          "new/deep/file": "4"
        })
        assert.isTrue(Option.isNone(yield* remote.tree(second, "b")))
      })
  )

  test(
    "a commit may leave the tree as it was, and may change nothing",
    "Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist; the repository may be empty. Fails with `RefMoved` if the branch points to another commit. When it succeeds, the commit is durable and visible.",
    ({ remote }) =>
      Effect.gen(function* () {
        const first = yield* write(remote, [put("a", "1")])
        const same = yield* write(remote, [put("a", "1")], { message: "again" })
        assert.strictEqual(same.tree, first.tree)
        assert.notStrictEqual(same.commit, first.commit)
        assert.strictEqual(same.blobs.get("a"), first.blobs.get("a"))
        const empty = yield* write(remote, [], { message: "empty" })
        assert.strictEqual(empty.tree, first.tree)
        assert.deepStrictEqual((yield* headOf(remote)).commit, empty.commit)
      })
  )

  test(
    "many files in one commit",
    "Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist; the repository may be empty. Fails with `RefMoved` if the branch points to another commit. When it succeeds, the commit is durable and visible.",
    ({ remote }) =>
      Effect.gen(function* () {
        yield* write(remote, [put("seed", "0")])
        const changes = Array.from({ length: sizes.files }, (_, index) =>
          put(`data/${index % 7}/${index}.json`, `{"n": ${index}}`)
        )
        const committed = yield* write(remote, changes)
        assert.strictEqual(committed.blobs.size, sizes.files)
        const files = yield* filesOf(remote, committed)
        assert.strictEqual(files.size, sizes.files + 1)
        for (let index = 0; index < sizes.files; index++) {
          assert.strictEqual(files.get(`data/${index % 7}/${index}.json`), `{"n": ${index}}`)
        }
        const info = Option.getOrThrow(yield* remote.commitInfo(committed.commit))
        assert.strictEqual(info.parents.length, 1)
      })
  )

  const refused = (
    name: string,
    changes: ReadonlyArray<Parameters<typeof write>[1][number]>,
    tags: ReadonlyArray<string> = ["ValidationError"]
  ) =>
    test(
      `${name}, and nothing is written`,
      "an interrupted write takes effect completely or not at all.",
      ({ remote }) =>
        Effect.gen(function* () {
          const base = yield* write(remote, [put("dir/file", "1"), put("file", "2")])
          assertTag(yield* failureOf(write(remote, changes)), ...tags)
          assert.strictEqual((yield* headOf(remote)).commit, base.commit)
          const next = yield* write(remote, [put("ok", "3")])
          assert.deepStrictEqual(Array.from((yield* filesOf(remote, next)).keys()), [
            "dir/file",
            "file",
            "ok"
          ])
        })
    )

  refused("removing a missing path is refused", [put("other", "1"), remove("dir/missing")])
  refused("removing a path below a missing directory is refused", [remove("nowhere/at/all")])
  refused("removing a directory is refused", [remove("dir")])
  refused("changing a path twice in one commit is refused", [put("x", "1"), put("x", "2")])
  refused("a link to a blob that is not there is refused", [
    link("x", "00000000000000000000000000000000000000aa" as Oid)
  ])
  for (const path of ["", "/a", "a/", "a//b", "../a", "a/./b", "a/../b", ".git/config", "a/.GIT/x", "a\0b"]) {
    refused(`the path ${JSON.stringify(path)} is refused`, [put(path, "1")])
  }
  if (promises.clashesAreRefused) {
    refused("a file where a directory is, is refused", [put("dir", "1")])
    refused("a file below a file is refused", [put("file/below", "1")])
    refused("a file and a file below it in one commit are refused", [put("n", "1"), put("n/m", "2")])
  }

  const submoduleIsKept =
    "A file that would take the place of a directory or a submodule of the parent, or is below a file of it, is a `ValidationError`."

  /** Another client puts a submodule at `dir/sub`. */
  const submodule = ({ another, remote }: RemoteSubject) =>
    Effect.gen(function* () {
      const { commit } = yield* write(remote, [put("dir/file", "1")])
      return yield* write(yield* another, [{ _tag: "Link", path: "dir/sub", oid: commit, mode: "160000" }])
    })

  /** Commits as the next of the branch, after reading the head and `read`. */
  const next = (
    remote: GitRemoteService,
    changes: ReadonlyArray<Change>,
    read: (snapshot: RemoteSnapshot) => Effect.Effect<unknown, unknown> = () => Effect.void
  ) =>
    remote.commitNext("main", (snapshot) =>
      Effect.as(Effect.zipRight(snapshot.head, read(snapshot)), {
        commit: Option.some({ message: "a commit", changes }),
        result: undefined
      })
    )

  const inItsPlace = [put("dir/sub", "a file"), put("dir/other", "2")]

  test(
    "a file does not take the place of a submodule in a directory that was listed, unless the commit says so",
    submoduleIsKept,
    (subject) =>
      Effect.gen(function* () {
        const { remote } = subject
        const at = yield* submodule(subject)
        const listed = (snapshot: RemoteSnapshot) => snapshot.directory("dir")
        assertTag(yield* failureOf(next(remote, inItsPlace, listed)), "ValidationError")
        const head = yield* headOf(remote)
        assert.strictEqual(head.commit, at.commit)
        yield* remote.tree(head, "dir")
        const blind = remote.commit("main", Option.some(head), { message: "a commit", changes: inItsPlace })
        assertTag(yield* failureOf(blind), "ValidationError")
        assert.strictEqual((yield* headOf(remote)).commit, at.commit)
        yield* next(
          remote,
          inItsPlace.map((change) =>
            change._tag === "Put" ? { ...change, replacesSubmodule: true } : change
          ),
          listed
        )
        const files = yield* filesOf(remote, yield* headOf(remote))
        assert.deepStrictEqual(Object.fromEntries(files), {
          "dir/file": "1",
          "dir/other": "2",
          "dir/sub": "a file"
        })
      })
  )

  if (promises.clashesAreRefused) {
    test("a file does not take the place of a submodule that was not read", submoduleIsKept, (subject) =>
      Effect.gen(function* () {
        const { remote } = subject
        const at = yield* submodule(subject)
        const head = yield* headOf(remote)
        for (const changes of [inItsPlace, [put("dir/sub", "a file")], [put("dir/sub/below", "a file")]]) {
          assertTag(yield* failureOf(next(remote, changes)), "ValidationError")
          const commit = remote.commit("main", Option.some(head), { message: "a commit", changes })
          assertTag(yield* failureOf(commit), "ValidationError")
        }
        assert.strictEqual((yield* headOf(remote)).commit, at.commit)
      })
    )
  }

  test(
    "a file gives way to a directory, and back, when the commit says so",
    "Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist; the repository may be empty. Fails with `RefMoved` if the branch points to another commit. When it succeeds, the commit is durable and visible.",
    ({ remote }) =>
      Effect.gen(function* () {
        yield* write(remote, [put("a", "file"), put("b/c", "below")])
        const committed = yield* write(remote, [
          remove("a"),
          put("a/inner", "1"),
          remove("b/c"),
          put("b", "now a file")
        ])
        assert.deepStrictEqual(Object.fromEntries(yield* filesOf(remote, committed)), {
          "a/inner": "1",
          b: "now a file"
        })
      })
  )

  test(
    "a branch name that Git does not know is refused",
    "Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist; the repository may be empty. Fails with `RefMoved` if the branch points to another commit. When it succeeds, the commit is durable and visible.",
    ({ remote }) =>
      Effect.gen(function* () {
        const committed = yield* write(remote, [put("a", "1")])
        for (const branch of ["a..b", "a b", "a~1", "-x", "x.lock", "a:b", "", "a//b"]) {
          const commit = remote.commit(branch, Option.none(), { message: "m", changes: [put("a", "1")] })
          assertTag(yield* failureOf(commit), "ValidationError")
          assertTag(yield* failureOf(remote.createBranch(branch, committed.commit)), "ValidationError")
        }
      })
  )
}

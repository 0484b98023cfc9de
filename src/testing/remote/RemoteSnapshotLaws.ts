import { Chunk, Effect, Option, Stream } from "effect"
import type { EditResult, RemoteFileReadOptions, RemoteSnapshot } from "../../store/remote/GitRemote.js"
import { assert } from "../store/LawAssert.js"
import { assertTag, headOf, put, readAt, remove, text, write } from "./RemoteCommits.js"
import type { RemoteContract } from "./RemoteLaw.js"

const link = "src/store/remote/RemoteSnapshot.ts"

const hour = 3_600_000

const contentIn = (snapshot: RemoteSnapshot, path: string, options?: RemoteFileReadOptions) =>
  Effect.map(
    snapshot.file(path, options),
    Option.map((file) => text(file.content))
  )

const namesIn = (snapshot: RemoteSnapshot, path: string, options?: { readonly maxAge: number }) =>
  Effect.map(snapshot.directory(path, options), (found) =>
    Option.match(found, {
      onNone: () => [],
      onSome: ({ tree }) => tree.entries.map((entry) => entry.path)
    })
  )

/** An edit that reads `path` under an assumption, and writes what it found to `to`. */
const recording =
  (path: string, options: RemoteFileReadOptions, to: string) =>
  (snapshot: RemoteSnapshot): Effect.Effect<EditResult<string, unknown>, unknown> =>
    Effect.map(contentIn(snapshot, path, options), (found) => {
      const result = Option.getOrElse(found, () => "absent")
      return { commit: Option.some({ message: `${path} is ${result}`, changes: [put(to, result)] }), result }
    })

export const snapshots = ({ test }: RemoteContract): void => {
  test(
    "a snapshot whose head was read stays at that commit",
    "From then on it is pinned: every read is of that commit.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        const first = yield* write(remote, [put("d/a", "1"), put("d/b", "1")])
        const snapshot = remote.snapshot("main")
        assert.strictEqual(Option.getOrThrow(yield* snapshot.head).commit, first.commit)
        assert.isTrue(snapshot.isPinned())
        const second = yield* write(other, [put("d/a", "2"), remove("d/b"), put("d/c", "2")])
        assert.deepStrictEqual(yield* contentIn(snapshot, "d/a"), Option.some("1"))
        assert.deepStrictEqual(yield* contentIn(snapshot, "d/a", { fresh: true }), Option.some("1"))
        assert.deepStrictEqual(yield* contentIn(snapshot, "d/c"), Option.none())
        assert.deepStrictEqual(yield* namesIn(snapshot, "d"), ["a", "b"])
        const files = yield* Stream.runCollect(snapshot.files(["d/c", "d/b", "d/a"], { concurrency: 2 }))
        assert.deepStrictEqual(
          Chunk.toReadonlyArray(files).map(({ content, path }) => [path, text(content)]),
          [
            ["d/b", "1"],
            ["d/a", "1"]
          ]
        )
        assert.strictEqual(Option.getOrThrow(yield* snapshot.head).commit, first.commit)
        const next = remote.snapshot("main")
        assert.strictEqual(Option.getOrThrow(yield* next.head).commit, second.commit)
        assert.deepStrictEqual(yield* namesIn(next, "d"), ["a", "c"])
      }),
    link
  )

  test(
    "the head that a snapshot knows is its head",
    "The commit, if it is known without a request.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        const first = yield* write(remote, [put("a", "1")])
        for (const snapshot of [remote.snapshot("main"), remote.snapshotAt("main")]) {
          const head = Option.getOrThrow(yield* snapshot.head)
          assert.deepStrictEqual([head.commit, head.tree], [first.commit, first.tree])
          assert.deepStrictEqual(snapshot.knownHead(), head)
        }
        const at = remote.snapshotAt(first.commit)
        assert.deepStrictEqual(yield* contentIn(at, "a"), Option.some("1"))
        const second = yield* write(other, [put("a", "2")])
        assert.strictEqual(at.knownHead()?.commit ?? first.commit, first.commit)
        const now = remote.snapshot("main")
        assert.deepStrictEqual(yield* contentIn(now, "a"), Option.some("2"))
        assert.strictEqual(now.knownHead()?.commit ?? second.commit, second.commit)
        const missing = remote.snapshot("missing")
        assert.deepStrictEqual(yield* missing.head, Option.none())
        assert.strictEqual(missing.knownHead(), undefined)
        assert.deepStrictEqual(yield* missing.directory(""), Option.none())
      }),
    link
  )

  test(
    "a cached version is returned again only if it is current",
    "Whether the remote confirmed that the caller's cached version is current (HTTP 304).",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        yield* write(remote, [put("a", "1"), put("b", "1")])
        const read = (path: string, options?: RemoteFileReadOptions) =>
          Effect.map(remote.snapshot("main").file(path, options), Option.getOrThrow)
        const old = yield* read("a")
        assert.isFalse(old.notModified, "nothing was cached")
        const again = yield* read("a", { cached: Option.some(old) })
        assert.deepStrictEqual([text(again.content), again.oid], ["1", old.oid])
        const unread = yield* read("a", { cached: Option.none() })
        assert.deepStrictEqual([text(unread.content), unread.notModified], ["1", false])
        yield* write(other, [put("a", "2"), remove("b")])
        const current = yield* read("a", { cached: Option.some(old) })
        assert.deepStrictEqual([text(current.content), current.notModified], ["2", false])
        const { etag: _, ...plain } = old
        const unmarked = yield* read("a", { cached: Option.some(plain) })
        assert.deepStrictEqual([text(unmarked.content), unmarked.notModified], ["2", false])
        const fresh = yield* read("a", { cached: Option.some(current), fresh: true })
        assert.deepStrictEqual([text(fresh.content), fresh.notModified], ["2", false])
        const gone = yield* remote.snapshot("main").file("b", { cached: Option.some(old) })
        assert.deepStrictEqual(gone, Option.none())
      }),
    link
  )

  test(
    "a known version is returned only if the commit has it",
    "`known` is a version that may be returned again if the commit has it.",
    ({ remote }) =>
      Effect.gen(function* () {
        const first = yield* write(remote, [put("a", "1"), put("d/x", "1")])
        const second = yield* write(remote, [put("a", "2")])
        const version = Option.getOrThrow(yield* remote.file(first, "a"))
        const read = (...args: Parameters<typeof remote.file>) =>
          Effect.map(
            remote.file(...args),
            Option.map(({ content, oid }) => [text(content), oid])
          )
        assert.deepStrictEqual(yield* read(first, "a", { known: version }), Option.some(["1", version.oid]))
        const now = second.blobs.get("a")!
        assert.deepStrictEqual(yield* read(second, "a", { known: version }), Option.some(["2", now]))
        assert.deepStrictEqual(yield* read(second.commit, "a", { known: version }), Option.some(["2", now]))
        assert.deepStrictEqual(yield* read(second, "missing", { known: version }), Option.none())
        const directory = Option.getOrThrow(yield* remote.tree(first, "d")).oid
        assert.deepStrictEqual(
          yield* read(first, "d", { known: { ...version, oid: directory } }),
          Option.none()
        )
      }),
    link
  )

  test(
    "an edit whose assumption about a file is wrong writes nothing",
    "A remote does so only if the commit fails when the assumption is wrong.",
    ({ another, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        yield* write(remote, [put("a", "1")])
        const old = Option.getOrThrow(yield* remote.snapshot("main").file("a"))
        yield* write(other, [put("a", "2")])
        const assumptions: ReadonlyArray<readonly [path: string, RemoteFileReadOptions, is: string]> = [
          ["a", { assume: "absent" }, "2"],
          ["a", { assume: "cached", cached: Option.some(old) }, "2"],
          ["missing", { assume: "cached", cached: Option.some(old) }, "absent"],
          ["missing", { assume: "absent" }, "absent"],
          ["a", { assume: "cached", cached: Option.none() }, "2"]
        ]
        for (const [path, options, is] of assumptions) {
          for (const to of ["noted", path]) {
            const before = yield* readAt(other, yield* headOf(other), to)
            const outcome = yield* Effect.either(remote.commitNext("main", recording(path, options, to)))
            const after = yield* readAt(other, yield* headOf(other), to)
            const what = `${path} with ${options.assume}, written to ${to}`
            if (outcome._tag === "Left") {
              assertTag(outcome.left, "RefMoved")
              assert.deepStrictEqual(after, before, what)
            } else {
              assert.strictEqual(outcome.right.result, is, what)
              assert.deepStrictEqual(after, Option.some(is), what)
            }
            yield* write(other, [put("a", "2"), put("missing", "1")])
            yield* write(other, [remove("missing")])
          }
        }
      }),
    link
  )

  test(
    "invalidate forgets what was read by branch name",
    "Empties the caches of branch heads, and of files and directories read by branch name.",
    ({ another, force, remote }) =>
      Effect.gen(function* () {
        const other = yield* another
        const first = yield* write(remote, [put("d/a", "1")])
        const readsAre = (commit: string, content: string, names: ReadonlyArray<string>) =>
          Effect.gen(function* () {
            const snapshot = remote.snapshot("main")
            assert.deepStrictEqual(yield* contentIn(snapshot, "d/a", { maxAge: hour }), Option.some(content))
            assert.deepStrictEqual(yield* namesIn(snapshot, "d", { maxAge: hour }), names)
            assert.strictEqual((yield* headOf(remote)).commit, commit)
          })
        yield* readsAre(first.commit, "1", ["a"])
        const second = yield* write(other, [put("d/a", "2"), put("d/b", "2")])
        yield* remote.invalidate
        yield* readsAre(second.commit, "2", ["a", "b"])
        const third = yield* other.commit("elsewhere", Option.none(), {
          message: "unrelated",
          changes: [put("d/a", "3")]
        })
        yield* force("main", third.commit)
        yield* remote.invalidate
        yield* readsAre(third.commit, "3", ["a"])
      })
  )
}

import { Chunk, Effect, Option, Stream } from "effect"
import { emptyTree, type Oid } from "../../domain/identifiers/Oid.js"
import * as GitObject from "../../git/GitObject.js"
import { assert } from "../store/LawAssert.js"
import { bytes, filesOf, headOf, put, readAt, remove, text, write } from "./RemoteCommits.js"
import type { RemoteContract } from "./RemoteLaw.js"

const nowhere = "0123456789012345678901234567890123456789" as Oid

export const trees = ({ sizes, test }: RemoteContract): void => {
  test(
    "an empty repository is empty and absent",
    "Reports whether repository and branch exist. Something absent is not a failure.",
    ({ remote }) =>
      Effect.gen(function* () {
        const probe = yield* remote.probe("main")
        assert.strictEqual(probe.repository, "empty")
        assert.isFalse(probe.branch)
        assert.isTrue(Option.isNone(yield* remote.head("main")))
        assert.isTrue(Option.isNone(yield* remote.resolve("main")))
        assert.isTrue(Option.isNone(yield* remote.resolve(nowhere)))
        assert.isTrue(Option.isNone(yield* remote.snapshot("main").file("a.json")))
        assert.deepStrictEqual(yield* remote.listBranches(""), [])
        assert.isTrue(Option.isNone(yield* remote.commitInfo(nowhere)))
      })
  )

  test(
    "a missing branch of a repository that is not empty is absent",
    "Reports whether repository and branch exist. Something absent is not a failure.",
    ({ remote }) =>
      Effect.gen(function* () {
        yield* write(remote, [put("a.json", "1")])
        const probe = yield* remote.probe("other")
        assert.strictEqual(probe.repository, "present")
        assert.isFalse(probe.branch)
        assert.isTrue((yield* remote.probe("main")).branch)
        assert.isTrue(Option.isNone(yield* remote.head("other")))
        assert.isTrue(Option.isNone(yield* remote.resolve("other")))
        assert.isTrue(Option.isNone(yield* remote.snapshot("other").file("a.json")))
      })
  )

  test(
    "a tree is listed direct or whole, in Git's order, and names its own id",
    "The current state of the branch. Never older than the last write of this process.",
    ({ remote }) =>
      Effect.gen(function* () {
        const committed = yield* write(
          remote,
          ["a.json", "a/b.json", "a/c/d.json", "a-b", "z/y/x/w.json"].map((path) => put(path, path))
        )
        const direct = Option.getOrThrow(yield* remote.tree(committed, ""))
        assert.strictEqual(direct.oid, committed.tree)
        assert.deepStrictEqual(
          direct.entries.map(({ kind, mode, path }) => [path, mode, kind]),
          [
            ["a-b", "100644", "blob"],
            ["a.json", "100644", "blob"],
            ["a", "040000", "tree"],
            ["z", "040000", "tree"]
          ]
        )
        const whole = Option.getOrThrow(yield* remote.tree(committed, "", { recursive: true }))
        assert.deepStrictEqual(
          whole.entries.map((entry) => entry.path),
          ["a-b", "a.json", "a/b.json", "a/c/d.json", "z/y/x/w.json"]
        )
        const below = Option.getOrThrow(yield* remote.tree(committed, "a", { recursive: true }))
        assert.deepStrictEqual(
          below.entries.map((entry) => entry.path),
          ["b.json", "c/d.json"]
        )
        assert.strictEqual(below.oid, direct.entries[2]!.oid)
        for (const entry of whole.entries) {
          assert.strictEqual(entry.oid, GitObject.hash("blob", bytes(entry.path)))
          if (entry.size !== undefined) assert.strictEqual(entry.size, entry.path.length)
        }
        const byTree = Option.getOrThrow(yield* remote.tree(committed.tree, "z/y"))
        assert.deepStrictEqual(
          byTree.entries.map((entry) => entry.path),
          ["x"]
        )
        assert.isTrue(Option.isNone(yield* remote.tree(committed, "missing")))
        assert.isTrue(Option.isNone(yield* remote.tree(committed, "a.json")))
        assert.isTrue(Option.isNone(yield* remote.tree(committed, "a/b.json/c")))
      })
  )

  test(
    "files are read by path, by branch and in bulk, and what is missing is absent",
    "The current state of the branch. Never older than the last write of this process.",
    ({ remote }) =>
      Effect.gen(function* () {
        const committed = yield* write(remote, [
          put("d/a.json", "A"),
          put("d/b.json", "B"),
          put("c.json", "C")
        ])
        const a = Option.getOrThrow(yield* remote.file(committed, "d/a.json"))
        assert.strictEqual(text(a.content), "A")
        assert.strictEqual(a.oid, committed.blobs.get("d/a.json"))
        assert.deepStrictEqual(yield* readAt(remote, committed.commit, "c.json"), Option.some("C"))
        for (const path of ["d", "missing", "d/missing", "c.json/x"]) {
          assert.isTrue(Option.isNone(yield* remote.file(committed, path)), path)
        }
        const read = Option.getOrThrow(yield* remote.snapshot("main").file("d/b.json"))
        assert.strictEqual(text(read.content), "B")
        assert.isTrue(Option.isNone(yield* remote.snapshot("main").file("d/zzz.json")))
        const version = { path: "d/b.json", oid: read.oid, content: read.content }
        const again = Option.getOrThrow(
          yield* remote.snapshot("main").file("d/b.json", { cached: Option.some(version) })
        )
        assert.strictEqual(text(again.content), "B")
        const fresh = Option.getOrThrow(
          yield* remote.snapshot("main").file("d/b.json", { cached: Option.some(version), fresh: true })
        )
        assert.strictEqual(text(fresh.content), "B")
        const many = yield* Stream.runCollect(
          remote.blobs(
            committed,
            [
              { path: "d/b.json" },
              { path: "missing.json" },
              { path: "c.json", oid: committed.blobs.get("c.json") },
              { path: "d/a.json" }
            ],
            { concurrency: 4 }
          )
        )
        assert.deepStrictEqual(
          Array.from(many, (blob) => [blob.path, text(blob.content)]),
          [
            ["d/b.json", "B"],
            ["c.json", "C"],
            ["d/a.json", "A"]
          ]
        )
      })
  )

  test(
    "a read after a write sees the write",
    "The current state of the branch. Never older than the last write of this process.",
    ({ remote }) =>
      Effect.gen(function* () {
        for (let round = 0; round < 5; round++) {
          const committed = yield* write(remote, [put("a.json", `${round}`)])
          assert.strictEqual((yield* headOf(remote)).commit, committed.commit)
          const read = Option.getOrThrow(yield* remote.snapshot("main").file("a.json"))
          assert.strictEqual(text(read.content), `${round}`)
        }
      })
  )

  test(
    "names and contents beyond ASCII, and deep paths, come back as they were",
    "The current state of the branch. Never older than the last write of this process.",
    ({ remote }) =>
      Effect.gen(function* () {
        const paths = [
          "grüße/straße.json",
          "日本/東京 タワー.json",
          "emoji/🦊🚀.json",
          "emoji/\uffee.json",
          "with space/and %41#?&+'\"\\.json",
          `${Array.from({ length: 60 }, (_, depth) => `level-${depth}`).join("/")}/leaf.json`
        ]
        const committed = yield* write(
          remote,
          paths.map((path) => put(path, `content of ${path} 🦊`))
        )
        const files = yield* filesOf(remote, committed)
        assert.deepStrictEqual(Array.from(files.keys()).sort(), [...paths].sort())
        for (const path of paths) {
          assert.strictEqual(files.get(path), `content of ${path} 🦊`)
          assert.deepStrictEqual(yield* readAt(remote, committed, path), Option.some(`content of ${path} 🦊`))
          const read = yield* remote.snapshot("main").file(path)
          assert.strictEqual(text(Option.getOrThrow(read).content), `content of ${path} 🦊`)
        }
      })
  )

  test(
    "blobs of 0 bytes and of the large size, of any bytes",
    "The current state of the branch. Never older than the last write of this process.",
    ({ remote }) =>
      Effect.gen(function* () {
        const large = new Uint8Array(sizes.largeBlob)
        let state = 42
        for (let index = 0; index < large.length; index++) {
          state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
          large[index] = state >>> 24
        }
        const every = Uint8Array.from({ length: 256 }, (_, index) => index)
        const committed = yield* write(remote, [
          put("empty", ""),
          put("large", large),
          put("every", every),
          put("crlf", "a\r\nb\r\n")
        ])
        const read = (path: string) => Effect.map(remote.file(committed, path), Option.getOrThrow)
        assert.strictEqual((yield* read("empty")).content.length, 0)
        assert.strictEqual((yield* read("empty")).oid, GitObject.hash("blob", new Uint8Array()))
        assert.deepStrictEqual(Array.from((yield* read("every")).content), Array.from(every))
        assert.strictEqual(text((yield* read("crlf")).content), "a\r\nb\r\n")
        const back = (yield* read("large")).content
        assert.strictEqual(back.length, large.length)
        assert.strictEqual(GitObject.hash("blob", back), GitObject.hash("blob", large))
        const branch = Option.getOrThrow(yield* remote.snapshot("main").file("large"))
        assert.strictEqual(branch.content.length, large.length)
      })
  )

  test(
    "what is handed out can be changed without harm",
    "The current state of the branch. Never older than the last write of this process.",
    ({ remote }) =>
      Effect.gen(function* () {
        const given = bytes("abc")
        const committed = yield* write(remote, [put("a", given)])
        given.fill(0)
        const first = Option.getOrThrow(yield* remote.file(committed, "a"))
        assert.strictEqual(text(first.content), "abc")
        first.content.fill(0)
        assert.deepStrictEqual(yield* readAt(remote, committed, "a"), Option.some("abc"))
        const branch = Option.getOrThrow(yield* remote.snapshot("main").file("a"))
        branch.content.fill(0)
        const many = Chunk.toReadonlyArray(yield* Stream.runCollect(remote.blobs(committed, [{ path: "a" }])))
        assert.strictEqual(text(many[0]!.content), "abc")
        many[0]!.content.fill(0)
        assert.deepStrictEqual(yield* readAt(remote, committed, "a"), Option.some("abc"))
      })
  )

  test(
    "a large listing is complete",
    "The current state of the branch. Never older than the last write of this process.",
    ({ remote }) =>
      Effect.gen(function* () {
        const width = 40
        const changes = Array.from({ length: sizes.listing }, (_, index) => {
          const name = `${index}`.padStart(7, "0")
          return put(
            index % 2 === 0 ? `flat/${name}.json` : `shards/${index % width}/${name}.json`,
            `${index % 10}`
          )
        })
        const committed = yield* write(remote, changes)
        const whole = Option.getOrThrow(yield* remote.tree(committed, "", { recursive: true }))
        assert.strictEqual(whole.entries.length, sizes.listing)
        assert.deepStrictEqual(
          whole.entries.map((entry) => entry.path),
          changes.map((change) => change.path).sort(GitObject.compareNames)
        )
        const flat = Option.getOrThrow(yield* remote.tree(committed, "flat"))
        assert.strictEqual(flat.entries.length, Math.ceil(sizes.listing / 2))
        const before = yield* filesCount(remote, committed.tree)
        const after = yield* write(remote, [put("flat/zzz.json", "1"), remove("flat/0000000.json")])
        assert.strictEqual(yield* filesCount(remote, after.tree), before)
      })
  )

  test(
    "the tree that changes will give is known before they are committed",
    "The tree id that the directory `path` has after `changes` to the tree of `at`; none if it becomes empty.",
    ({ remote }) =>
      Effect.gen(function* () {
        const none = Option.none()
        assert.isTrue(Option.isNone(yield* remote.treeAfter(none, "d", [])))
        const first = [put("d/a.json", "1"), put("d/e/b.json", "2"), put("x.json", "3")]
        const planned = yield* remote.treeAfter(none, "d", first)
        const committed = yield* write(remote, first)
        const lookup = (at: { readonly commit: Oid; readonly tree: Oid }, path: string) =>
          Effect.map(
            remote.tree(at, path),
            Option.map((tree) => tree.oid)
          )
        assert.deepStrictEqual(planned, yield* lookup(committed, "d"))
        const second = [put("d/a.json", "1b"), remove("d/e/b.json"), put("q/r.json", "4")]
        const at = Option.some(committed)
        const expected = yield* Effect.all({
          root: remote.treeAfter(at, "", second),
          d: remote.treeAfter(at, "d", second),
          q: remote.treeAfter(at, "q", second),
          e: remote.treeAfter(at, "d/e", second),
          missing: remote.treeAfter(at, "missing", second)
        })
        assert.strictEqual((yield* headOf(remote)).commit, committed.commit, "nothing is written")
        const next = yield* write(remote, second)
        assert.deepStrictEqual(expected.root, Option.some(next.tree))
        assert.deepStrictEqual(expected.d, yield* lookup(next, "d"))
        assert.deepStrictEqual(expected.q, yield* lookup(next, "q"))
        assert.isTrue(Option.isNone(expected.e))
        assert.isTrue(Option.isNone(expected.missing))
        const unchanged = yield* remote.treeAfter(Option.some(next), "d", [put("x.json", "other")])
        assert.deepStrictEqual(unchanged, yield* lookup(next, "d"))
        const all = [remove("d/a.json"), remove("q/r.json"), remove("x.json")]
        assert.isTrue(Option.isNone(yield* remote.treeAfter(Option.some(next), "", all)))
        const empty = yield* write(remote, all)
        assert.strictEqual(empty.tree, emptyTree)
        assert.strictEqual((yield* filesOf(remote, empty)).size, 0)
      })
  )
}

const filesCount = (remote: Parameters<typeof filesOf>[0], tree: Oid) =>
  Effect.map(remote.tree(tree, "", { recursive: true }), (found) => Option.getOrThrow(found).entries.length)

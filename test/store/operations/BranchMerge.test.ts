import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Option, Schema, Stream } from "effect"
import type { ConflictError, ValidationError } from "../../../src/domain/errors/StoreError.js"
import { Collection } from "../../../src/store/index.js"
import { type FileMode, GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { idsOf } from "../../support/documents.js"
import { brief, document, expectFailure, headSha, messages, type StorePair, storePair } from "./StorePair.js"

const options = { indexes: { notes: ["n"] }, manifests: { notes: ["n"] } }

const commit = (remote: GitRemoteService, branch: string, files: Readonly<Record<string, string | null>>) =>
  Effect.flatMap(remote.head(branch), (head) =>
    remote.commit(branch, head, {
      message: "by hand",
      changes: Object.entries(files).map(([path, text]) =>
        text === null
          ? { _tag: "Remove" as const, path }
          : { _tag: "Put" as const, path, content: new TextEncoder().encode(text) }
      )
    })
  )

const treeOf = ({ remote }: StorePair, branch = "main") =>
  Effect.map(remote.head(branch), (head) => Option.getOrThrow(head).tree)

const textOf = ({ remote }: StorePair, path: string, branch = "main") =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head(branch))
    return Option.map(yield* remote.file(head, path), ({ content }) => new TextDecoder().decode(content))
  })

/** Indexes, manifests and documents fit together. */
const assertWhole = (store: StoreService) =>
  Effect.map(store.doctorWith({ deep: true }), (findings) =>
    assert.deepStrictEqual(
      findings.filter(({ code, severity }) => severity !== "ok" && code !== "misplaced"),
      []
    )
  )

/** Two documents on `main`, and a branch `draft` beside it. */
const branched = (settings: Parameters<typeof storePair>[0] = options) =>
  Effect.gen(function* () {
    const it = yield* storePair(settings)
    yield* it.store.batch({}, (batch) =>
      Effect.zipRight(
        batch.put("notes", "a", { n: 1, title: "A", tags: ["x"] }),
        batch.put("notes", "b", { n: 2, title: "B" })
      )
    )
    yield* it.store.createBranch("draft")
    return { ...it, draft: it.store.onBranch("draft") }
  })

describe("branches", () => {
  it.live("are listed, made at any commit, and deleted", () =>
    Effect.gen(function* () {
      const it = yield* branched()
      const first = yield* headSha(it)
      yield* it.draft.collection("notes").update("a", { n: 5 })
      const second = yield* headSha(it, "draft")
      assert.strictEqual(yield* it.store.createBranch("old", { from: "draft~1" }), first)
      assert.deepStrictEqual(yield* it.store.branches, [
        { name: "draft", commitSha: second },
        { name: "main", commitSha: first },
        { name: "old", commitSha: first }
      ])
      const taken = yield* expectFailure<ConflictError>(it.store.createBranch("old"), "ConflictError")
      assert.match(taken.message, /old exists already/)
      yield* it.store.deleteBranch("old")
      yield* it.store.deleteBranch("old")
      assert.deepStrictEqual(
        (yield* it.store.branches).map(({ name }) => name),
        ["draft", "main"]
      )
      yield* expectFailure(it.store.deleteBranch("main"), "ValidationError")
      yield* expectFailure(it.store.createBranch("a..b"), "ValidationError")
      yield* expectFailure(it.store.createBranch("new", { from: "nowhere" }), "NotFoundError")
      assert.strictEqual(yield* headSha(it), first)
    })
  )

  it.live("are compared by their documents, since they parted or as they are", () =>
    Effect.gen(function* () {
      const it = yield* branched()
      yield* it.draft.collection("notes").update("a", { n: 5 })
      yield* it.draft.collection("notes").delete("b")
      yield* it.draft.collection("notes").insert({ n: 3 }, { id: "c" })
      yield* it.store.collection("notes").insert({ n: 4 }, { id: "d" })
      const shown = (stream: ReturnType<StoreService["compare"]>) =>
        Stream.runCollect(
          Stream.mapEffect(stream, ({ after, before, id, kind }) =>
            Effect.map(Effect.all([before, after]), (both) => [
              id,
              kind,
              ...both.map((side) => Option.getOrNull(Option.map(side, (found) => found["n"])))
            ])
          )
        ).pipe(Effect.map(Chunk.toReadonlyArray))
      assert.deepStrictEqual(yield* shown(it.store.compare("main", "draft")), [
        ["a", "changed", 1, 5],
        ["b", "removed", 2, null],
        ["c", "added", null, 3]
      ])
      assert.deepStrictEqual(yield* shown(it.store.compare("main", "draft", { against: "first" })), [
        ["a", "changed", 1, 5],
        ["b", "removed", 2, null],
        ["c", "added", null, 3],
        ["d", "removed", 4, null]
      ])
      yield* expectFailure(Stream.runDrain(it.store.compare("main", "nowhere")), "NotFoundError")
    })
  )
})

describe("a merge", () => {
  it.live("of a branch that alone has moved is a fast-forward, or makes a merge commit if requested", () =>
    Effect.gen(function* () {
      const it = yield* branched()
      yield* it.draft.collection("notes").update("a", { n: 5 })
      const tip = yield* headSha(it, "draft")
      const base = yield* headSha(it)
      const dry = yield* it.store.merge("draft", { dryRun: true })
      assert.deepStrictEqual([dry.kind, dry.commitSha], ["fastForward", Option.none()])
      assert.strictEqual(yield* headSha(it), base)
      const made = yield* it.store.merge("draft", { fastForward: false, into: "main", message: "take it" })
      const info = Option.getOrThrow(yield* it.remote.commitInfo((yield* headSha(it)) as never))
      assert.deepStrictEqual(info.parents, [base, tip] as never)
      assert.deepStrictEqual([made.kind, made.commitSha], ["merge", Option.some(info.commit)] as never)
      assert.strictEqual(info.message.trim(), "take it")
      const forward = yield* it.store.merge("main", { into: "draft" })
      assert.deepStrictEqual([forward.kind, forward.commitSha], [
        "fastForward",
        Option.some(info.commit)
      ] as never)
      assert.strictEqual(yield* headSha(it, "draft"), yield* headSha(it))
      assert.deepStrictEqual((yield* it.store.merge("draft")).kind, "upToDate")
      yield* assertWhole(it.other)
    })
  )

  it.live("joins fields, documents and files of both branches; indexes and manifests follow", () =>
    Effect.gen(function* () {
      const it = yield* branched()
      const notes = it.store.collection("notes")
      yield* notes.update("a", { title: "A2" })
      yield* notes.insert({ n: 7 }, { id: "ours" })
      yield* commit(it.remote, "main", { "README.md": "ours", "data/notes/_info.txt": "inside" })
      yield* it.draft.collection("notes").update("a", { n: 10 })
      yield* it.draft.collection("notes").update("a", { n: 11 })
      yield* it.draft.collection("notes").delete("b")
      yield* it.draft.collection("notes").insert({ n: 8 }, { id: "theirs" })
      yield* commit(it.remote, "draft", { "docs/x.md": "theirs", "data/notes/info.md": "beside" })
      const parents = [yield* headSha(it), yield* headSha(it, "draft")]
      const merged = yield* it.store.merge("draft")
      assert.deepStrictEqual(
        merged.documents.map(({ id, kind }) => [id, kind]),
        [
          ["b", "removed"],
          ["theirs", "added"],
          ["a", "changed"]
        ]
      )
      assert.deepStrictEqual(merged.files, ["data/notes/info.md", "docs/x.md"])
      const info = Option.getOrThrow(yield* it.remote.commitInfo((yield* headSha(it)) as never))
      assert.deepStrictEqual(info.parents, parents as never)
      const a = (yield* document(it.other, "notes", "a"))!
      assert.deepStrictEqual(brief(a), [4, { n: 11, tags: ["x"], title: "A2" }])
      assert.deepStrictEqual(idsOf(yield* it.other.collection("notes").findBy("n", 8)), ["theirs"])
      assert.deepStrictEqual(idsOf(yield* it.other.collection("notes").findBy("n", 11)), ["a"])
      assert.deepStrictEqual(yield* it.other.collection("notes").findBy("n", 2), [])
      assert.deepStrictEqual(yield* it.other.collection("notes").list(), ["a", "ours", "theirs"])
      assert.deepStrictEqual(yield* textOf(it, "docs/x.md"), Option.some("theirs"))
      assert.deepStrictEqual(yield* textOf(it, "README.md"), Option.some("ours"))
      yield* assertWhole(it.other)
      // The next write goes on from there.
      yield* it.store.collection("notes").update("a", { n: 12 })
      yield* assertWhole(it.other)
    })
  )

  it.live("keeps modes, links and submodules, which are not differences of documents", () =>
    Effect.gen(function* () {
      const it = yield* branched()
      yield* commit(it.remote, "main", { run: "1", link: "run" })
      yield* it.store.merge("main", { into: "draft" })
      const base = Option.getOrThrow(yield* it.remote.head("draft"))
      const oidOf = (path: string) =>
        Effect.map(it.remote.file(base, path), (file) => Option.getOrThrow(file).oid)
      const [a, b] = ["data/notes/a.json", "data/notes/b.json"]
      const linked = (branch: string, files: Readonly<Record<string, FileMode>>) =>
        Effect.gen(function* () {
          const changes = yield* Effect.forEach(Object.entries(files), ([path, mode]) =>
            Effect.map(mode === "160000" ? Effect.succeed(base.commit) : oidOf(path), (oid) => ({
              _tag: "Link" as const,
              path,
              oid,
              mode
            }))
          )
          yield* it.remote.commit(branch, yield* it.remote.head(branch), { message: "modes", changes })
        })
      yield* linked("draft", { run: "100755", link: "120000", sub: "160000", [a]: "100755" })
      yield* linked("main", { [b]: "100755" })
      yield* commit(it.remote, "main", { run: "2" })
      yield* it.draft.collection("notes").update("b", { n: 20 })
      const compared = yield* Stream.runCollect(it.store.compare("main", "draft"))
      assert.deepStrictEqual(
        Array.from(compared, ({ id }) => id),
        ["b"]
      )
      const merged = yield* it.store.merge("draft")
      assert.deepStrictEqual(merged.documents, [{ collection: "notes", id: "b", kind: "changed" }])
      assert.deepStrictEqual([...merged.files].sort(), [a, "link", "run", "sub"])
      const head = Option.getOrThrow(yield* it.remote.head("main"))
      const entries = Option.getOrThrow(yield* it.remote.tree(head, "", { recursive: true })).entries
      const modes = Object.fromEntries(entries.map(({ mode, path }) => [path, mode]))
      assert.deepStrictEqual(
        ["run", "link", "sub", a, b].map((path) => modes[path]),
        ["100755", "120000", "160000", "100755", "100755"]
      )
      assert.deepStrictEqual(yield* textOf(it, "run"), Option.some("2"))
      assert.strictEqual((yield* document(it.other, "notes", "b"))!["n"], 20)
      yield* assertWhole(it.other)
      // Who deletes a document deletes its file, whatever its mode has become.
      yield* it.store.merge("main", { into: "draft" })
      yield* it.draft.collection("notes").delete("b")
      yield* linked("main", { [a]: "100644" })
      yield* it.store.merge("draft")
      assert.deepStrictEqual(yield* it.other.collection("notes").list(), ["a"])
      yield* assertWhole(it.other)
    })
  )

  it.live("that two clients make on their own gives one tree", () =>
    Effect.gen(function* () {
      const it = yield* branched()
      yield* it.store.collection("notes").update("a", { title: "A2" })
      yield* it.draft.collection("notes").update("a", { n: 10 })
      yield* it.draft.collection("notes").insert({ n: 8 }, { id: "theirs" })
      yield* it.store.createBranch("mine")
      yield* it.store.merge("draft")
      yield* Effect.sleep("5 millis")
      yield* it.other.merge("draft", { into: "mine" })
      assert.strictEqual(yield* treeOf(it), yield* treeOf(it, "mine"))
    })
  )

  it.live("with conflicts fails with all of them, and writes nothing", () =>
    Effect.gen(function* () {
      const it = yield* branched()
      const notes = it.store.collection("notes")
      yield* commit(it.remote, "main", { "README.md": "ours" })
      yield* notes.update("a", { n: 3, title: "ours", tags: ["x", "y"] })
      yield* notes.delete("b")
      yield* notes.insert({ n: 1 }, { id: "both" })
      yield* it.draft.collection("notes").update("a", { n: 4, title: "theirs" })
      yield* it.draft.collection("notes").update("b", { n: 9 })
      yield* it.draft.collection("notes").insert({ n: 2 }, { id: "both" })
      yield* commit(it.remote, "draft", { "README.md": "theirs" })
      const before = yield* headSha(it)
      const failure = yield* expectFailure<ConflictError>(it.store.merge("draft"), "ConflictError")
      const shown = failure.unmerged!.map(({ conflicts, id, kind, path }) => [
        kind,
        id ?? path,
        conflicts.map((found) => found.path.join("."))
      ])
      assert.deepStrictEqual(shown.sort(), [
        ["changed", "a", ["n", "title"]],
        ["changed", "both", ["n"]],
        ["deleted", "b", []],
        ["file", "README.md", []]
      ])
      const a = failure.unmerged!.find(({ id }) => id === "a")!
      assert.deepStrictEqual(a.kind === "changed" && a.document?.["tags"], ["x", "y"])
      assert.deepStrictEqual(failure.conflicts.map(({ id }) => id).sort(), ["a", "b", "both"])
      assert.strictEqual(yield* headSha(it), before)
      const dry = yield* it.store.merge("draft", { dryRun: true })
      assert.strictEqual(dry.conflicts.length, 4)
      assert.strictEqual(yield* headSha(it), before)
      yield* it.store.createBranch("copy")
      const ours = yield* it.store.merge("draft", { into: "copy", onConflict: "ours" })
      assert.strictEqual(ours.conflicts.length, 4)
      const copy = it.other.onBranch("copy")
      assert.deepStrictEqual(brief(yield* document(copy, "notes", "a")), [
        3,
        { n: 3, tags: ["x", "y"], title: "ours" }
      ])
      assert.isNull(yield* document(copy, "notes", "b"))
      assert.deepStrictEqual(yield* textOf(it, "README.md", "copy"), Option.some("ours"))
      yield* assertWhole(copy)
      const theirs = yield* it.store.merge("draft", { onConflict: "theirs" })
      assert.strictEqual(theirs.kind, "merge")
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "a")), [
        3,
        { n: 4, tags: ["x", "y"], title: "theirs" }
      ])
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "b")), [2, { n: 9, title: "B" }])
      assert.deepStrictEqual(yield* textOf(it, "README.md"), Option.some("theirs"))
      yield* assertWhole(it.other)
    })
  )

  it.live("follows the rules that the repository has recorded, whichever client merges", () =>
    Effect.gen(function* () {
      const rules = { notes: { tags: "set", rows: { key: "id" }, note: "lines" } } as const
      const it = yield* branched({ ...options, merge: rules })
      const adopted = yield* Effect.provideService(Store.make({}), GitRemote, it.remote)
      const rows = (...ids: ReadonlyArray<string>) => ids.map((id) => ({ id }))
      yield* it.store.collection("notes").update("a", { tags: ["x", "z"], rows: rows("1"), note: "A\nb\nc" })
      yield* it.draft.collection("notes").update("a", { tags: ["y"], rows: rows("2"), note: "A\nb\nc" })
      yield* it.store.createBranch("again")
      const wanted = { n: 1, title: "A", tags: ["y", "z"], rows: rows("1", "2"), note: "A\nb\nc" }
      yield* adopted.merge("draft")
      assert.deepStrictEqual(brief(yield* document(it.store, "notes", "a")), [3, wanted])
      // Who merges the other way round, or with a base, comes to the same.
      yield* it.other.merge("again", { into: "draft" })
      assert.deepStrictEqual(brief(yield* document(it.draft, "notes", "a")), [3, wanted])
      assert.strictEqual(yield* treeOf(it, "draft"), yield* treeOf(it))
      const base = Option.getOrThrow(yield* adopted.collection("notes").version("a"))
      yield* adopted.collection("notes").update("a", { tags: ["y"] })
      yield* adopted.collection("notes").update("a", { tags: ["y", "z", "w"] }, { base })
      assert.deepStrictEqual((yield* document(it.store, "notes", "a"))?.["tags"], ["y", "w"])
      // A call says more than the repository.
      yield* it.store.createBranch("whole")
      yield* it.store
        .onBranch("whole")
        .collection("notes")
        .update("a", { tags: ["1"] })
      yield* it.store.collection("notes").update("a", { tags: ["2"] })
      const strict = { notes: { fields: { tags: "whole" } } } as const
      yield* expectFailure(it.store.merge("whole", { rules: strict }), "ConflictError")
      yield* it.store.merge("whole")
      assert.deepStrictEqual((yield* document(it.store, "notes", "a"))?.["tags"], ["1", "2"])
    })
  )

  it.live("merges recorded rules themselves, and refuses what is none", () =>
    Effect.gen(function* () {
      const it = yield* branched({ ...options, merge: { notes: { tags: "set" } } })
      const settings = JSON.parse(Option.getOrThrow(yield* textOf(it, "data/_chainstore.json")))
      assert.deepStrictEqual(settings.merge, { notes: { tags: "set" } })
      const record = (branch: string, merge: object) =>
        commit(it.remote, branch, { "data/_chainstore.json": JSON.stringify({ ...settings, merge }) })
      yield* record("main", { notes: { tags: "set", "a.b c": "counter" } })
      yield* record("draft", { notes: { tags: "set" }, others: { "*": "lines" } })
      const adopted = yield* Effect.provideService(Store.make({}), GitRemote, it.remote)
      yield* adopted.merge("draft")
      const merged = JSON.parse(Option.getOrThrow(yield* textOf(it, "data/_chainstore.json")))
      assert.deepStrictEqual(merged.merge, {
        notes: { tags: "set", "a.b c": "counter" },
        others: { "*": "lines" }
      })
      yield* adopted.createBranch("other")
      yield* record("main", { notes: { tags: "sequence" } })
      yield* record("other", { notes: { tags: "whole" } })
      const failure = yield* expectFailure<ConflictError>(adopted.merge("other"), "ConflictError")
      assert.match(failure.message, /the setting merge notes tags was changed on both branches/)
      const late = yield* Effect.provideService(
        Store.make({ merge: { notes: { tags: "set" } } }),
        GitRemote,
        it.remote
      )
      const differs = yield* expectFailure<ValidationError>(
        late.collection("notes").get("a"),
        "ValidationError"
      )
      assert.match(differs.message, /the options merge differ/)
      for (const merge of [
        { notes: { tags: "sets" } },
        { notes: { tags: () => Option.none() } },
        { notes: [] },
        { "no/name": { tags: "set" } },
        []
      ]) {
        yield* expectFailure(
          Effect.provideService(Store.make({ merge } as never), GitRemote, it.remote),
          "ValidationError"
        )
      }
    })
  )

  it.live("asks a function about each conflict; what it leaves open fails the merge", () =>
    Effect.gen(function* () {
      const it = yield* branched()
      const notes = it.store.collection("notes")
      yield* notes.update("a", { n: 3 })
      yield* notes.delete("b")
      yield* it.draft.collection("notes").update("a", { n: 4 })
      yield* it.draft.collection("notes").update("b", { n: 9 })
      const left = yield* expectFailure<ConflictError>(
        it.store.merge("draft", { onConflict: ({ id }) => (id === "a" ? "ours" : undefined) }),
        "ConflictError"
      )
      assert.deepStrictEqual(
        left.unmerged!.map(({ id }) => id),
        ["b"]
      )
      yield* expectFailure<ValidationError>(
        it.store.merge("draft", { onConflict: () => 5 as never }),
        "ValidationError"
      )
      yield* it.store.merge("draft", {
        onConflict: ({ id, ours, theirs }) =>
          id === "b"
            ? Effect.succeed(null)
            : { n: (ours as { n: number }).n + (theirs as { n: number }).n, _rev: 77 }
      })
      const a = (yield* document(it.other, "notes", "a"))!
      assert.deepStrictEqual(brief(a), [3, { n: 7 }])
      assert.isNull(yield* document(it.other, "notes", "b"))
      yield* assertWhole(it.other)
    })
  )

  it.live(
    "uses the rules that a schema says, and judges what it makes by the schema and by unique indexes",
    () =>
      Effect.gen(function* () {
        const Note = Schema.Struct({ n: Schema.Number, max: Schema.Number }).pipe(
          Schema.filter(({ max, n }) => n <= max || "n is above max")
        )
        const notes = Collection.define("notes", Note, {
          indexes: [{ fields: ["n"], unique: true, name: "n" }]
        })
        const it = yield* storePair({ format: 2, collections: [notes] })
        const main = it.store.collection(notes)
        yield* main.insert({ n: 1, max: 10 }, { id: "a" })
        yield* it.store.createBranch("draft")
        const draft = it.store.onBranch("draft")
        yield* main.update("a", { max: 5 })
        yield* draft.collection(notes).update("a", { n: 8 })
        const broken = yield* expectFailure<ConflictError>(it.store.merge("draft"), "ConflictError")
        assert.deepStrictEqual(
          broken.unmerged!.map(({ kind }) => kind),
          ["invalid"]
        )
        assert.match(broken.message, /n is above max/)
        yield* it.store.merge("draft", { onConflict: "theirs" })
        assert.deepStrictEqual((yield* document(it.other, "notes", "a"))!["n"], 8)
        yield* main.insert({ n: 2, max: 10 }, { id: "ours" })
        yield* draft.collection(notes).insert({ n: 2, max: 10 }, { id: "theirs" })
        for (const dryRun of [true, false]) {
          const twice = yield* expectFailure<ConflictError>(
            it.store.merge("draft", { dryRun }),
            "ConflictError"
          )
          assert.strictEqual(twice.reason, "UniqueViolation")
        }
        yield* assertWhole(it.other)
      })
  )

  it.live("merges settings by themselves, and makes indexes anew where they have changed", () =>
    Effect.gen(function* () {
      const it = yield* branched({})
      const settings = (more: object) =>
        JSON.stringify({
          format: 1,
          shardBy: "leading",
          shardDepth: 0,
          shardWidth: 2,
          indexes: {},
          manifests: {},
          ...more
        })
      yield* commit(it.remote, "main", { "data/_chainstore.json": settings({ indexes: { notes: ["n"] } }) })
      yield* it.store.merge("main", { into: "draft" })
      yield* commit(it.remote, "main", {
        "data/_chainstore.json": settings({ indexes: { notes: ["n", "title"] } })
      })
      yield* commit(it.remote, "draft", {
        "data/_chainstore.json": settings({ manifests: { notes: ["title"] } })
      })
      yield* it.store.collection("notes").insert({ n: 3, title: "C" }, { id: "c" })
      yield* it.draft.collection("notes").insert({ n: 4, title: "D" }, { id: "d" })
      yield* it.store.merge("draft")
      const file = JSON.parse(Option.getOrThrow(yield* textOf(it, "data/_chainstore.json")))
      assert.deepStrictEqual(file.indexes, { notes: ["title"] })
      assert.deepStrictEqual(file.manifests, { notes: ["title"] })
      assert.deepStrictEqual(yield* textOf(it, "data/_index/notes/n.json"), Option.none())
      assert.deepStrictEqual(idsOf(yield* it.other.collection("notes").findBy("title", "D")), ["d"])
      yield* assertWhole(it.other)
      yield* commit(it.remote, "main", { "data/_chainstore.json": settings({ manifests: { notes: ["n"] } }) })
      yield* commit(it.remote, "draft", {
        "data/_chainstore.json": settings({ manifests: { notes: ["x"] } })
      })
      const failure = yield* expectFailure<ConflictError>(it.store.merge("draft"), "ConflictError")
      assert.deepStrictEqual(
        failure.unmerged!.map(({ kind, ours, theirs }) => [kind, ours, theirs]),
        [["setting", ["n"], ["x"]]]
      )
      yield* it.store.merge("draft", { onConflict: "theirs" })
      yield* assertWhole(it.other)
    })
  )

  it.live("takes the shards of the branch that has documents, and refuses two layouts", () =>
    Effect.gen(function* () {
      const it = yield* storePair({})
      const settings = (shardDepth: number) =>
        JSON.stringify({
          format: 1,
          shardBy: "leading",
          shardDepth,
          shardWidth: 1,
          indexes: {},
          manifests: {}
        })
      yield* commit(it.remote, "main", { "README.md": "1" })
      for (const [branch, depth] of [
        ["one", 1],
        ["two", 2]
      ] as const) {
        yield* it.store.createBranch(branch)
        yield* commit(it.remote, branch, { "data/_chainstore.json": settings(depth) })
        yield* it.store.onBranch(branch).collection("notes").insert({ n: depth }, { id: branch })
      }
      yield* commit(it.remote, "main", { "README.md": "2" })
      assert.strictEqual((yield* it.store.merge("one")).kind, "merge")
      assert.strictEqual((yield* document(it.other, "notes", "one"))!["n"], 1)
      assert.isTrue(Option.isSome(yield* textOf(it, "data/notes/o/one.json")))
      yield* assertWhole(it.other)
      const refused = yield* expectFailure<ValidationError>(it.store.merge("two"), "ValidationError")
      assert.match(refused.message, /shard settings differ/)
    })
  )

  it.live("of histories that cross asks where the merges before differed, and nowhere else", () =>
    Effect.gen(function* () {
      const it = yield* branched()
      const [main, draft] = [it.store.collection("notes"), it.draft.collection("notes")]
      yield* main.update("a", { title: "ours" })
      yield* draft.update("a", { title: "theirs" })
      yield* draft.update("b", { n: 20 })
      yield* it.store.createBranch("main-before")
      const crossed = (onConflict: "ours" | "theirs") =>
        Effect.gen(function* () {
          yield* it.store.merge("draft", { onConflict: "ours" })
          yield* it.store.merge("main-before", { into: "draft", onConflict })
        })
      // Both decide for "ours" of main: nothing is left to ask.
      yield* crossed("theirs")
      yield* main.update("a", { n: 30 })
      yield* draft.insert({ n: 40 }, { id: "later" })
      const merged = yield* it.store.merge("draft")
      assert.deepStrictEqual(merged.conflicts, [])
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "a"))![1], {
        n: 30,
        tags: ["x"],
        title: "ours"
      })
      yield* assertWhole(it.other)
    })
  )

  it.live("of histories that cross, decided differently before, is a conflict there", () =>
    Effect.gen(function* () {
      const it = yield* branched()
      const [main, draft] = [it.store.collection("notes"), it.draft.collection("notes")]
      yield* main.update("a", { title: "ours" })
      yield* draft.update("a", { title: "theirs" })
      yield* it.store.createBranch("main-before")
      yield* it.store.merge("draft", { onConflict: "ours" })
      yield* it.store.merge("main-before", { into: "draft", onConflict: "ours" })
      assert.deepStrictEqual(
        (yield* it.remote.mergeBases((yield* headSha(it)) as never, (yield* headSha(it, "draft")) as never))
          .length,
        2
      )
      const failure = yield* expectFailure<ConflictError>(it.store.merge("draft"), "ConflictError")
      assert.deepStrictEqual(
        failure.unmerged!.flatMap(({ conflicts }) => conflicts.map(({ base, path }) => [path, base])),
        [[["title"], undefined]]
      )
    })
  )

  it.live("of wrong things is refused in words", () =>
    Effect.gen(function* () {
      const it = yield* branched()
      yield* it.store.collection("notes").update("a", { n: 3 })
      yield* it.remote.commit("orphan", Option.none(), {
        message: "another beginning",
        changes: [{ _tag: "Put", path: "x", content: new TextEncoder().encode("1") }]
      })
      const unrelated = yield* expectFailure<ValidationError>(it.store.merge("orphan"), "ValidationError")
      assert.match(unrelated.message, /unrelated histories/)
      yield* expectFailure(it.store.merge("nowhere"), "NotFoundError")
      yield* expectFailure(it.store.merge("draft", { into: "nowhere" }), "NotFoundError")
      yield* expectFailure(it.store.merge("draft", { into: "a b" }), "ValidationError")
      yield* expectFailure(it.store.merge("draft", { onConflict: "mine" as never }), "ValidationError")
      yield* expectFailure(it.store.withTransaction(it.store.merge("draft")), "ValidationError")
      yield* commit(it.remote, "draft", { "data/notes/a.json": "{ broken" })
      const broken = yield* expectFailure<ConflictError>(it.store.merge("draft"), "ConflictError")
      assert.deepStrictEqual(
        broken.unmerged!.map(({ kind }) => kind),
        ["unreadable"]
      )
      yield* commit(it.remote, "draft", { "data/_chainstore.json": '{"format": 99}' })
      yield* expectFailure(it.store.merge("draft"), "ValidationError")
      assert.deepStrictEqual((yield* messages(it)).at(-1), "update notes/a")
    })
  )
})

describe("a function that decides about the places of a conflict", () => {
  for (const [what, decide] of [
    ["throws", () => () => { throw new Error("no idea") }], // biome-ignore format: one line
    ["says what is no side", () => () => "mine" as never]
  ] as const) {
    it.live(`that ${what} is named in the error, with a hint`, () =>
      Effect.gen(function* () {
        const it = yield* storePair()
        yield* it.store.collection("notes").insert({ n: 1 }, { id: "x" })
        yield* it.store.createBranch("draft")
        yield* it.store.collection("notes").update("x", { n: 2 })
        yield* it.store.onBranch("draft").collection("notes").update("x", { n: 3 })
        const error = yield* expectFailure<ValidationError>(
          it.store.merge("draft", { onConflict: decide }),
          "ValidationError"
        )
        assert.include(error.message, "onConflict")
        assert.include(error.hint, "undefined")
      })
    )
  }
})

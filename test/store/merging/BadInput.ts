import { assert, it } from "@effect/vitest"
import { Effect, Either, Option, Schema, type Scope, Stream } from "effect"
import type { ConflictError } from "../../../src/domain/errors/StoreError.js"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import type { Unmerged } from "../../../src/store/Branches.js"
import { Collection } from "../../../src/store/index.js"
import { type Change, GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { file } from "../core/ForeignCommit.js"
import { expectFailure } from "../operations/StorePair.js"
import type { MergeRemote } from "./MergeRemotes.js"

const open = (place: MergeRemote, options: StoreOptions = {}) =>
  Effect.flatMap(place.client, (remote) => Effect.provideService(Store.make(options), GitRemote, remote))

/** A commit of somebody who does not use the store. */
const byHand = (remote: GitRemoteService, branch: string, ...changes: ReadonlyArray<Change>) =>
  Effect.flatMap(remote.head(branch), (head) => remote.commit(branch, head, { message: "by hand", changes }))

const headOf = (remote: GitRemoteService, branch: string) =>
  Effect.map(remote.head(branch), (head) => Option.getOrThrow(head).commit as string)

/** Every branch with its commit. Where Git finds that nothing is missing, their documents are as they were, too. */
const seen = ({ client, git }: MergeRemote) =>
  git === undefined
    ? Effect.flatMap(client, (remote) =>
        Effect.map(remote.listBranches(""), (found) =>
          found.map(({ commit, name }) => `${commit} refs/heads/${name}`).sort()
        )
      )
    : Effect.sync(() =>
        git("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads").split("\n").sort()
      )

const assertSound = ({ git }: MergeRemote) => {
  if (git !== undefined) assert.strictEqual(git("fsck", "--strict", "--no-dangling"), "")
}

/** Afterwards the documents of both sides can be read by a client that knows nothing yet, and Git finds nothing wrong. */
const assertReadable = (place: MergeRemote) =>
  Effect.gen(function* () {
    const store = yield* open(place)
    for (const [branch, own] of [
      ["main", "ours"],
      ["draft", "theirs"]
    ] as const) {
      const documents = yield* Stream.runCollect(
        store.onBranch(branch).collection("notes").all({ onInvalid: "skip" })
      )
      assert.include(
        Array.from(documents, ({ _id }) => _id),
        own
      )
    }
    assertSound(place)
  })

/** A call that has to fail in these words, and to leave every branch and document as it is. */
const refused = <E = Error>(
  { place }: Pick<World, "place">,
  call: Effect.Effect<unknown, unknown, Scope.Scope>,
  tag: string,
  message: RegExp
): Effect.Effect<E, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const before = yield* seen(place)
    const error = yield* expectFailure<E & { readonly message: string; readonly hint?: string }>(
      Effect.scoped(call),
      tag
    )
    assert.match(`${error.message}; ${error.hint}`, message)
    assert.deepStrictEqual(yield* seen(place), before)
    assertSound(place)
    return error
  })

interface World {
  readonly place: MergeRemote
  readonly remote: GitRemoteService
  readonly store: StoreService
  readonly draft: StoreService
}

const indexed: StoreOptions = { format: 2, indexes: { notes: ["n"] } }

/** Two branches with documents of their own, and with changes of one document that merge by themselves. */
const parted = (
  place: MergeRemote,
  options: StoreOptions = indexed
): Effect.Effect<World, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const remote = yield* place.client
    const store = yield* Effect.provideService(Store.make(options), GitRemote, remote)
    yield* store.batch({}, (batch) =>
      Effect.forEach(["a", "b", "c"], (id, n) => batch.insert("notes", { n, max: 10, title: id }, { id }))
    )
    yield* store.createBranch("draft")
    const draft = store.onBranch("draft")
    for (const [side, name, field] of [
      [store, "ours", "title"],
      [draft, "theirs", "more"]
    ] as const) {
      yield* side.batch({}, (batch) =>
        Effect.zipRight(
          batch.put("notes", "a", { n: 0, max: 10, title: "a", [field]: name }),
          batch.insert("notes", { n: name === "ours" ? 11 : 12, max: 20, title: name }, { id: name })
        )
      )
    }
    return { place, remote, store, draft }
  })

/** A merge that must come through, and hold the documents of both sides. */
const merges = ({ place, store }: World, options: Parameters<StoreService["merge"]>[1] = {}) =>
  Effect.gen(function* () {
    const done = yield* store.merge("draft", options)
    assert.strictEqual(done.kind, "merge")
    const after = yield* open(place)
    const ids = yield* after.collection("notes").list()
    assert.includeMembers([...ids], ["ours", "theirs"])
    assert.deepInclude(Option.getOrThrow(yield* after.collection("notes").get("a")), {
      title: "ours",
      more: "theirs"
    })
    assert.deepStrictEqual(
      (yield* after.doctorWith({ deep: true })).flatMap(({ code, message, severity }) =>
        severity !== "ok" && /^(index|manifest)-/.test(code) ? [`${code}: ${message}`] : []
      ),
      []
    )
    assertSound(place)
    return after
  })

const unmergedOf = ({ unmerged = [] }: ConflictError) =>
  unmerged.map((one: Unmerged) => `${one.kind} ${one.id ?? one.path}`)

const broken = (id: string, text = "{ broken") => file(`notes/${id}.json`, text)

const proposal = (store: StoreService) =>
  Effect.map(
    store.propose({ title: "Prices" }, (edits) => edits.collection("notes").update("b", { n: 9 })),
    ({ proposal: made }) => ({ made, handle: store.proposal(made.id) })
  )

/** Names that `git check-ref-format --branch` refuses. */
const refusedNames = [
  "",
  "a b",
  "a..b",
  "-a",
  ".a",
  "a.lock",
  "a//b",
  "a/",
  "/a",
  "a~1",
  "a^",
  "a:b",
  "a?",
  "a*",
  "a[b",
  "a\\b",
  "a@{b",
  "a\u0007",
  "a.",
  "HEAD"
]

/** Everything that can be wrong with what is merged, proposed or named, on one kind of remote. */
export const badInputOn = (name: string, make: Effect.Effect<MergeRemote, unknown, Scope.Scope>) => {
  const test = (
    title: string,
    body: (place: MergeRemote) => Effect.Effect<void, unknown, Scope.Scope>,
    isPossible = true
  ) => {
    if (!isPossible) return
    const run = Effect.flatMap(make, (place) => Effect.zipRight(body(place), assertReadable(place)))
    it.scopedLive(title, () => run, 60_000)
  }
  const isServed = name !== "Memory"
  const hasReaders = !["Memory", "LocalGit"].includes(name)

  test("unrelated histories are refused", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place)
      const { remote, store } = world
      yield* remote.commit("orphan", Option.none(), {
        message: "another beginning",
        changes: [file("notes/z.json", { n: 1 })]
      })
      for (const dryRun of [true, false]) {
        yield* refused(world, store.merge("orphan", { dryRun }), "ValidationError", /unrelated histories/)
        yield* refused(
          world,
          store.merge("main", { into: "orphan", dryRun }),
          "ValidationError",
          /unrelated histories/
        )
      }
    }))

  test(
    "a removed base is named, and the write continues from another one",
    (place) =>
      Effect.gen(function* () {
        const { remote, store } = yield* parted(place)
        const before = yield* headOf(remote, "main")
        const notes = store.collection("notes")
        yield* notes.update("b", { n: 5 })
        const base = Option.getOrThrow(yield* notes.version("b"))
        // Somebody takes the commit back, and nobody keeps it.
        place.force("main", before)
        place.git!("reflog", "expire", "--expire=now", "--all")
        place.git!("gc", "-q", "--prune=now")
        const world = { place }
        const fresh = yield* open(place)
        for (const given of [base, base.sha]) {
          yield* refused(
            world,
            fresh.collection("notes").update("b", { title: "B" }, { base: given }),
            "NotFoundError",
            /b is not in .*read the document again/
          )
        }
        // The client that wrote it goes on, from what it has itself where it keeps a clone.
        yield* store.invalidate()
        const own = yield* Effect.either(notes.update("b", { title: "own" }, { base }))
        if (Either.isLeft(own)) assert.strictEqual(own.left._tag, "NotFoundError", own.left.message)
        const now = Option.getOrThrow(yield* notes.version("b"))
        yield* notes.update("b", { title: "B" }, { base: now })
        assert.deepInclude(Option.getOrThrow(yield* (yield* open(place)).collection("notes").get("b")), {
          n: 1,
          title: "B"
        })
        assertSound(place)
      }),
    isServed
  )

  test(
    "a merge base that a shallow repository does not have is refused",
    (place) =>
      Effect.gen(function* () {
        const world = yield* parted(place)
        const git = place.git!
        const shallow = `${git("rev-parse", "--absolute-git-dir")}/shallow`
        const tips = git("for-each-ref", "--format=%(objectname)", "refs/heads")
        const { writeFileSync } = yield* Effect.promise(() => import("node:fs"))
        writeFileSync(shallow, `${tips}\n`)
        git("reflog", "expire", "--expire=now", "--all")
        git("gc", "-q", "--prune=now")
        assert.strictEqual(git("rev-list", "--count", "main"), "1")
        const fresh = yield* open(place)
        for (const dryRun of [true, false]) {
          yield* refused(world, fresh.merge("draft", { dryRun }), "RemoteError", /shallow/)
        }
        yield* refused(world, Stream.runDrain(fresh.compare("main", "draft")), "RemoteError", /shallow/)
        // The client that wrote it goes on, from what it has itself where it keeps a clone.
        const own = yield* Effect.either(world.store.merge("draft"))
        if (Either.isLeft(own)) assert.include(["NotFoundError", "RemoteError"], own.left._tag)
      }),
    isServed
  )

  test("a document that one side broke is taken, in conflict with a change of the other one", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place)
      yield* byHand(world.remote, "draft", broken("b"))
      const merged = yield* merges(world)
      assert.isTrue(Either.isLeft(yield* Effect.either(merged.collection("notes").get("b"))))
      yield* merged.onBranch("draft").merge("main")
      for (const side of ["main", "draft"]) {
        yield* world.store
          .onBranch(side)
          .collection("notes")
          .update("c", { n: side === "main" ? 5 : 6 })
      }
      for (const side of ["main", "draft"]) {
        yield* byHand(world.remote, side, broken("c"))
        const error = yield* refused<ConflictError>(
          world,
          world.store.merge("draft"),
          "ConflictError",
          /c.*onConflict/s
        )
        assert.deepStrictEqual(unmergedOf(error), ["unreadable c"])
        yield* world.store.merge("draft", { into: "main", dryRun: true, onConflict: "theirs" })
        yield* byHand(world.remote, side, file("notes/c.json", { n: side, _id: "c", _rev: 3 }))
      }
    }))

  test("a document that both sides broke is a conflict, unless both broke it alike", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place)
      for (const side of ["main", "draft"]) {
        yield* byHand(world.remote, side, broken("b", `{ ${side}`), broken("c", "{ alike"))
      }
      const error = yield* refused<ConflictError>(
        world,
        world.store.merge("draft"),
        "ConflictError",
        /b.*onConflict/s
      )
      assert.deepStrictEqual(unmergedOf(error), ["unreadable b"])
      yield* merges(world, { onConflict: () => ({ n: 1, title: "b" }) })
    }))

  const Note = Schema.Struct({ n: Schema.Number, max: Schema.Number, title: Schema.String }).pipe(
    Schema.filter(({ max, n }) => n <= max || "n is above max")
  )

  test("a document that only the merge makes invalid is a conflict", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place, { ...indexed, collections: [Collection.define("notes", Note)] })
      const { handle } = yield* proposal(world.store)
      yield* world.store.collection("notes").update("b", { max: 5 })
      yield* world.draft.collection("notes").update("b", { n: 8 })
      for (const dryRun of [false, true]) {
        const merge = world.store.merge("draft", { dryRun })
        if (dryRun) assert.lengthOf((yield* merge).conflicts, 1)
        else {
          const error = yield* refused<ConflictError>(
            world,
            merge,
            "ConflictError",
            /n is above max.*onConflict/
          )
          assert.deepStrictEqual(unmergedOf(error), ["invalid b"])
        }
      }
      yield* refused(world, handle.accept(), "ConflictError", /n is above max/)
      assert.strictEqual((yield* handle.get()).state, "open")
      yield* merges(world, { onConflict: "theirs" })
    }))

  test("a value that only the merge gives twice is refused", (place) =>
    Effect.gen(function* () {
      const unique: StoreOptions = {
        format: 2,
        indexes: { notes: [{ fields: ["n"], unique: true, name: "n" }] }
      }
      const world = yield* parted(place, unique)
      yield* world.store.collection("notes").update("b", { n: 50 })
      yield* world.draft.collection("notes").update("c", { n: 50 })
      for (const dryRun of [false, true]) {
        const error = yield* refused<ConflictError>(
          world,
          world.store.merge("draft", { dryRun }),
          "ConflictError",
          /50/
        )
        assert.strictEqual(error.reason, "UniqueViolation")
      }
      yield* world.draft.collection("notes").update("c", { n: 51 })
      yield* merges(world)
    }))

  test("a deletion against an edit is a conflict, whichever side deletes", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place)
      const [main, draft] = [world.store.collection("notes"), world.draft.collection("notes")]
      const base = Option.getOrThrow(yield* main.version("b"))
      yield* main.delete("b")
      yield* draft.update("b", { n: 5 })
      yield* main.update("c", { n: 6 })
      yield* draft.delete("c")
      const error = yield* refused<ConflictError>(
        world,
        world.store.merge("draft"),
        "ConflictError",
        /b.*c.*onConflict/
      )
      assert.deepStrictEqual(unmergedOf(error), ["deleted b", "deleted c"])
      const late = yield* refused<ConflictError>(
        world,
        main.update("b", { n: 7 }, { base }),
        "ConflictError",
        /b/
      )
      assert.isUndefined(late.merge?.theirs)
      const merged = yield* merges(world, { onConflict: ({ id }) => (id === "b" ? "theirs" : "ours") })
      assert.includeMembers([...(yield* merged.collection("notes").list())], ["b", "c"])
    }))

  test("settings that differ are merged, in conflict or refused, and never half taken", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place, { format: 1, indexes: { notes: ["n"] } })
      const { remote, store } = world
      const base = { format: 1, shardBy: "leading", shardDepth: 0, shardWidth: 2, manifests: {} }
      const record = (branch: string, settings: object | string) =>
        byHand(remote, branch, file("_chainstore.json", settings))
      const fresh = Effect.map(open(place), (client) => client)
      const merge = Effect.flatMap(fresh, (client) => client.merge("draft"))
      yield* record("draft", { ...base, shardDepth: 1, indexes: { notes: ["n"] } })
      yield* refused(world, merge, "ValidationError", /shard settings differ/)
      yield* record("draft", { ...base, format: 99, indexes: {} })
      yield* refused(world, merge, "ValidationError", /format/)
      yield* record("draft", "{ broken")
      yield* refused(world, merge, "ValidationError", /_chainstore\.json/)
      yield* record("draft", { ...base, indexes: { notes: ["title"] } })
      yield* record("main", { ...base, indexes: { notes: [{ fields: ["n"], unique: true }] } })
      yield* store.invalidate()
      const both = yield* Effect.flatMap(fresh, (client) => client.merge("draft", { dryRun: true }))
      assert.deepStrictEqual(
        both.conflicts.map(({ kind, problem }) => `${kind}: ${problem}`),
        ["setting: the setting index notes n was changed on both branches"]
      )
      yield* record("main", { ...base, manifests: { notes: ["n"] }, indexes: { notes: ["title"] } })
      yield* record("draft", {
        ...base,
        format: 2,
        manifests: { notes: ["max"] },
        indexes: { notes: ["title"] }
      })
      const error = yield* refused<ConflictError>(world, merge, "ConflictError", /setting.*onConflict/)
      assert.deepStrictEqual(
        error.unmerged!.map(({ kind }) => kind),
        ["setting"]
      )
      const after = yield* merges({ ...world, store: yield* fresh }, { onConflict: "theirs" })
      assert.isTrue((yield* after.indexes).every(({ current }) => current))
      assert.lengthOf(yield* after.collection("notes").findBy("title", "theirs"), 1)
    }))

  test("the first settings of a repository, which a branch in format 2 brings, are kept with their indexes", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place, {})
      const drafting = yield* open(place, { branch: "draft", ...indexed })
      yield* drafting.collection("notes").insert({ n: 13 }, { id: "first" })
      const after = yield* merges({ ...world, store: yield* open(place) })
      assert.deepStrictEqual(
        (yield* after.indexes).map(({ current, name, rows }) => ({ current, name, rows })),
        [{ current: true, name: "n", rows: 6 }]
      )
    }))

  test(
    "read access does not allow to propose, accept, merge or close, and allows to look",
    (place) =>
      Effect.gen(function* () {
        const world = yield* parted(place)
        const { made } = yield* proposal(world.store)
        yield* world.store.collection("notes").update("c", { n: 5 })
        const reader = yield* Effect.flatMap(place.reader!, (remote) =>
          Effect.provideService(Store.make({}), GitRemote, remote)
        )
        const handle = reader.proposal(made.id)
        for (const call of [
          reader.propose({ title: "x" }, (draft) => draft.collection("notes").update("b", { n: 1 })),
          reader.merge("draft"),
          reader.createBranch("mine"),
          reader.deleteBranch("draft"),
          handle.accept(),
          handle.close(),
          handle.rebase(),
          handle.update((draft) => draft.collection("notes").update("b", { n: 1 }))
        ]) {
          yield* refused(world, call, "AuthError", /./)
        }
        assert.strictEqual((yield* handle.get()).state, "open")
        assert.lengthOf(yield* Stream.runCollect(handle.compare()), 1)
        assert.deepStrictEqual((yield* handle.preview()).conflicts, [])
        yield* world.store.proposal(made.id).accept()
        assertSound(place)
      }),
    hasReaders
  )

  test("a pull request from a fork is not a proposal, until a user with write access pushes it here", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place)
      const fork = yield* make
      const elsewhere = yield* parted(fork)
      const { made } = yield* proposal(elsewhere.store)
      const handle = world.store.proposal(made.id)
      for (const call of [handle.get(), handle.preview(), handle.accept(), handle.close(), handle.rebase()]) {
        yield* refused(world, call, "NotFoundError", /has no proposal.*lists the proposals/s)
      }
      assert.deepStrictEqual(yield* world.store.proposals({ state: "all" }), [])
      assert.deepStrictEqual(
        (yield* elsewhere.store.proposals()).map(({ id }) => id),
        [made.id]
      )
    }))

  test("a target that was rewritten since it was looked at is judged as it is now", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place)
      const { remote, store } = world
      const [first] = yield* remote.mergeBases(
        (yield* headOf(remote, "main")) as Oid,
        (yield* headOf(remote, "draft")) as Oid
      )
      const { handle, made } = yield* proposal(store)
      yield* handle.preview()
      // Another change of the same field takes the place of everything since the branches parted.
      place.force("main", first)
      const other = yield* open(place)
      yield* other.collection("notes").update("b", { n: 77 })
      const error = yield* refused<ConflictError>(world, handle.accept(), "ConflictError", /b.*onConflict/s)
      assert.deepStrictEqual(unmergedOf(error), ["changed b"])
      assert.strictEqual((yield* handle.get()).state, "open")
      const rewritten = yield* headOf(remote, "main")
      const accepted = yield* handle.accept({ onConflict: "theirs" })
      const info = Option.getOrThrow(yield* remote.commitInfo(Option.getOrThrow(accepted.commitSha) as Oid))
      assert.deepStrictEqual(info.parents as ReadonlyArray<string>, [rewritten, made.commitSha])
      assertSound(place)
      // To nothing that it has in common with anything.
      const second = yield* proposal(store)
      const orphan = yield* remote.commit("orphan", Option.none(), {
        message: "another beginning",
        changes: [file("notes/z.json", { n: 1 })]
      })
      place.force("main", orphan.commit)
      yield* refused(world, second.handle.accept(), "ValidationError", /unrelated histories/)
      assert.strictEqual((yield* second.handle.get()).state, "open")
      place.force("main", Option.getOrThrow(accepted.commitSha))
    }))

  test("a target that is rewritten while a merge asks is merged as it is then", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place)
      const { remote, store } = world
      yield* store.collection("notes").update("b", { n: 5 })
      yield* world.draft.collection("notes").update("b", { n: 6 })
      const before = Option.getOrThrow(yield* remote.commitInfo((yield* headOf(remote, "main")) as Oid))
        .parents[0]!
      let rewritten = ""
      const merged = yield* store.merge("draft", {
        onConflict: () =>
          Effect.gen(function* () {
            if (rewritten === "") {
              place.force("main", before)
              const other = yield* open(place)
              yield* other.collection("notes").update("b", { n: 7 })
              rewritten = yield* headOf(remote, "main")
            }
            return "theirs" as const
          }).pipe(Effect.scoped, Effect.orDie)
      })
      const info = Option.getOrThrow(yield* remote.commitInfo(Option.getOrThrow(merged.commitSha) as Oid))
      assert.deepStrictEqual(info.parents as ReadonlyArray<string>, [
        rewritten,
        yield* headOf(remote, "draft")
      ])
      const notes = (yield* open(place)).collection("notes")
      assert.deepInclude(Option.getOrThrow(yield* notes.get("b")), { n: 6 })
      assert.includeMembers([...(yield* notes.list())], ["ours", "theirs"])
      assertSound(place)
    }))

  test("a proposal is not accepted if its branch was moved or deleted unseen", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place)
      const { remote, store } = world
      const { handle, made } = yield* proposal(store)
      yield* byHand(remote, made.branch, file("notes/unseen.json", { n: 1 }))
      yield* refused(
        world,
        handle.accept({ commitSha: made.commitSha }),
        "ConflictError",
        /it has changed since/
      )
      // Moved to a commit that has nothing to do with it.
      const draft = yield* headOf(remote, "draft")
      place.force(made.branch, draft)
      yield* refused(
        world,
        handle.accept({ commitSha: made.commitSha }),
        remote.pullRequests === undefined ? "NotFoundError" : "ConflictError",
        /no proposal|changed since/
      )
      place.force(made.branch, made.commitSha)
      assert.strictEqual((yield* handle.get()).state, "open")
      place.force(made.branch, undefined)
      for (const call of [
        handle.accept(),
        handle.rebase(),
        handle.update((edits) => edits.collection("notes").update("c", { n: 1 }))
      ]) {
        const error = yield* Effect.flip(call as Effect.Effect<unknown, Error & { readonly _tag: string }>)
        assert.include(["NotFoundError", "ConflictError"], error._tag, error.message)
      }
      assert.deepStrictEqual(
        (yield* store.branches).map(({ name: branch }) => branch),
        ["draft", "main"]
      )
      assert.deepStrictEqual(yield* store.proposals(), [])
      yield* merges(world)
    }))

  test("a branch merged into itself is merged already", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place)
      const before = yield* seen(place)
      for (const options of [{}, { fastForward: false }, { dryRun: true }, { into: "main" }]) {
        assert.strictEqual((yield* world.store.merge("main", options)).kind, "upToDate")
      }
      assert.lengthOf(yield* Stream.runCollect(world.store.compare("main", "main")), 0)
      assert.deepStrictEqual(yield* seen(place), before)
    }))

  test("a branch that is not there is named", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place)
      const { store } = world
      for (const call of [
        store.merge("nowhere"),
        store.merge("nowhere", { dryRun: true }),
        store.merge("draft", { into: "nowhere" }),
        store.merge("draft", { into: "nowhere", dryRun: true }),
        store.createBranch("new", { from: "nowhere" }),
        Stream.runDrain(store.compare("nowhere", "main")),
        Stream.runDrain(store.compare("main", "nowhere")),
        store.propose({ title: "x", into: "nowhere" }, () => Effect.void)
      ]) {
        yield* refused(world, call, "NotFoundError", /nowhere/)
      }
      yield* refused(world, store.proposal("01JZZZZZZZZZZZZZZZZZZZZZZZ").accept(), "NotFoundError", /01JZ/)
      yield* store.deleteBranch("nowhere")
      yield* merges(world)
    }))

  test("names that Git refuses for branches are refused", (place) =>
    Effect.gen(function* () {
      const world = yield* parted(place)
      const { store } = world
      const before = yield* seen(place)
      let at = 0
      const taken: Array<string> = []
      for (const refusedName of refusedNames) {
        for (const call of [
          store.createBranch(refusedName),
          store.deleteBranch(refusedName),
          store.merge("draft", { into: refusedName }),
          store.propose({ title: "x", into: refusedName }, () => Effect.void),
          store.onBranch(refusedName).collection("notes").get("a"),
          store.proposal(`${refusedName} `).get()
        ] as ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>>) {
          const what = `${JSON.stringify(refusedName)} ${at++ % 6}`
          const tag = yield* Effect.match(call, {
            onFailure: ({ _tag }) => _tag,
            onSuccess: () => "accepted"
          })
          if (tag !== "ValidationError") taken.push(`${what} ${tag}`)
        }
      }
      assert.deepStrictEqual(taken, [])
      // A branch cannot be a directory of others.
      for (const below of ["draft/x", "main/a/b"]) {
        const error = yield* expectFailure<Error>(store.createBranch(below), "ConflictError")
        assert.match(error.message, new RegExp(below))
      }
      assert.deepStrictEqual(yield* seen(place), before)
      assertSound(place)
    }))
}

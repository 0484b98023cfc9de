import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { Browse, type StagedEdit } from "../../../src/store/browse/index.js"
import { file, foreignCommit } from "../core/ForeignCommit.js"
import { editing, expectFailure, headSha, storePair } from "./StorePair.js"

const print = (document: JsonObject) => JSON.stringify(document)

const open = Effect.gen(function* () {
  const it = yield* storePair({
    indexes: { notes: [{ fields: ["code"], unique: true }] },
    merge: { notes: { tags: "set" } }
  })
  yield* it.store.batch({ message: "seed" }, (batch) =>
    Effect.all([
      batch.put("notes", "a", { code: "a", title: "A", text: "one", tags: ["x"] }),
      batch.put("notes", "b", { code: "b", title: "B" }),
      batch.put("plans", "p", { title: "P" })
    ])
  )
  const { begin, edits } = yield* editing(it, "notes")
  const notes = it.store.collection("notes")
  const body = (id: string) =>
    Effect.map(notes.get(id), (found) => {
      const { _created_at, _id, _updated_at, ...rest } = Option.getOrThrow(found)
      return rest
    })
  return { it, store: it.store, notes, edits, begin, body }
})

const created: StagedEdit = { collection: "plans", id: "q", base: null, text: '{"title": null, "list": []}' }

describe("staged edits", () => {
  it.live("edits of several collections are one commit, which a review shows before", () =>
    Effect.gen(function* () {
      const { begin, body, edits, it, notes, store } = yield* open
      const staged = [yield* begin("a", print({ code: "a", title: "AA" })), yield* begin("b", null), created]
      const before = yield* headSha(it)
      const review = yield* edits.review(staged)
      assert.deepStrictEqual(
        review.edits.map(({ state }) => state),
        ["change", "delete", "create"]
      )
      assert.deepStrictEqual(review.edits[1]!.before, { code: "b", title: "B" })
      assert.isNull(review.edits[1]!.after)
      assert.includeDeepMembers(
        [...review.files],
        [
          { path: "data/notes/a.json", removed: false },
          { path: "data/notes/b.json", removed: true },
          { path: "data/plans/q.json", removed: false }
        ]
      )
      assert.isTrue(review.files.some(({ path }) => path.startsWith("data/_index/notes")))
      assert.strictEqual(yield* headSha(it), before, "a review writes nothing")
      const { commit } = yield* edits.publish(staged, "three at once")
      assert.strictEqual(commit, yield* headSha(it))
      assert.deepStrictEqual(yield* body("a"), { _rev: 2, code: "a", title: "AA" })
      assert.isFalse(yield* notes.exists("b"))
      const plan = Option.getOrThrow(yield* store.collection("plans").get("q"))
      assert.deepInclude(plan, { title: null, list: [], _rev: 1 })
    })
  )

  it.live("what is published again is not written again, also where others have gone on", () =>
    Effect.gen(function* () {
      const { begin, edits, it, notes } = yield* open
      const staged = [
        yield* begin("a", print({ code: "a", title: "AA", text: "one", tags: ["x"] })),
        yield* begin("b", null),
        created
      ]
      yield* edits.publish(staged, "once\n\nSigned-off-by: Ada <ada@example.org>")
      const [commit] = yield* notes.history("a")
      assert.match(
        commit!.message,
        /^once\n\nSigned-off-by: Ada <ada@example\.org>\nChainstore-Edits:( [0-9a-f]{16}){3}$/
      )
      yield* notes.update("a", { text: "two" })
      const before = yield* headSha(it)
      const again = yield* edits.publish(staged, "twice")
      assert.isNull(again.commit)
      assert.deepStrictEqual(
        again.edits.map(({ state }) => state),
        ["none", "none", "none"]
      )
      assert.strictEqual(yield* headSha(it), before)
    })
  )

  it.live(
    "what others changed elsewhere is merged by the collection's own rules, byte for byte as a replace",
    () =>
      Effect.gen(function* () {
        const mine = { code: "a", title: "mine", text: "one", tags: ["x", "m"] }
        const theirs = { text: "theirs", tags: ["x", "t"] }
        const one = yield* open
        const staged = yield* one.begin("a", print(mine))
        yield* one.notes.update("a", theirs)
        assert.strictEqual((yield* one.edits.review([staged])).edits[0]!.state, "merge")
        yield* one.edits.publish([staged], "merged")
        const other = yield* open
        const base = Option.getOrThrow(yield* other.notes.version("a"))
        yield* other.notes.update("a", theirs)
        yield* other.notes.replace("a", mine, { base })
        assert.deepStrictEqual(yield* one.body("a"), yield* other.body("a"))
        assert.deepInclude(yield* one.body("a"), { title: "mine", text: "theirs", tags: ["x", "m", "t"] })
      })
  )

  it.live("one conflict keeps everything from being written, until somebody decides", () =>
    Effect.gen(function* () {
      const { begin, body, edits, it, notes } = yield* open
      const staged = yield* begin("a", print({ code: "a", title: "mine", text: "mine", tags: ["x"] }))
      yield* notes.update("a", { title: "theirs", text: "theirs" })
      const before = yield* headSha(it)
      const refused = yield* edits.publish([staged, created], "no")
      assert.isNull(refused.commit)
      assert.strictEqual(yield* headSha(it), before)
      const conflict = refused.edits[0]!.conflict!
      assert.deepStrictEqual(
        conflict.fields.map(({ base, ours, path, theirs }) => [path.join("."), base, theirs, ours]),
        [
          ["text", "one", "theirs", "mine"],
          ["title", "A", "theirs", "mine"]
        ]
      )
      const settled = { against: conflict.version!.sha, theirs: [["title"]] }
      const decided = { ...staged, settled }
      assert.strictEqual((yield* edits.review([decided])).edits[0]!.state, "merge")
      yield* notes.update("a", { title: "again" })
      assert.strictEqual((yield* edits.review([decided])).edits[0]!.state, "conflict", "not what was decided")
      const version = Option.getOrThrow(yield* notes.version("a"))
      yield* edits.publish([{ ...staged, settled: { ...settled, against: version.sha } }], "decided")
      assert.deepInclude(yield* body("a"), { title: "again", text: "mine" })
    })
  )

  it.live("deleted against edited and created twice are conflicts of whole documents", () =>
    Effect.gen(function* () {
      const { begin, edits, it, notes } = yield* open
      const edited = yield* begin("a", print({ code: "a", title: "mine" }))
      const deleted = yield* begin("b", null)
      const made = { collection: "notes", id: "c", base: null, text: print({ code: "c", by: "me" }) }
      yield* notes.delete("a")
      yield* notes.update("b", { title: "theirs" })
      yield* notes.insert({ code: "c", by: "them" }, { id: "c" })
      const before = yield* headSha(it)
      const reviewed = (yield* edits.publish([edited, deleted, made], "no")).edits
      assert.strictEqual(yield* headSha(it), before)
      const seen = reviewed.map(({ conflict }) => [conflict?.base, conflict?.theirs, conflict?.ours])
      assert.deepStrictEqual(seen, [
        [{ code: "a", title: "A", text: "one", tags: ["x"] }, null, { code: "a", title: "mine" }],
        [{ code: "b", title: "B" }, { code: "b", title: "theirs" }, null],
        [null, { code: "c", by: "them" }, { code: "c", by: "me" }]
      ])
      const mine = [edited, deleted, made].map((edit, at) => ({
        ...edit,
        base: reviewed[at]!.conflict!.version
      }))
      yield* edits.publish(mine, "mine all the same")
      assert.deepStrictEqual(yield* notes.list(), ["a", "c"])
    })
  )

  it.live(
    "reports violations of unique indexes, invalid documents and rounded numbers before publishing",
    () =>
      Effect.gen(function* () {
        const { begin, edits, it } = yield* open
        const twice = yield* begin("a", print({ code: "b" }))
        assert.match((yield* edits.review([twice])).problem ?? "", /code/)
        yield* expectFailure(edits.publish([twice], "twice"), "ConflictError")
        const before = yield* headSha(it)
        for (const [text, problem] of [
          ["{", /is not JSON/],
          ["[]", /does not hold a JSON object/],
          ['{"n": 9007199254740993}', /9007199254740993 at n/]
        ] as const) {
          const { commit, edits: reviewed } = yield* edits.publish([yield* begin("b", text), created], "no")
          assert.isNull(commit)
          assert.strictEqual(reviewed[0]!.state, "invalid")
          assert.match(reviewed[0]!.problem!, problem)
        }
        assert.strictEqual(yield* headSha(it), before)
      })
  )

  it.live("a document is edited with the digits that its file has", () =>
    Effect.gen(function* () {
      const { edits, it } = yield* open
      yield* foreignCommit(it.remote, file("notes/n.json", '{"n": 9007199254740993, "m": 1.0}\n'))
      const [found, none] = yield* edits.documents("notes", ["n", "none"])
      assert.strictEqual(Option.getOrThrow(found!).text, '{\n  "m": 1.0,\n  "n": 9007199254740993\n}\n')
      assert.isTrue(Option.isNone(none!))
    })
  )

  it.live("a text is not taken for what the file has where JavaScript alone reads both numbers alike", () =>
    Effect.gen(function* () {
      const { begin, edits, it } = yield* open
      yield* foreignCommit(it.remote, file("notes/n.json", '{"n": 9007199254740993}\n'))
      const review = yield* edits.review([yield* begin("n", '{"n": 9007199254740992}')])
      assert.strictEqual(review.edits[0]!.state, "change")
      assert.match(String(review.problem), /9007199254740993 at n cannot be written again/)
      const asText = yield* begin("n", '{"n": "9007199254740993"}')
      assert.isString((yield* edits.publish([asText], "as text")).commit)
    })
  )

  it.live("a session that may only read reviews, and publishes nothing", () =>
    Effect.gen(function* () {
      const { it } = yield* open
      const edits = yield* Effect.flatMap(
        Browse.make({ store: it.store, remote: it.remote, readOnly: true }),
        ({ edits }) => edits
      )
      assert.strictEqual((yield* edits.review([created])).edits[0]!.state, "create")
      yield* expectFailure(edits.publish([created], "no"), "AuthError")
    })
  )

  it.live(
    "edits that are proposed are written nowhere else, and not asked about again once they are accepted",
    () =>
      Effect.gen(function* () {
        const { begin, body, edits, it, notes, store } = yield* open
        const staged = [
          yield* begin("a", print({ code: "a", title: "AA" })),
          yield* begin("b", null),
          created
        ]
        const before = yield* headSha(it)
        const proposed = yield* edits.propose(staged, { title: "three at once", body: "Why." })
        assert.deepInclude(proposed.proposal, {
          title: "three at once",
          body: "Why.",
          into: "main",
          state: "open"
        })
        assert.deepStrictEqual(
          proposed.edits.map(({ state }) => state),
          ["change", "delete", "create"]
        )
        assert.strictEqual(yield* headSha(it), before)
        yield* notes.update("a", { text: "meanwhile" })
        const { id } = proposed.proposal!
        yield* store.proposal(id).accept({ onConflict: "theirs" })
        assert.deepInclude(yield* body("a"), { title: "AA" })
        assert.isFalse(yield* notes.exists("b"))
        const after = yield* headSha(it)
        const again = yield* edits.publish(staged, "again")
        assert.isNull(again.commit)
        assert.deepStrictEqual(
          again.edits.map(({ state }) => state),
          ["none", "none", "none"]
        )
        assert.isNull((yield* edits.propose(staged, { title: "again" })).proposal)
        assert.strictEqual(yield* headSha(it), after)
        assert.lengthOf(yield* store.proposals({ state: "all" }), 1)
      })
  )

  it.live("conflicting edits are not proposed, and edits of a read-only session neither", () =>
    Effect.gen(function* () {
      const { begin, edits, it, notes, store } = yield* open
      const staged = [yield* begin("a", print({ code: "a", title: "mine" })), created]
      yield* notes.update("a", { title: "theirs" })
      const { edits: reviews, proposal } = yield* edits.propose(staged, { title: "x" })
      assert.isNull(proposal)
      assert.strictEqual(reviews[0]!.state, "conflict")
      assert.deepStrictEqual(yield* store.proposals(), [])
      const reading = yield* Effect.flatMap(
        Browse.make({ store: it.store, remote: it.remote, readOnly: true }),
        ({ edits }) => edits
      )
      yield* expectFailure(reading.propose([created], { title: "x" }), "AuthError")
      assert.deepStrictEqual(yield* store.branches, [{ name: "main", commitSha: yield* headSha(it) }])
    })
  )
})

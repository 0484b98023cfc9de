import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Browse } from "../../../../src/store/browse/index.js"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import type { StoreView } from "../../../../src/store/View.js"
import { fresh, remoteOf } from "../../../support/github/Remote.js"

/** The requests of a review of one draft, after others have changed another field of its document so often. */
const requests = (times: number) =>
  Effect.gen(function* () {
    const { remote, server } = yield* fresh({})
    const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
    const notes = store.collection("notes")
    yield* notes.insert({ mine: 1, theirs: 0 }, { id: "x" })
    const edits = yield* Effect.flatMap(Browse.make({ store, remote, readOnly: false }), ({ edits }) => edits)
    const [found] = yield* edits.documents("notes", ["x"])
    const { commit, sha } = Option.getOrThrow(found!)
    for (let n = 1; n <= times; n++) yield* notes.update("x", { theirs: n })
    server.seen.length = 0
    const edit = { collection: "notes", id: "x", base: { commit, sha }, text: '{"mine": 2, "theirs": 0}' }
    const review = yield* edits.review([edit])
    assert.strictEqual(review.edits[0]!.state, "merge")
    return server.seen.length
  })

// The hosted console has 5,000 requests an hour, and reviews up to 500 drafts whenever one of them changes.
it.live("a review asks for a version that others have made since by one request at most", () =>
  Effect.gen(function* () {
    const few = yield* requests(2)
    const many = yield* requests(18)
    assert.isAtMost(many - few, 16, `${few} requests for 2 versions, ${many} for 18`)
  })
)

it.live("a document is asked for once while the branch does not move: to edit, review and publish it", () =>
  Effect.gen(function* () {
    const { remote, server } = yield* fresh({})
    const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
    const ids = Array.from({ length: 60 }, (_, index) => `n${index}`)
    yield* store.batch({}, (batch) =>
      Effect.forEach(ids, (id) => batch.put("notes", id, { title: id }), { discard: true })
    )
    const another = yield* remoteOf(server)
    const other = yield* Effect.provideService(Store.make(), GitRemote, another)
    const calls = yield* Effect.flatMap(
      Browse.make({ store: other, remote: another, readOnly: false }),
      ({ edits }) => edits
    )
    const counted = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.gen(function* () {
        server.seen.length = 0
        const result = yield* effect
        return { result, requests: server.seen.length }
      })
    const all = [...ids, "new-1", "new-2"]
    const read = yield* counted(
      Effect.all([calls.documents("notes", all.slice(0, 50)), calls.documents("notes", all.slice(50))])
    )
    const staged = read.result.flat().map((found, at) => ({
      collection: "notes",
      id: all[at]!,
      base: Option.getOrNull(Option.map(found, ({ commit, sha }) => ({ commit, sha }))),
      text: `{"title": "${at}"}`
    }))
    const reviewed = yield* counted(calls.review(staged))
    const published = yield* counted(calls.publish(staged, "all"))
    assert.isString(published.result.commit)
    assert.deepStrictEqual(
      reviewed.result.edits.map(({ state }) => state),
      [...ids.map(() => "change"), "create", "create"]
    )
    // The head, the settings, and each document; then the head, the absent documents, and the commit.
    assert.isAtMost(read.requests, all.length + 4)
    assert.isAtMost(reviewed.requests, 2 + 4)
    assert.isAtMost(published.requests, 2 + 6)
  })
)

it.live("stores that begin with many reads at once ask for the settings once", () =>
  Effect.gen(function* () {
    const { remote, server } = yield* fresh({})
    const writer = yield* Effect.provideService(Store.make({ shardDepth: 1 }), GitRemote, remote)
    const ids = Array.from({ length: 20 }, (_, index) => `n${index}`)
    yield* writer.batch({}, (batch) =>
      Effect.forEach(ids, (id) => batch.put("notes", id, { title: id }), { discard: true })
    )
    const cold = yield* Effect.provideService(Store.make(), GitRemote, yield* remoteOf(server))
    const readAll = (view: Pick<StoreView, "collection">) =>
      Effect.gen(function* () {
        server.seen.length = 0
        const found = yield* Effect.forEach(ids, (id) => view.collection("notes").get(id), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          found.map((document) => Option.getOrThrow(document)["title"]),
          ids
        )
        return server.seen.length
      })
    assert.strictEqual(yield* readAll(cold), ids.length + 1)
    const commit = server.head("main") as string
    // The commit, its root and its settings.
    assert.isAtMost(yield* readAll(yield* cold.at(commit)), ids.length + 3)
  })
)

import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Browse } from "../../../../src/store/browse/index.js"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import { fresh } from "../../../support/github/Remote.js"

/** The requests of a review of one draft, after others have changed another field of its document so often. */
const requests = (times: number) =>
  Effect.gen(function* () {
    const { remote, server } = yield* fresh({})
    const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
    const notes = store.collection("notes")
    yield* notes.insert({ mine: 1, theirs: 0 }, { id: "x" })
    const edits = yield* Browse.make({ store, remote, readOnly: false }).edits
    const { commit, sha } = Option.getOrThrow(yield* edits.document("notes", "x"))
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

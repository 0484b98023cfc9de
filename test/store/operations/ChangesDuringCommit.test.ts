import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { type Repository, repositories } from "../core/Remotes.js"
import { brief, document, headSha } from "./StorePair.js"

/** Two stores on one repository; something happens after the first one has built a commit and before it is made. */
const pairIn =
  (repository: Repository) =>
  (happens: Effect.Effect<void, unknown> = Effect.void) =>
    Effect.gen(function* () {
      const client = yield* repository
      const plain = yield* client
      const remote: GitRemoteService = {
        ...plain,
        commitNext: (branch, edit) =>
          plain.commitNext(branch, (snapshot) => Effect.zipLeft(edit(snapshot), Effect.orDie(happens)))
      }
      const open = (at: GitRemoteService) => Effect.provideService(Store.make({}), GitRemote, at)
      return { remote, store: yield* open(remote), other: yield* open(yield* client) }
    })

describe.each(repositories)("a single file that is guessed to be absent, on %s", (_name, repository) => {
  const pair = pairIn(repository)

  it.live("is deleted all the same when it is there", () =>
    Effect.gen(function* () {
      const { other, store } = yield* pair()
      const notes = store.collection("notes")
      yield* notes.insert({ n: 0 }, { id: "seed" })
      assert.isTrue(Option.isNone(yield* notes.get("a")))
      yield* other.collection("notes").insert({ n: 1 }, { id: "a" })
      yield* store.writer({}, (writer) =>
        Effect.zipRight(writer.put("notes", "a", { n: 2 }), writer.delete("notes", "a"))
      )
      assert.isNull(yield* document(other, "notes", "a"))
    })
  )

  it.live("is undone by force when it is there", () =>
    Effect.gen(function* () {
      const it = yield* pair()
      const notes = it.store.collection("notes")
      yield* notes.insert({ n: 0 }, { id: "seed" })
      yield* it.other.collection("notes").insert({ n: 1 }, { id: "a" })
      const sha = yield* headSha(it)
      yield* notes.delete("a")
      yield* it.other.collection("notes").insert({ n: 2 }, { id: "a" })
      yield* it.store.revert(sha, { force: true })
      assert.isNull(yield* document(it.other, "notes", "a"))
    })
  )

  it.live("is made again by upsert when it vanished during the write", () =>
    Effect.gen(function* () {
      let vanish: Effect.Effect<void, unknown> = Effect.void
      const it = yield* pair(
        Effect.suspend(() => {
          const now = vanish
          vanish = Effect.void
          return now
        })
      )
      const notes = it.store.collection("notes")
      yield* notes.insert({ n: 0 }, { id: "a" })
      vanish = it.other.collection("notes").delete("a")
      yield* notes.upsert("a", { n: 1 })
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "a")), [1, { n: 1 }])
    })
  )
})

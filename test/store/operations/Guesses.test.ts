import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { NotFoundError } from "../../../src/domain/StoreError.js"
import { GitRemote, type GitRemoteService, type SingleFile } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { type Repository, repositories } from "../core/Remotes.js"
import { brief, document, headSha } from "./Support.js"

/** Two stores on one repository, the first of which writes single files. */
const pairIn =
  (repository: Repository) =>
  (change: (single: SingleFile) => SingleFile = (single) => single) =>
    Effect.gen(function* () {
      const client = yield* repository
      const plain = yield* client
      const remote: GitRemoteService = { ...plain, singleFile: Option.map(plain.singleFile, change) }
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
      const it = yield* pair((single) => ({
        ...single,
        put: (branch, path, content, expected, text) =>
          Effect.gen(function* () {
            const now = vanish
            vanish = Effect.void
            yield* Effect.orDie(now)
            return yield* Effect.mapError(single.put(branch, path, content, expected, text), (error) =>
              error._tag !== "ConflictError" || Option.isNone(expected)
                ? error
                : new NotFoundError({ operation: "test", path, message: "it was deleted", status: 201 })
            )
          })
      }))
      const notes = it.store.collection("notes")
      yield* notes.insert({ n: 0 }, { id: "a" })
      vanish = it.other.collection("notes").delete("a")
      yield* notes.upsert("a", { n: 1 })
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "a")), [1, { n: 1 }])
    })
  )
})

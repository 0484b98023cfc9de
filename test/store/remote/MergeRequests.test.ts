import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../src/store/remote/github/GitHub.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"
import { makeServer } from "../../support/github/InProcess.js"
import { remoteOf } from "../../support/github/Remote.js"

const on = (remote: GitRemoteService, options: StoreOptions = {}) =>
  Effect.provideService(Store.make(options), GitRemote, remote)

/** Two branches with so many documents, of which each has changed some. */
const prepare = (remote: GitRemoteService, documents: number, changed: number) =>
  Effect.gen(function* () {
    const store = yield* on(remote)
    const ids = Array.from({ length: documents }, (_, n) => `d${n}`)
    yield* store.batch({}, (batch) =>
      Effect.forEach(ids, (id, n) => batch.put("notes", id, { n, ours: 0, theirs: 0 }))
    )
    yield* store.createBranch("draft")
    const draft = store.onBranch("draft")
    for (const [on, field, from] of [
      [store, "ours", 0],
      [draft, "theirs", Math.floor(changed / 2)]
    ] as const) {
      yield* on.batch({}, (batch) =>
        Effect.forEach(ids.slice(from, from + changed), (id, n) =>
          batch.put("notes", id, { n: n + from, ours: 0, theirs: 0, [field]: 1 })
        )
      )
    }
  })

describe("the requests of a merge", () => {
  const onGitHub = (options: Partial<GitHubOptions>, documents: number, changed: number) =>
    Effect.gen(function* () {
      const server = yield* makeServer()
      yield* prepare(yield* remoteOf(server, options), documents, changed)
      const store = yield* on(yield* remoteOf(server, options))
      yield* store.collection("notes").get("d0")
      const before = server.seen.length
      const merged = yield* store.merge("draft")
      assert.strictEqual(merged.kind, "merge")
      const asked = server.seen.slice(before).map(({ method, url }) => `${method} ${url}`)
      assert.deepStrictEqual(server.problems, [])
      return asked
    })

  it.scopedLive(
    "are proportional to what both changed on GitHub, not to what is there",
    () =>
      Effect.gen(function* () {
        const few = yield* onGitHub({}, 20, 4)
        const many = yield* onGitHub({}, 300, 4)
        assert.strictEqual(many.length, few.length, many.join("\n"))
        const more = yield* onGitHub({}, 300, 40)
        // Three versions of each document that both changed.
        assert.isAtMost(more.length - many.length, 3 * 18, more.join("\n"))
        assert.isAtMost(few.length, 20, few.join("\n"))
        const bulk = yield* onGitHub({ useGraphql: true, graphqlBatchSize: 100 }, 300, 40)
        assert.isAtMost(bulk.length, 15, bulk.join("\n"))
      }),
    60_000
  )

  it.scopedLive(
    "are at most six over Git's own protocol",
    () =>
      Effect.gen(function* () {
        const backend = yield* HttpBackend.make
        const url = backend.create("merge.git")
        yield* prepare(yield* GitHost.scoped({ url }), 300, 40)
        const store = yield* on(yield* GitHost.scoped({ url }))
        yield* store.collection("notes").get("d0")
        const before = backend.asked.length
        const merged = yield* store.merge("draft")
        assert.strictEqual(merged.kind, "merge")
        const asked = backend.asked.slice(before).map(({ method, path }) => `${method} ${path}`)
        assert.isAtMost(asked.length, 6, asked.join("\n"))
        backend.git("merge.git", "fsck", "--strict", "--no-dangling")
        const parents = backend.git("merge.git", "log", "-1", "--format=%P", "main").trim().split(" ")
        assert.strictEqual(parents.length, 2)
      }),
    60_000
  )
})

import { assert } from "@effect/vitest"
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

/** The requests of a merge of two such branches by a client of GitHub that has read one document. */
export const onGitHub = (options: Partial<GitHubOptions>, documents: number, changed: number) =>
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

/** The same over Git's own protocol. */
export const overWire = (documents: number, changed: number) =>
  Effect.gen(function* () {
    const backend = yield* HttpBackend.make
    const url = backend.create("merge.git")
    yield* prepare(yield* GitHost.scoped({ url }), documents, changed)
    const store = yield* on(yield* GitHost.scoped({ url }))
    yield* store.collection("notes").get("d0")
    const before = backend.requests.length
    const merged = yield* store.merge("draft")
    assert.strictEqual(merged.kind, "merge")
    const asked = backend.requests.slice(before).map(({ method, path }) => `${method} ${path}`)
    backend.git("merge.git", "fsck", "--strict", "--no-dangling")
    const parents = backend.git("merge.git", "log", "-1", "--format=%P", "main").trim().split(" ")
    assert.strictEqual(parents.length, 2)
    return asked
  })

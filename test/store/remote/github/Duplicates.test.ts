import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../../src/store/remote/github/GitHub.js"
import * as Store from "../../../../src/store/Store.js"
import type { StoreOptions } from "../../../../src/store/StoreOptions.js"
import { settle, virtual } from "../../../support/github/Virtual.js"

const ways: ReadonlyArray<Partial<GitHubOptions>> = [{}, { useGraphql: true, commitVia: "graphql" }]

describe.each(ways)("a proxy that delivers every write twice, with %j", (options) => {
  const world = (
    storeOptions: StoreOptions,
    body: (store: Store.Store["Type"]) => Effect.Effect<void, unknown>
  ) =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual(options)
      const store = yield* Effect.provideService(Store.make(storeOptions), GitRemote, remote)
      yield* settle(flight, store.collection("notes").insert({ n: 1 }, { id: "a" }))
      server.fault = (seen) =>
        seen.method === "PUT" || /createCommitOnBranch/.test(JSON.stringify(seen))
          ? { _tag: "Twice" }
          : undefined
      const { result } = yield* settle(flight, body(store))
      server.fault = () => undefined
      assert.isTrue(Either.isRight(result), JSON.stringify(result))
      const { result: stored } = yield* settle(flight, store.collection("notes").get("a", { fresh: true }))
      const { result: history } = yield* settle(flight, store.collection("notes").history("a"))
      return {
        stored: Option.getOrThrow(Either.getOrThrow(stored)),
        commits: Either.getOrThrow(history).length
      }
    })

  it.scoped("updates a document once", () =>
    Effect.gen(function* () {
      const { commits, stored } = yield* world({}, (store) => store.collection("notes").update("a", { n: 2 }))
      assert.deepInclude(stored, { n: 2, _rev: 2 })
      assert.strictEqual(commits, 2)
    })
  )

  it.scoped("updates it once where a revision is expected and no retry allowed", () =>
    Effect.gen(function* () {
      const { commits, stored } = yield* world({ conflictRetries: 0 }, (store) =>
        store.collection("notes").replace("a", { n: 2 }, { expectedRev: 1 })
      )
      assert.deepInclude(stored, { n: 2, _rev: 2 })
      assert.strictEqual(commits, 2)
    })
  )

  it.scoped("commits a batch once", () =>
    Effect.gen(function* () {
      const { commits, stored } = yield* world({}, (store) =>
        store.batch({}, (batch) =>
          Effect.zipRight(batch.put("notes", "a", { n: 2 }), batch.put("notes", "b", { n: 2 }))
        )
      )
      assert.deepInclude(stored, { n: 2, _rev: 2 })
      assert.strictEqual(commits, 2)
    })
  )
})

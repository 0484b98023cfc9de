import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { GitRemote } from "../../src/store/remote/GitRemote.js"
import * as Store from "../../src/store/Store.js"
import { withFaults } from "../../src/testing/program/FaultyRemote.js"
import { verbs } from "../support/github/InProcess.js"
import { fresh } from "../support/github/Remote.js"

describe("a remote with faults", () => {
  it.scopedLive("is touched at every request, and asks for no more than the one beneath it", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh({ useGraphql: true, commitVia: "graphql" })
      const content = new TextEncoder().encode("{}")
      server.commit("main", [{ _tag: "Put", path: "data/c/a.json", content }])
      const work = (client: typeof remote) =>
        Effect.gen(function* () {
          const store = yield* Effect.provideService(Store.make({ indexes: { c: ["f"] } }), GitRemote, client)
          yield* client.invalidate
          server.seen.length = 0
          const id = yield* store.collection("c").insert({ f: 1 })
          yield* store.collection("c").list()
          yield* store.collection("c").delete(id)
          return verbs(server).length
        })
      const touches: Array<string> = []
      const faulty = withFaults(remote, ({ operation }) => Effect.sync(() => void touches.push(operation)))
      // The first store records its settings, which those after it find.
      yield* work(remote)
      const plain = yield* work(remote)
      assert.strictEqual(yield* work(faulty), plain)
      assert.include(touches, "commitNext")
      assert.include(touches, "directory")
      assert.isTrue(Option.isSome(yield* faulty.head("main")))
    })
  )
})

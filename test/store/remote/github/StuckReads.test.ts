import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import { fresh, remoteOf } from "../../../support/github/Remote.js"

it.live.each(["branch", "commit"])("a read does not fail by the timeout of an earlier one of the %s", (of) =>
  Effect.gen(function* () {
    const { remote, server } = yield* fresh()
    const writer = yield* Effect.provideService(Store.make({ shardDepth: 1 }), GitRemote, remote)
    yield* writer.collection("notes").insert({ n: 1 }, { id: "x" })
    const another = yield* remoteOf(server, { timeout: "2 seconds", maxRetries: 0 })
    const store = yield* Effect.provideService(Store.make(), GitRemote, another)
    const view = of === "branch" ? store : yield* store.at(server.head("main") as string)
    const read = view.collection("notes").get("x")
    let requests = 0
    server.fault = () => (requests++ === 0 ? { _tag: "Cut", then: "silence" } : undefined)
    const stuck = yield* Effect.fork(Effect.exit(read))
    yield* Effect.sleep("1 second")
    assert.isTrue(Option.isSome(yield* read))
    assert.strictEqual((yield* Fiber.join(stuck))._tag, "Failure")
  })
)

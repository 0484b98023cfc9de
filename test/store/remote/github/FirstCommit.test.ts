import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import { replying } from "../../../support/github/InProcess.js"
import { fresh } from "../../../support/github/Remote.js"

it.scopedLive("a first commit that is refused halfway leaves no file behind, and the next one succeeds", () =>
  Effect.gen(function* () {
    const { remote, server } = yield* fresh()
    const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
    const batch = store.batch({}, (queue) =>
      Effect.zipRight(queue.put("c", "a", {}), queue.put("c", "b", {}))
    )
    const body = { message: "Repository rule violations found\n\nSecret detected in content" }
    server.fault = ({ method, url }) =>
      method === "PATCH" && url.includes("/git/refs/") ? replying({ status: 422, body }) : undefined
    const error = yield* Effect.flip(batch)
    assert.propertyVal(error, "reason", "Denied")
    server.fault = () => undefined
    const files = Effect.gen(function* () {
      const head = Option.getOrThrow(yield* remote.head("main"))
      const tree = Option.getOrThrow(yield* remote.tree(head, "", { recursive: true }))
      return tree.entries.map(({ path }) => path)
    })
    assert.deepStrictEqual(yield* files, [])
    yield* batch
    assert.deepStrictEqual(yield* files, ["data/c/a.json", "data/c/b.json"])
    assert.deepStrictEqual(server.problems, [])
  })
)

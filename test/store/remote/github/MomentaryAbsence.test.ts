import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import { replying } from "../../../support/github/InProcess.js"
import { fresh, remoteOf } from "../../../support/github/Remote.js"

it.live("a document of a commit that was missing for a moment is asked for again", () =>
  Effect.gen(function* () {
    const { remote, server } = yield* fresh()
    const writer = yield* Effect.provideService(Store.make(), GitRemote, remote)
    yield* writer.collection("notes").insert({ n: 1 }, { id: "x" })
    const ref = server.head("main") as string
    const store = yield* Effect.provideService(Store.make({ ref }), GitRemote, yield* remoteOf(server))
    const notes = store.collection("notes")
    // The token may not see the repository for a moment.
    server.fault = ({ url }) =>
      url.includes("notes/x.json") ? replying({ status: 404, body: { message: "Not Found" } }) : undefined
    assert.isTrue(Option.isNone(yield* notes.get("x")))
    server.fault = () => undefined
    assert.isTrue(Option.isSome(yield* notes.get("x")))
  })
)

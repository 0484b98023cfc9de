import { FetchHttpClient } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHub from "../../../src/store/remote/github/GitHub.js"
import * as Store from "../../../src/store/Store.js"
import { newRepository } from "../../support/github/OnHost.js"
import { thisHost, ways } from "./Remotes.js"

it.live.each(ways)("two clients of one repository in one process queue and never race, %s", ([, options]) =>
  Effect.gen(function* () {
    const { repo, server } = yield* newRepository
    const open = (name: string, indexes: Readonly<Record<string, ReadonlyArray<string>>>) =>
      GitHub.make({
        repo: name,
        apiUrl: server.api,
        token: Redacted.make(server.token),
        paceRequests: false,
        ...options
      }).pipe(
        Effect.provide(FetchHttpClient.layer),
        Effect.flatMap((remote) =>
          Effect.provideService(
            Store.make({ conflictRetries: 0, batchRetries: 0, indexes }),
            GitRemote,
            remote
          )
        )
      )
    const one = (yield* open(repo, { people: ["n"] })).collection("people")
    yield* one.insert({ n: 0 }, { id: "ada" })
    const two = yield* open(repo, { people: ["n"] })
    const updates = Effect.forEach(
      Array.from({ length: 12 }, (_, index) => index),
      (index) =>
        index % 3 === 0
          ? Effect.asVoid(two.batch({}, (batch) => batch.put("places", `p${index}`, { index })))
          : Effect.asVoid(
              (index % 2 === 0 ? one : two.collection("people")).update("ada", { [`n${index}`]: index })
            ),
      { concurrency: "unbounded" }
    )
    yield* updates
    const ada = Option.getOrThrow(yield* one.get("ada", { fresh: true }))
    assert.strictEqual(ada._rev, 9)
    assert.strictEqual((yield* two.collection("places").list()).length, 4)
  }).pipe(Effect.provide(thisHost))
)

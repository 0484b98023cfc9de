import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { GitRemoteService } from "../../../../src/store/remote/GitRemote.js"
import { newRepository, scopedClientOf } from "../../../support/github/OnHost.js"
import { HostServer } from "../../../support/host/HostServer.js"
import { hostServer } from "../../core/Remotes.js"

it.scopedLive("a client that pushes commits to a head of another client, having read its own before", () =>
  Effect.gen(function* () {
    const repository = yield* Effect.provideServiceEffect(newRepository, HostServer, hostServer)
    const client = scopedClientOf(repository, { commitVia: "push" })
    const [first, second] = [yield* client, yield* client]
    const commit = (remote: GitRemoteService, path: string) =>
      Effect.flatMap(remote.head("main"), (head) =>
        remote.commit("main", head, {
          message: path,
          changes: [{ _tag: "Put", path, content: new TextEncoder().encode(path) }]
        })
      )
    yield* commit(first, "a")
    yield* first.head("main")
    yield* commit(second, "b")
    const result = yield* Effect.either(commit(first, "c"))
    assert.strictEqual(result._tag, "Right")
  })
)

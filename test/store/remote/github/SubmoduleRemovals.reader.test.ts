import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { Oid } from "../../../../src/domain/Oid.js"
import { type Change, GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import { fresh, remoteOf } from "../../../support/github/Remote.js"

const text = (content: string) => new TextEncoder().encode(content)

const submodule = (path: string): Change => ({
  _tag: "Link",
  path,
  oid: "5".repeat(40) as Oid,
  mode: "160000"
})

describe("a submodule below a directory, to a client that has read nothing yet", () => {
  it.live("is removed by a commit", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh({})
      server.commit("main", [{ _tag: "Put", path: "some/file", content: text("1") }])
      yield* Effect.flatMap(remote.head("main"), (head) =>
        remote.commit("main", head, { message: "add", changes: [submodule("some/sub")] })
      )
      const cold = yield* remoteOf(server, {})
      yield* Effect.flatMap(cold.head("main"), (head) =>
        cold.commit("main", head, { message: "remove", changes: [{ _tag: "Remove", path: "some/sub" }] })
      )
      assert.notInclude(server.git(["ls-tree", "-r", "main"]), "160000")
    })
  )

  it.live("is removed by a merge", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh({})
      const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
      yield* store.collection("notes").insert({ n: 1 }, { id: "x" })
      const commit = (branch: string, ...changes: ReadonlyArray<Change>) =>
        Effect.flatMap(remote.head(branch), (head) =>
          remote.commit(branch, head, { message: "by hand", changes })
        )
      yield* commit("main", submodule("some/deep/sub"), {
        _tag: "Put",
        path: "some/deep/file",
        content: text("1")
      })
      yield* store.createBranch("draft")
      yield* store.collection("notes").update("x", { n: 2 })
      yield* commit(
        "draft",
        { _tag: "Remove", path: "some/deep/sub" },
        { _tag: "Put", path: "new", content: text("1") }
      )
      const cold = yield* Effect.provideService(Store.make(), GitRemote, yield* remoteOf(server, {}))
      yield* cold.merge("draft")
      assert.notInclude(server.git(["ls-tree", "-r", "main"]), "160000")
      assert.strictEqual(Option.getOrThrow(yield* cold.collection("notes").get("x"))["n"], 2)
    })
  )
})

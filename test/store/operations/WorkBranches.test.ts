import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option } from "effect"
import { RemoteError } from "../../../src/domain/errors/StoreError.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { type OnTouch, withFaults } from "../../../src/testing/program/FaultyRemote.js"
import { connect, directory, hosted, local, type Repository, repositories } from "../core/Remotes.js"

/** A store beside somebody's branch `feature`, on which lies a document. */
const beside = (repository: Repository, onTouch: OnTouch) =>
  Effect.gen(function* () {
    const client = yield* repository
    const remote = withFaults(yield* client, onTouch)
    const open = (options: StoreOptions) => Effect.provideService(Store.make(options), GitRemote, remote)
    const store = yield* open({})
    yield* store.collection("notes").insert({ n: 1 }, { id: "a" })
    const plain = yield* client
    yield* plain.createBranch("feature", Option.getOrThrow(yield* plain.head("main")).commit)
    yield* (yield* open({ branch: "feature" })).collection("notes").insert({ n: 2 }, { id: "precious" })
    return { remote: plain, store }
  })

describe.each(repositories)(
  "a transaction with a work branch of another writer, on %s",
  (_name, repository) => {
    it.live("does not delete it when creating fails for another reason", () =>
      Effect.gen(function* () {
        let broken = false
        const { remote, store } = yield* beside(repository, ({ operation, point }) =>
          broken && operation === "createBranch" && point === "before"
            ? new RemoteError({ operation: "x", reason: "Server", message: "502" })
            : Effect.void
        )
        broken = true
        const exit = yield* Effect.exit(store.transaction({ branch: "feature" }, () => Effect.void))
        assert.isTrue(Exit.isFailure(exit))
        assert.isTrue(Option.isSome(yield* remote.head("feature")), "the branch feature is gone")
      })
    )

    it.live("does not delete an existing branch, also when it is interrupted during the error", () =>
      Effect.gen(function* () {
        let slow = false
        const { remote, store } = yield* beside(repository, ({ operation }) =>
          slow && operation === "createBranch" ? Effect.sleep(50) : Effect.void
        )
        const feature = store.transaction({ branch: "feature" }, () => Effect.void)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(feature)))
        slow = true
        assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.timeout(feature, 10))))
        assert.isTrue(Option.isSome(yield* remote.head("feature")), "the branch feature is gone")
      })
    )
  }
)

describe("a transaction with an existing branch as work branch", () => {
  it.scopedLive("does not delete it on LocalGit, where a push holds its lock for a while", () =>
    Effect.gen(function* () {
      const root = yield* directory
      const remote = yield* LocalGit.scoped({ directory: root, repo: "o/r", timeout: "300 millis" })
      const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
      yield* store.collection("notes").insert({ n: 1 }, { id: "a" })
      const at = `${root}/o/r.git`
      execFileSync("git", ["--git-dir", at, "branch", "feature", "main"])
      const feature = yield* Effect.provideService(Store.make({ branch: "feature" }), GitRemote, remote)
      yield* feature.collection("notes").insert({ n: 2 }, { id: "precious" })
      const lock = `${at}/refs/heads/feature.lock`
      fs.writeFileSync(lock, "")
      const fiber = yield* Effect.fork(
        Effect.exit(store.transaction({ branch: "feature" }, () => Effect.void))
      )
      yield* Effect.sleep(450)
      fs.rmSync(lock)
      const exit = yield* Fiber.join(fiber)
      assert.isTrue(Exit.isFailure(exit))
      assert.isTrue(Option.isSome(yield* remote.head("feature")), "the branch feature is gone")
    })
  )

  it.scopedLive.each([["LocalGit", local] as const, ...hosted])(
    "does not delete the store's own branch, named by mistake, when interrupted, on %s",
    ([, layer]) =>
      Effect.gen(function* () {
        const remote = yield* connect(layer)
        const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
        yield* store.collection("notes").insert({ n: 1 }, { id: "precious" })
        for (let millis = 0; millis < 12; millis++) {
          const fiber = yield* Effect.fork(store.transaction({ branch: "main" }, () => Effect.void))
          yield* Effect.sleep(millis / 3)
          yield* Fiber.interrupt(fiber)
          assert.isTrue(Option.isSome(yield* remote.head("main")), `the branch main is gone (${millis})`)
        }
      })
  )
})

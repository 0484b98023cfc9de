import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option } from "effect"
import { RemoteError } from "../../../src/domain/StoreError.js"
import { GitRemote } from "../../../src/store/GitRemote.js"
import * as LocalGit from "../../../src/store/local/LocalGit.js"
import * as Memory from "../../../src/store/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import { directory, openMemory } from "../core/Remotes.js"

describe("a transaction whose work branch is somebody's existing branch", () => {
  it.scopedLive("does not delete it when creating fails for another reason", () =>
    Effect.gen(function* () {
      const repository = new Memory.MemoryRepository()
      let broken = false
      const store = yield* openMemory(
        repository,
        {},
        {
          faults: {
            onWrite: (operation) =>
              broken && operation === "createBranch"
                ? new RemoteError({ operation: "x", reason: "Server", message: "502" })
                : Effect.void
          }
        }
      )
      yield* store.collection("notes").insert({ n: 1 }, { id: "a" })
      repository.refs.set("refs/heads/feature", repository.refs.get("refs/heads/main")!)
      const feature = yield* openMemory(repository, { branch: "feature" })
      yield* feature.collection("notes").insert({ n: 2 }, { id: "precious" })
      broken = true
      const exit = yield* Effect.exit(store.transaction({ branch: "feature" }, () => Effect.void))
      assert.isTrue(Exit.isFailure(exit))
      assert.isTrue(repository.refs.has("refs/heads/feature"), "the branch feature is gone")
    })
  )
  it.scopedLive("does not delete it on LocalGit, where a push holds its lock for a while", () =>
    Effect.gen(function* () {
      const root = yield* directory
      const remote = yield* LocalGit.scoped({ directory: root, repository: "o/r", timeout: 300 })
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
  it.scopedLive("does not delete it when interrupted", () =>
    Effect.gen(function* () {
      const repository = new Memory.MemoryRepository()
      const store = yield* openMemory(
        repository,
        {},
        {
          faults: {
            onWrite: (operation, point) =>
              operation === "createBranch" && point === "start" ? Effect.sleep(50) : Effect.void
          }
        }
      )
      yield* store.collection("notes").insert({ n: 1 }, { id: "a" })
      repository.refs.set("refs/heads/feature", repository.refs.get("refs/heads/main")!)
      const exit = yield* Effect.exit(
        Effect.timeout(
          store.transaction({ branch: "feature" }, () => Effect.void),
          10
        )
      )
      assert.isTrue(Exit.isFailure(exit))
      assert.isTrue(repository.refs.has("refs/heads/feature"), "the branch feature is gone")
    })
  )
  it.scopedLive("does not delete the store's own branch, named by mistake, when interrupted", () =>
    Effect.gen(function* () {
      const root = yield* directory
      const remote = yield* LocalGit.scoped({ directory: root, repository: "o/r" })
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

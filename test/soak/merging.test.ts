import { setImmediate } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MemoryRepository } from "../../src/git/memory/MemoryRepository.js"
import { GitRemote, type GitRemoteService } from "../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../src/store/remote/local/LocalGit.js"
import * as Memory from "../../src/store/remote/memory/Memory.js"
import * as Store from "../../src/store/Store.js"
import { connect, directory, pushed, repositories } from "../store/core/Remotes.js"
import { disjointWriters } from "../support/disjointWriters.js"
import { checkAgainstGit, checkMergeLaws } from "../support/mergeLaws.js"

describe("laws of merging", () => {
  it("hold for 100,000 triples", async () => {
    let clean = 0
    for (let round = 0; round < 50; round++) {
      clean += checkMergeLaws(2_000).clean
      await setImmediate()
    }
    assert.isAbove(clean, 25_000)
  }, 1_800_000)

  it("agree with Git on 5,000 triples", async () => {
    let compared = 0
    for (let round = 0; round < 50; round++) {
      compared += checkAgainstGit(100)
      await setImmediate()
    }
    assert.isAbove(compared, 500)
  }, 1_800_000)
})

describe("32 writers of one document's own fields, 1,000 updates", () => {
  const run = <E, R>(client: Effect.Effect<GitRemoteService, E, R>) =>
    Effect.gen(function* () {
      const open = Effect.flatMap(client, (remote) =>
        Effect.provideService(Store.make({ deadline: "20 minutes" }), GitRemote, remote)
      )
      yield* disjointWriters([yield* open, yield* open, yield* open], 32, 1_000)
    })
  const timeout = 1_800_000

  it.scopedLive(
    "never see a conflict, and lose none, in memory",
    () => {
      const repository = new MemoryRepository()
      return run(Memory.make({ repository }))
    },
    timeout
  )

  it.scopedLive(
    "never see a conflict, and lose none, on LocalGit",
    () =>
      Effect.flatMap(directory, (path) =>
        run(connect(LocalGit.layer({ directory: path, durability: "none" })))
      ),
    timeout
  )

  it.scopedLive.each([...repositories, ...pushed])(
    "never see a conflict, and lose none, on %s",
    ([, repository]) => Effect.flatMap(repository, run),
    timeout
  )
})

import * as v8 from "node:v8"
import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { FairMutex } from "../../src/git/disk/files/FairMutex.js"
import { engine, put, write } from "../git/disk/support/temporary.js"

it.scopedLive("nothing is kept of branches that come and go", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ durability: "none", maintenance: false })
    const { commit } = yield* write(repository, [put("a", "1")])
    const kept = () => v8.queryObjects(FairMutex, { format: "count" })
    const before = kept()
    for (let n = 0; n < 300; n++) {
      const branch = `work-${n}`
      const name = `refs/heads/${branch}`
      yield* repository.updateRef(name, Option.none(), Option.some(commit))
      const made = yield* write(repository, [put("a", branch)], { branch })
      yield* repository.updateRef(name, Option.some(made.commit), Option.none())
    }
    assert.isAtMost(kept() - before, 2)
  })
)

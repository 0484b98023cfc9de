import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import { withScript } from "./support/gitOnPath.js"
import { numbers, stemsOf } from "./support/packs.js"
import { engine, git, put, write } from "./support/temporary.js"

describe("a repository that is written to without a pause", () => {
  /** The number of packs after 300 writes. The first `failures` maintenance runs fail. */
  const packsAfter = (failures: number) =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const script = `case "$*" in *" pack-objects "*)
for n in $(seq ${failures}); do if mkdir $here/failed-$n 2>/dev/null; then
echo "fatal: sha1 file write error: Out of diskspace" >&2; exit 128; fi; done ;; esac
exec $git "$@"`
      return yield* withScript(
        directory,
        script,
        Effect.gen(function* () {
          const maintenance = { packs: 5, quiet: 10_000 }
          const repository = yield* Engine.open({ directory, maintenance, durability: "none" })
          for (const n of numbers(300)) {
            yield* write(repository, [put("a", `${n}`)])
            yield* Effect.sleep(8)
          }
          return stemsOf(directory).length
        })
      )
    })

  it.scopedLive(
    "is maintained again after one maintenance has failed",
    () =>
      Effect.gen(function* () {
        assert.isAtMost(yield* packsAfter(1), 120)
      }),
    30_000
  )
})

describe("packs are combined in time, in spite of", () => {
  /** The number of packs after five seconds of writes, with a pause of 300 ms after every 40th. */
  const packsWith = (damage: (directory: string) => void) =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const maintenance = { packs: 5, quiet: 200 }
      const repository = yield* Engine.open({ directory, maintenance, durability: "none" })
      yield* write(repository, [put("a", "first")])
      damage(directory)
      const end = Date.now() + 5_000
      for (let n = 0; Date.now() < end; n++) {
        yield* write(repository, [put("a", `${n}`)])
        yield* Effect.sleep(n % 40 === 0 ? 300 : 8)
      }
      return stemsOf(directory).length
    })

  const damages: Readonly<Record<string, (directory: string) => void>> = {
    "a branch whose history lacks a commit": (directory) => {
      const commit = (parent: string) =>
        git(directory, "commit-tree", "-m", `after ${parent}`, "-p", parent, "main^{tree}").trim()
      const lost = commit("main")
      git(directory, "update-ref", "refs/heads/damaged", commit(lost))
      fs.rmSync(`${directory}/objects/${lost.slice(0, 2)}/${lost.slice(2)}`)
    },
    "a lock that a killed `git gc` of a user has left": (directory) => {
      fs.mkdirSync(`${directory}/objects/info/commit-graphs`, { recursive: true })
      fs.writeFileSync(`${directory}/objects/info/commit-graphs/commit-graph-chain.lock`, "")
    }
  }

  it.scopedLive.each(Object.keys(damages))(
    "%s",
    (damage) => Effect.map(packsWith(damages[damage]!), (packs) => assert.isAtMost(packs, 120)),
    30_000
  )
})

import * as fs from "node:fs"
import { assert } from "@effect/vitest"
import { Effect, Random } from "effect"
import * as Engine from "../../../../src/git/disk/Engine.js"
import { type WriterProcess, writerProcess } from "./processes.js"
import { assertSound, git, put, show, temporary, write } from "./temporary.js"

/** The Git processes in a repository. A repack of a killed engine ends shortly after the engine. */
const childrenOf = (directory: string): ReadonlyArray<number> =>
  !fs.existsSync("/proc/self/cmdline")
    ? []
    : fs.readdirSync("/proc").flatMap((pid) => {
        if (!/^\d+$/.test(pid)) return []
        try {
          const isOne = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`--git-dir=${directory}`)
          return isOne ? [Number(pid)] : []
        } catch {
          return []
        }
      })

const isInUse = (directory: string) => childrenOf(directory).length > 0

const killChildren = (directory: string) =>
  Effect.forEach(
    childrenOf(directory),
    (pid) => Effect.ignore(Effect.try(() => process.kill(pid, "SIGKILL"))),
    {
      discard: true
    }
  )

/** Ways to kill: the process alone, its group, or its children first. */
const ways: ReadonlyArray<(writer: WriterProcess, directory: string) => Effect.Effect<void>> = [
  (writer) => writer.kill,
  (writer) => writer.killGroup,
  (writer, directory) => Effect.zipRight(killChildren(directory), writer.kill)
]

/** Kills a writing process `kills` times at random moments, and checks that no acknowledged write is lost. */
export const killRepeatedly = (kills: number) =>
  Effect.gen(function* () {
    const directory = `${yield* temporary}/killed.git`
    const acknowledged = new Set<string>()
    yield* Effect.scoped(
      Effect.flatMap(Engine.open({ directory, create: true }), (made) =>
        write(made, [put("counter", "1"), put("data/0/first", "1")])
      )
    )
    for (let round = 0; round < kills; round++) {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const writer = yield* writerProcess(directory, `r${round}`, { fibres: 1 + (round % 3) * 7 })
          yield* writer.ready
          if (round % 2 === 0) {
            yield* Effect.repeat(Effect.sleep(2), { until: () => writer.acknowledged.length > 0 })
          }
          yield* Effect.sleep(yield* Random.nextIntBetween(5, 250))
          yield* ways[round % ways.length]!(writer, directory)
          const { stderr } = yield* writer.exit
          // A maintenance whose child is killed is logged, and runs again when it is due.
          if (round % ways.length !== 2) assert.strictEqual(stderr, "")
          for (const id of writer.acknowledged) acknowledged.add(id)
        })
      )
      yield* Effect.repeat(Effect.sleep(2), { until: () => !isInUse(directory) })
      assertSound(directory)
      const present = new Set(
        git(directory, "ls-tree", "-r", "--name-only", "main", "data")
          .split("\n")
          .map((line) => line.split("/")[2])
      )
      for (const id of acknowledged) assert.isTrue(present.has(id), `${id} was acknowledged and is lost`)
      const commits = Number(git(directory, "rev-list", "--count", "main"))
      assert.strictEqual(Number(show(directory, "main", "counter")), commits)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const restarted = yield* Engine.open({ directory, maintenance: false, timeout: 1_000 })
          yield* write(restarted, [put("counter", `${commits + 1}`)])
        })
      )
    }
    const after = yield* Engine.open({ directory })
    yield* after.maintain
    assert.isAtLeast(acknowledged.size, kills / 2)
    assert.strictEqual(git(directory, "for-each-ref", "--format=%(refname)").trim(), "refs/heads/main")
    return acknowledged.size
  })

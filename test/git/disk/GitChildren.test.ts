import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Stream } from "effect"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { stream } from "../../../src/git/disk/processes/GitExecution.js"
import { gitFailure } from "../../../src/git/disk/processes/GitProcess.js"
import { engine, put, write } from "./support/temporary.js"

const script = fileURLToPath(new URL("./support/descriptors.ts", import.meta.url))

describe("Git cannot be started", () => {
  it.scopedLive("for want of file descriptors: that is an error, and not the end of the process", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      for (const branch of ["main", "other"]) yield* write(repository, [put("a", branch)], { branch })
      const { status, stderr, stdout } = spawnSync(
        "sh",
        [
          "-c",
          `ulimit -n 2048 && exec "$0" --import tsx "$@"`,
          process.execPath,
          script,
          repository.directory
        ],
        { encoding: "utf8" }
      )
      assert.deepStrictEqual([status, stderr], [0, ""])
      assert.deepStrictEqual(JSON.parse(stdout), {
        without: ["Left", "Left"],
        after: ["Right", "Right"],
        reason: "Server"
      })
    })
  )
  const history = (repository: GitRepository, how: Parameters<GitRepository["log"]>[1]) =>
    Effect.flatMap(write(repository, [put("d/a", "1")]), ({ commit }) =>
      Effect.exit(Effect.either(Stream.runCount(repository.log(commit, how))))
    )

  it.scopedLive("with what it is asked: that is an error too", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const asked = yield* history(repository, { author: "a\0b" })
      assert.isTrue(Exit.isSuccess(asked), "it is a defect")
    })
  )
})

it.scopedLive("an invalid path has no history", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false })
    const { commit } = yield* write(repository, [put("d/a", "1")])
    const count = (path: string) => Stream.runCount(repository.log(commit, { path }))
    for (const path of ["../x", "/x", "/d/a", "d//a", "d/../d/a", "./d/a", "d/a\0b"]) {
      assert.strictEqual(yield* count(path), 0, JSON.stringify(path))
    }
    for (const path of ["", "d", "d/", "d/a"]) assert.strictEqual(yield* count(path), 1, path)
  })
)

it.scopedLive("a child without output does not delay an interruption", () =>
  Effect.gen(function* () {
    const { directory } = yield* engine({ maintenance: false })
    const silent = stream(directory, "test", ["-c", "alias.wait=!sleep 20", "wait"])
    const reading = yield* Effect.fork(Stream.runDrain(silent))
    yield* Effect.sleep("300 millis")
    const [took] = yield* Effect.timed(Fiber.interrupt(reading))
    assert.isBelow(Duration.toSeconds(took), 10)
  })
)

it.scopedLive("a pack that is not received completely leaves no file", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false })
    const files = () => readdirSync(join(repository.directory, "objects/pack"))
    const received = Effect.repeat(Effect.delay(Effect.sync(files), "10 millis"), {
      until: (names) => names.length > 0
    })
    const broken = Stream.concat(
      Stream.make(Buffer.from("PACK")),
      Stream.fromEffect(Effect.zipRight(received, Effect.fail("broken")))
    )
    assert.strictEqual(yield* Effect.flip(repository.ingest(broken, 1_000)), "broken")
    assert.deepStrictEqual(files(), [])
  })
)

it("a full disk that Git reports is not an error of the server", () => {
  const stderr = "fatal: write error: No space left on device"
  assert.strictEqual(gitFailure("/", "GitRepository.ingest", 128, stderr).reason, "Denied")
})

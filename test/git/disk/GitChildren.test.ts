import { spawnSync } from "node:child_process"
import { readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Scope, Stream } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { run, stream } from "../../../src/git/disk/processes/GitExecution.js"
import { gitFailure } from "../../../src/git/disk/processes/GitProcess.js"
import { bundled } from "../../support/bundled.js"
import { engine, git, put, temporary, write } from "./support/temporary.js"

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

const canUnshare = spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "true"]).status === 0

describe.skipIf(!canUnshare)("a server that is process 1 of its container", () => {
  it.scopedLive("does not collect ended processes with each maintenance", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      for (let n = 0; n < 4; n++) yield* write(repository, [put("a", `${n}`)])
      const program = bundled(new URL("./support/firstProcess.ts", import.meta.url))
      const { stdout, stderr } = spawnSync(
        "unshare",
        ["--pid", "--fork", "--mount-proc", process.execPath, program, repository.directory, "10"],
        { encoding: "utf8" }
      )
      assert.deepStrictEqual(stdout === "" ? stderr : JSON.parse(stdout), { pid: 1, zombies: 0 })
    })
  )
})

/** The files of this process in the directory for temporary files. */
const temporaries = () =>
  readdirSync(tmpdir())
    .filter((name) => name.startsWith("chainstore-git-") && name.includes(`~${process.pid}~`))
    .flatMap((name) => readdirSync(join(tmpdir(), name)).map((file) => join(tmpdir(), name, file)))

describe("what the engine has in the directory for temporary files", () => {
  it.scopedLive.each(["config", "objects", "refs", "packed-refs"])(
    "is made anew, if a part of it was removed because it was old: %s",
    (removed) =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        const oid = yield* repository.writeObject("blob", Buffer.from("loose"))
        yield* write(repository, [{ _tag: "Link", path: "a", oid }])
        yield* repository.maintain
        git(repository.directory, "pack-refs", "--all")
        assert.isAbove(temporaries().length, 0)
        for (const directory of temporaries()) rmSync(join(directory, removed), { force: true })
        const exit = yield* Effect.exit(repository.maintain)
        assert.isTrue(Exit.isSuccess(exit), String(exit))
        const { stdout } = yield* run(repository.directory, "test", ["for-each-ref", "--format=%(refname)"])
        assert.strictEqual(stdout, "refs/heads/main\n")
      })
  )

  it.scopedLive("does not outlive the last engine of its repository", () =>
    Effect.gen(function* () {
      const before = temporaries()
      const open = Engine.open({ directory: `${yield* temporary}/r.git`, create: true, maintenance: false })
      const first = yield* Scope.make()
      const { maintain } = yield* Scope.extend(open, first)
      const second = yield* Scope.make()
      const repository = yield* Scope.extend(open, second)
      yield* write(repository, [put("a", "1")])
      yield* repository.maintain
      const used = temporaries().filter((file) => !before.includes(file))
      assert.strictEqual(used.length, 1)
      yield* Scope.close(second, Exit.void)
      yield* maintain
      assert.includeMembers(temporaries(), used)
      yield* Scope.close(first, Exit.void)
      assert.deepStrictEqual(temporaries(), before)
    })
  )
})

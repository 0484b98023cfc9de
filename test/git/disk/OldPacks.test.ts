import { spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { commits, numbers, packsIn, stemsOf } from "./support/packs.js"
import { refusal, withReplaced } from "./support/replacedMethod.js"
import { assertSound, engine, git, put, temporary, write } from "./support/temporary.js"

const hasStrace = spawnSync("strace", ["true"]).status === 0

const random = (length: number) => randomBytes(length / 2).toString("hex")

describe.skipIf(!hasStrace)(
  "a multi-pack index that Git writes while packs are combined does not make Git delete the new pack",
  () => {
    /** Maintains a repository while Git writes a multi-pack index that prefers the old pack, and then runs `git multi-pack-index expire`. */
    const expiredBeside = (
      maintain: (repository: GitRepository, isDeleted: () => boolean) => Effect.Effect<void, unknown>
    ) =>
      Effect.gen(function* () {
        const { directory } = yield* engine({ maintenance: false })
        const fill = (repository: GitRepository) =>
          write(
            repository,
            numbers(100).map((n) => put(`${n}`, random(200)))
          )
        yield* Effect.scoped(Effect.flatMap(Engine.open({ directory, maintenance: false }), fill))
        const [stem = ""] = stemsOf(directory)
        const input = git(directory, "rev-list", "--objects", "--all")
          .trim()
          .split("\n")
          .slice(0, 60)
          .map((line) => line.slice(0, 40))
          .join("\n")
        spawnSync("git", ["-C", directory, "pack-objects", "-q", "objects/pack/pack"], { input })
        assert.strictEqual(stemsOf(directory).length, 2)
        const synced = fs.realpathSync(packsIn(directory))
        let ended: Promise<unknown> | undefined
        const fsync = (real: typeof fs.fsync) => (fd: number, done: (cause: Error | null) => void) => {
          if (ended !== undefined || fs.readlinkSync(`/proc/self/fd/${fd}`) !== synced) return real(fd, done)
          const lock = `${fs.realpathSync(directory)}/./objects/pack/multi-pack-index.lock`
          const slow = ["-f", "-o", "/dev/null", "-P", lock, "-e", "trace=openat"]
          const command = ["git", "-C", directory, "multi-pack-index", "write"]
          const option = `--preferred-pack=${stem.replace(/.*\//, "")}.pack`
          const inject = ["-e", "inject=openat:delay_enter=5000000"]
          ended = once(spawn("strace", [...slow, ...inject, ...command, option]), "close")
          setTimeout(() => real(fd, done), 1_000)
        }
        const maintained = Effect.flatMap(Engine.open({ directory, maintenance: false }), (repository) =>
          maintain(repository, () => !fs.existsSync(`${stem}.pack`))
        )
        yield* withReplaced({ fsync }, Effect.scoped(maintained))
        yield* Effect.promise(async () => ended)
        git(directory, "multi-pack-index", "expire")
        fs.rmSync(`${packsIn(directory)}/multi-pack-index`, { force: true })
        assertSound(directory)
      })

    it.scopedLive(
      "if the engine is closed meanwhile",
      () =>
        expiredBeside((repository, isDeleted) =>
          Effect.gen(function* () {
            const maintaining = yield* Effect.fork(repository.maintain)
            yield* Effect.repeat(Effect.sleep(5), { until: isDeleted })
            yield* Fiber.interrupt(maintaining)
          })
        ),
      30_000
    )

    it.scopedLive(
      "if the system does not list its processes",
      () => {
        const readFileSync =
          (real: (...args: ReadonlyArray<any>) => unknown) =>
          (...args: ReadonlyArray<any>) => {
            if (args[0] === "/proc/1/comm") throw refusal("EACCES")
            return real(...args)
          }
        return expiredBeside(({ maintain }) => withReplaced({ readFileSync } as any, maintain))
      },
      30_000
    )
  }
)

describe.skipIf(!fs.existsSync("/proc/1/comm"))(
  "packs that are combined while a Git command stays open that writes no multi-pack index",
  () => {
    it.scopedLive("are combined again by the next maintenance", () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        const { directory } = repository
        yield* commits(repository, 4)
        const tree = `${yield* temporary}/tree`
        git(directory, "worktree", "add", "-q", "-b", "work", tree, "main")
        yield* Effect.acquireRelease(
          Effect.sync(() =>
            spawn("git", ["-c", "user.name=G", "-c", "user.email=g@example.org", "commit", "--allow-empty"], {
              cwd: tree,
              env: { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_EDITOR: "read line; true" },
              stdio: ["pipe", "ignore", "ignore"]
            })
          ),
          (child) => Effect.sync(() => child.kill("SIGKILL"))
        )
        const message = `${directory}/worktrees/tree/COMMIT_EDITMSG`
        yield* Effect.repeat(Effect.sleep(5), { until: () => fs.existsSync(message) })
        yield* repository.maintain
        assert.deepStrictEqual(
          fs.readdirSync(packsIn(directory)).filter((name) => name.endsWith(".keep")),
          []
        )
      })
    )
  }
)

describe("a repository whose objects are precious to others", () => {
  it.scopedLive("keeps its packs, as with `git repack -d`", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* commits(repository, 4)
      git(directory, "config", "core.repositoryFormatVersion", "1")
      git(directory, "config", "extensions.preciousObjects", "true")
      assert.throws(() => git(directory, "repack", "-a", "-d", "-q"), /precious/)
      const before = stemsOf(directory)
      yield* Effect.exit(repository.maintain)
      assert.includeMembers([...stemsOf(directory)], [...before])
    })
  )
})

describe("old packs that could not be compared, because no file descriptor was left for a moment", () => {
  it.scopedLive("are combined by a later maintenance", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* commits(repository, 10)
      const old = new Set(stemsOf(directory))
      const openSync =
        (real: typeof fs.openSync) =>
        (file: string, ...rest: [any]) => {
          const isCombined = () => fs.readdirSync(packsIn(directory)).some((name) => name.endsWith(".keep"))
          if (file.endsWith(".idx") && old.has(file.slice(0, -".idx".length)) && isCombined())
            throw refusal("EMFILE")
          return real(file, ...rest)
        }
      const exit = yield* withReplaced({ openSync }, Effect.exit(repository.maintain))
      assert.isTrue(Exit.isFailure(exit))
      for (const n of numbers(3)) {
        yield* write(repository, [put("a", `${n}`)])
        yield* repository.maintain
      }
      assert.isAtMost(stemsOf(directory).length, 5)
    })
  )
})

describe("packs of another user whose times are in the future", () => {
  it.scopedLive("are combined", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      for (const n of numbers(10)) yield* write(repository, [put("a", `${n}`)])
      const old = new Set(stemsOf(directory).map((stem) => `${stem}.pack`))
      const ahead = new Date(Date.now() + 365 * 86_400_000)
      const [first = ""] = old
      fs.utimesSync(first, ahead, ahead)
      // Only the owner of a file may set its times. Whoever may write the directory may delete it.
      const utimesSync =
        (real: typeof fs.utimesSync) =>
        (...args: Parameters<typeof fs.utimesSync>) => {
          if (old.has(String(args[0]))) throw refusal("EACCES")
          real(...args)
        }
      for (const _ of numbers(2)) yield* withReplaced({ utimesSync }, Effect.exit(repository.maintain))
      assert.isAtMost(stemsOf(directory).length, 3)
    })
  )
})

describe("a pack that a user keeps while the maintenance compares it with the new one", () => {
  it.scopedLive("stays", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* commits(repository, 4)
      const [kept = ""] = stemsOf(directory)
      let isOpened = false
      const openSync =
        (real: typeof fs.openSync) =>
        (file: string, ...rest: [any]) => {
          const fd = real(file, ...rest)
          const isCombined = () => fs.readdirSync(packsIn(directory)).some((name) => name.endsWith(".keep"))
          if (!isOpened && file === `${kept}.idx` && isCombined()) {
            isOpened = true
            fs.writeFileSync(`${kept}.keep`, "mine\n")
          }
          return fd
        }
      yield* withReplaced({ openSync }, Effect.exit(repository.maintain))
      assert.isTrue(isOpened)
      assert.isTrue(fs.existsSync(`${kept}.pack`), "the pack was removed")
      assert.isTrue(fs.existsSync(`${kept}.idx`), "the index was removed")
    })
  )
})

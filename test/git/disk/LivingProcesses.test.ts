import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { endOf, started, until } from "./support/children.js"
import { daysLater, withScript } from "./support/gitOnPath.js"
import { withReplaced } from "./support/replacedMethod.js"
import { assertSound, engine, git, put, temporary, write } from "./support/temporary.js"

/** Installs a hook that waits. Returns when it was reached, and what ends it. */
const waitingHook = (directory: string, name: string, when: string) =>
  Effect.gen(function* () {
    const flags = yield* temporary
    const script = `#!/bin/sh\n${when}\ntouch ${flags}/reached\nuntil [ -e ${flags}/go ]; do sleep 0.02; done\n`
    fs.mkdirSync(`${directory}/hooks`, { recursive: true })
    fs.writeFileSync(`${directory}/hooks/${name}`, script, { mode: 0o755 })
    const proceed = Effect.sync(() => fs.writeFileSync(`${flags}/go`, ""))
    yield* Effect.addFinalizer(() => proceed)
    return { reached: until(() => fs.existsSync(`${flags}/reached`)), proceed }
  })

const identity = ["-c", "user.name=Git", "-c", "user.email=git@example.org"]

/** Ends a Git child of an engine that has failed, which starts the removal of what it may have left. */
const failedChild = <R>(repository: GitRepository, during: Effect.Effect<unknown, never, R>) =>
  Effect.exit(repository.withGitChildren(Effect.zipRight(during, Effect.fail("failed"))))

describe("a Git command that runs in a linked work tree while a child of an engine fails", () => {
  it.scopedLive("keeps its lock, and succeeds", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* write(repository, [put("a", "1")])
      const tree = `${yield* temporary}/tree`
      git(directory, "worktree", "add", "-q", "-b", "work", tree, "main")
      const hook = yield* waitingHook(directory, "reference-transaction", '[ "$1" = prepared ] || exit 0')
      let end: Fiber.Fiber<string> | undefined
      yield* failedChild(
        repository,
        Effect.gen(function* () {
          const commit = ["-C", tree, ...identity, "commit", "-q", "--allow-empty", "-m", "b"]
          const child = yield* started("git", commit, { stdio: ["ignore", "ignore", "pipe"] })
          end = yield* Effect.forkScoped(endOf(child))
          yield* hook.reached
          yield* Effect.sleep(400)
        })
      )
      yield* hook.proceed
      assert.strictEqual(yield* Fiber.join(end!), "0 ")
    })
  )
})

describe("a `git log` that is older than the lock of a killed child", () => {
  it.scopedLive("does not keep that lock", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const repository = yield* Engine.open({ directory, maintenance: false, timeout: 3_000 })
      // More than fits into a pipe.
      yield* write(repository, [put("a", "1")], { message: "x".repeat(1_000_000) })
      const { commit } = yield* write(repository, [put("a", "2")])
      yield* started("git", ["-C", directory, "log"], { stdio: ["ignore", "pipe", "ignore"] })
      yield* Effect.sleep(300)
      yield* failedChild(
        repository,
        Effect.promise(async () => {
          const child = spawn("git", ["-C", directory, "update-ref", "--stdin"])
          child.stdin.write(`start\nupdate refs/heads/main ${commit}\nprepare\n`)
          while (!fs.existsSync(`${directory}/refs/heads/main.lock`))
            await new Promise((resolve) => setTimeout(resolve, 5))
          child.kill("SIGKILL")
          await once(child, "close")
        })
      )
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(write(repository, [put("a", "3")]))))
    })
  )
})

describe.skipIf(!fs.existsSync("/proc/1/comm"))(
  "a Git command that locks a branch just when another process has removed the lock of a killed child",
  () => {
    it.scopedLive("keeps its lock", () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        const { directory } = repository
        const { commit } = yield* write(repository, [put("a", "1")])
        const lock = `${directory}/refs/heads/main.lock`
        /** Locks the branch by Git, and waits for that. */
        const locking = (...wait: ReadonlyArray<string>) => {
          const child = spawn("git", ["-C", directory, "update-ref", "--stdin"], { stdio: "pipe" })
          child.stdin.write(`start\nupdate refs/heads/main ${commit}\nprepare\n`)
          spawnSync("sh", ["-c", `until [ -e "${lock}" ]; do sleep 0.02; done; ${wait.join("; ")}`])
          return child
        }
        let other: ChildProcess | undefined
        yield* Effect.addFinalizer(() => Effect.sync(() => other?.kill("SIGKILL")))
        // The processes are listed between the choice of the files and their removal.
        const readdirSync =
          (real: (...args: ReadonlyArray<any>) => unknown) =>
          (...args: ReadonlyArray<any>) => {
            if (args[0] === "/proc" && other === undefined) {
              fs.rmSync(lock)
              other = locking()
            }
            return real(...args)
          }
        const killed = Effect.promise(async () => {
          const child = locking("sleep 0.5")
          child.kill("SIGKILL")
          await once(child, "close")
        })
        yield* withReplaced({ readdirSync }, failedChild(repository, killed))
        assert.isDefined(other)
        assert.isTrue(fs.existsSync(lock))
      })
    )
  }
)

describe("a push that is older than a day", () => {
  it.scopedLive("keeps its quarantine directory, and succeeds", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      const other = yield* engine({ maintenance: false })
      yield* write(repository, [put("a", "1")])
      yield* write(other, [put("b", "2")])
      const hook = yield* waitingHook(directory, "pre-receive", "")
      const push = ["-C", other.directory, "push", "-q", directory, "main:refs/heads/pushed"]
      const child = yield* started("git", push, { stdio: ["ignore", "ignore", "pipe"] })
      const end = yield* Effect.fork(endOf(child))
      yield* hook.reached
      yield* daysLater(repository.maintain)
      yield* hook.proceed
      assert.strictEqual(yield* Fiber.join(end), "0 ")
      assertSound(directory)
    })
  )
})

describe("a pack that Git deletes while the maintenance writes an index for it", () => {
  it.scopedLive("leaves no index without a pack", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* write(repository, [put("a", "1")])
      const packs = `${directory}/objects/pack`
      const [pack = ""] = fs.readdirSync(packs).filter((name) => name.endsWith(".pack"))
      const index = `${packs}/${pack.replace(/pack$/, "idx")}`
      git(directory, "repack", "-a", "-q")
      fs.rmSync(index)
      const deletesPack = `$git "$@"; code=$?
case "$*" in *index-pack*) rm -f ${packs}/${pack} ;; esac
exit $code`
      yield* daysLater(withScript(directory, deletesPack, repository.maintain))
      yield* repository.maintain
      assert.isFalse(fs.existsSync(index))
      assertSound(directory)
    })
  )
})

describe("the lock of a maintenance on a machine that is gone", () => {
  it.scopedLive("is reported", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      for (const n of [1, 2, 3, 4]) yield* write(repository, [put("a", `${n}`)])
      const home = `${directory}/chainstore`
      const [own = ""] = fs.readdirSync(home).filter((name) => name.includes("~"))
      const theirs = `${home}/${own.replace(/^[^~]*~[^~]*/, "other_pid_1~11111111-2222-3333-4444-555555555555")}`
      fs.mkdirSync(theirs)
      fs.writeFileSync(`${theirs}/maintenance-1`, "")
      fs.linkSync(`${theirs}/maintenance-1`, `${home}/maintenance.lock`)
      const found = yield* daysLater(Effect.zipRight(repository.maintain, repository.health))
      assert.match(found.map(({ message }) => message).join("\n"), /maintenance\.lock/)
    })
  )
})

describe.skipIf(!fs.existsSync("/proc/1/comm"))(
  "a disk whose clock is a second behind that of the machine",
  () => {
    it.scopedLive("keeps the lock of a Git command that runs while a child of an engine fails", () =>
      Effect.gen(function* () {
        const now = Date.now
        Date.now = () => now() + 1_000
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            Date.now = now
          })
        )
        const repository = yield* engine({ maintenance: false })
        const { directory } = repository
        const { commit } = yield* write(repository, [put("a", "1")])
        yield* repository.updateRef("refs/heads/other", Option.none(), Option.some(commit as Oid))
        const lock = `${directory}/refs/heads/other.lock`
        yield* failedChild(
          repository,
          Effect.gen(function* () {
            const child = yield* started("git", ["-C", directory, "update-ref", "--stdin"], { stdio: "pipe" })
            child.stdin!.write(`start\ndelete refs/heads/other ${commit}\nprepare\n`)
            yield* until(() => fs.existsSync(lock))
          })
        )
        yield* Effect.sleep(1_500)
        assert.isTrue(fs.existsSync(lock))
      })
    )
  }
)

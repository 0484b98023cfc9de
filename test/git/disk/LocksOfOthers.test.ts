import { execFileSync, spawnSync } from "node:child_process"
import { once } from "node:events"
import mutable, * as fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import * as GitRepositories from "../../../src/git/disk/GitRepositories.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { spawnGit } from "../../../src/git/disk/processes/GitProcess.js"
import { bundled } from "../../support/bundled.js"
import { endOf, started, until } from "./support/children.js"
import { daysLater } from "./support/gitOnPath.js"
import { leaveLock } from "./support/leases.js"
import { commits, packsOf } from "./support/packs.js"
import { refusal, withReplaced } from "./support/replacedMethod.js"
import { engine, git, put, readOnly, temporariesIn, temporary, write } from "./support/temporary.js"

/** Ends a Git child of an engine that has failed, which starts the removal of what it may have left. */
const failedChild = (repository: GitRepository) =>
  Effect.exit(repository.withGitChildren(Effect.zipRight(Effect.sleep(50), Effect.fail("failed"))))

/** A repository with a branch `other`, and the id of its commit. */
const filled = Effect.gen(function* () {
  const repository = yield* engine({ maintenance: false })
  const { commit } = yield* write(repository, [put("a", "1")])
  yield* repository.updateRef("refs/heads/other", Option.none(), Option.some(commit as Oid))
  return { repository, directory: repository.directory, commit: commit as Oid }
})

/** A running `git update-ref` that is about to delete a branch, and holds its lock and that of the packed refs. */
const deleting = (command: ReadonlyArray<string>, branch: string, commit: string, lock: string) =>
  Effect.gen(function* () {
    const child = yield* started(command[0]!, [...command.slice(1), "update-ref", "--stdin"], {
      stdio: ["pipe", "ignore", "pipe"]
    })
    child.stdin!.on("error", () => {})
    child.stdin!.write(`start\ndelete refs/heads/${branch} ${commit}\nprepare\n`)
    yield* until(() => fs.existsSync(lock))
    assert.isTrue(fs.existsSync(lock))
    return child
  })

/** Fails if a child of an engine that fails takes the lock of a running Git command with it. */
const assertLockStays = (
  repository: GitRepository,
  command: ReadonlyArray<string>,
  commit: string,
  lock: string
) =>
  Effect.gen(function* () {
    const child = Effect.gen(function* () {
      yield* deleting(command, "other", commit, lock)
      yield* Effect.sleep(50)
      return yield* Effect.fail("failed")
    })
    yield* Effect.exit(repository.withGitChildren(child))
    yield* Effect.sleep(1_000)
    assert.isTrue(fs.existsSync(lock))
  })

const isRoot = process.getuid?.() === 0
const canBind =
  isRoot && spawnSync("unshare", ["-m", "sh", "-c", "mount --bind /tmp /mnt && true"]).status === 0

// Likely with chroots, jails of `git-shell` and services with bind mounts. Bad: an acknowledged commit is lost.
describe.skipIf(!canBind)(
  "the locks of a Git command that works in the repository through a bind mount",
  () => {
    /** Runs Git in the repository, which has another path for it. */
    const bound = (directory: string, alias: string) => [
      ...["unshare", "-m", "sh", "-c", 'mount --bind "$0" "$1" && cd "$1" && shift && exec git "$@"'],
      ...[directory, alias]
    ]

    it.scopedLive(
      "stay: a branch has the commit that Git has acknowledged",
      () =>
        Effect.gen(function* () {
          const { commit, directory, repository } = yield* filled
          const tree = git(directory, "rev-parse", "main^{tree}").trim()
          const next = (text: string) => git(directory, "commit-tree", "-p", commit, "-m", text, tree).trim()
          const [first, second] = [next("first"), next("second")]
          const alias = yield* temporary
          const lock = `${directory}/refs/heads/other.lock`
          const update = (command: ReadonlyArray<string>, to: string) =>
            Effect.gen(function* () {
              const child = yield* started(command[0]!, [...command.slice(1), "update-ref", "--stdin"], {
                stdio: ["pipe", "pipe", "ignore"]
              })
              let said = ""
              child.stdout!.on("data", (text: Buffer) => (said += text))
              child.stdin!.on("error", () => {})
              child.stdin!.write(`start\nupdate refs/heads/other ${to} ${commit}\nprepare\n`)
              yield* Effect.repeat(Effect.sleep(5), { until: () => said.includes("prepare: ok"), times: 600 })
              return { child, said: () => said }
            })
          let bounded: Effect.Effect.Success<ReturnType<typeof update>> | undefined
          yield* repository
            .withGitChildren(
              Effect.gen(function* () {
                bounded = yield* update(bound(directory, alias), first)
                yield* Effect.sleep(50)
                return yield* Effect.fail("failed")
              })
            )
            .pipe(Effect.exit)
          yield* Effect.repeat(Effect.sleep(5), { until: () => !fs.existsSync(lock), times: 300 })
          // Another Git command that waits for its other locks.
          yield* update(["git", "-C", directory], second)
          const { child, said } = bounded!
          child.stdin!.end("commit\n")
          yield* Effect.promise(() => once(child, "close"))
          assert.include(said(), "commit: ok")
          assert.strictEqual(git(directory, "rev-parse", "other").trim(), first)
        }),
      30_000
    )

    it.scopedLive("and its quarantine directory stay: its push succeeds", () =>
      Effect.gen(function* () {
        const { directory, repository } = yield* filled
        const other = yield* engine({ maintenance: false })
        yield* write(other, [put("b", "2")])
        const [alias, flags] = [yield* temporary, yield* temporary]
        fs.mkdirSync(`${directory}/hooks`, { recursive: true })
        fs.writeFileSync(
          `${directory}/hooks/pre-receive`,
          `#!/bin/sh\ntouch ${flags}/reached\nuntil [ -e ${flags}/go ]; do sleep 0.02; done\n`,
          { mode: 0o755 }
        )
        yield* Effect.addFinalizer(() => Effect.sync(() => fs.writeFileSync(`${flags}/go`, "")))
        const push = 'mount --bind "$0" "$1" && exec git -C "$2" push -q "$1" main:refs/heads/pushed'
        let end: Fiber.Fiber<string> | undefined
        yield* repository
          .withGitChildren(
            Effect.zipRight(
              Effect.gen(function* () {
                const child = yield* started(
                  "unshare",
                  ["-m", "sh", "-c", push, directory, alias, other.directory],
                  { stdio: ["ignore", "ignore", "pipe"] }
                )
                end = yield* Effect.forkScoped(endOf(child))
                yield* until(() => fs.existsSync(`${flags}/reached`))
              }),
              Effect.fail("failed")
            )
          )
          .pipe(Effect.exit)
        fs.writeFileSync(`${flags}/go`, "")
        assert.strictEqual(yield* Fiber.join(end!), "0 ")
      })
    )
  }
)

// Likely: an administrator runs a command as root. Bad: no maintenance succeeds any more, as long as the directory exists.
describe.skipIf(!isRoot)("the directory of an engine of another user, which cannot be read", () => {
  it.scopedLive("does not stop every maintenance of the repository", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      fs.chmodSync(home, 0o755)
      const directory = `${home}/test.git`
      yield* Effect.scoped(
        Effect.flatMap(Engine.open({ directory, create: true, maintenance: false }), (repository) =>
          commits(repository, 10)
        )
      )
      execFileSync("chown", ["-R", "65534:65534", directory])
      // An engine of root, such as that of a command of the administrator.
      yield* Engine.open({ directory, maintenance: false })
      const program = `${home}/program.mjs`
      fs.copyFileSync(bundled(new URL("./support/maintainer.ts", import.meta.url)), program)
      const as = [
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        process.execPath,
        program,
        directory,
        "^$"
      ]
      const { stderr } = spawnSync("setpriv", as, {
        encoding: "utf8",
        cwd: "/",
        env: { PATH: process.env["PATH"], HOME: "/nonexistent" }
      })
      assert.isAtMost(packsOf(directory).length, 5, stderr)
    })
  )

  it.scopedLive("does not refuse writes to a branch that a killed Git child had locked", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      fs.chmodSync(home, 0o755)
      const directory = `${home}/test.git`
      const commit = yield* Effect.scoped(
        Effect.flatMap(Engine.open({ directory, create: true, maintenance: false }), (repository) =>
          Effect.map(write(repository, [put("a", "1")]), ({ commit }) => commit)
        )
      )
      execFileSync("chown", ["-R", "65534:65534", directory])
      yield* Engine.open({ directory, maintenance: false })
      const program = `${home}/program.mjs`
      fs.copyFileSync(bundled(new URL("./support/stuckWriter.ts", import.meta.url)), program)
      const as = ["--reuid=65534", "--regid=65534", "--clear-groups", process.execPath, program]
      const child = yield* started("setpriv", [...as, directory, commit], {
        cwd: "/",
        stdio: ["ignore", "pipe", "pipe"],
        env: { PATH: process.env["PATH"], HOME: "/nonexistent" }
      })
      let said = ""
      child.stdout!.on("data", (text: Buffer) => (said += text))
      const end = yield* Effect.fork(endOf(child))
      yield* until(() => said.includes("ready"))
      for (const pid of said.trim().split(" ").slice(1)) process.kill(Number(pid), "SIGKILL")
      const failure = yield* Fiber.join(end)
      // It may have to wait: Git processes of other users count as those of this repository.
      assert.notInclude(failure, "EACCES")
    })
  )
})

const hasChattr = (() => {
  const probe = fs.mkdtempSync("/tmp/chainstore-git-")
  const sealed = isRoot && spawnSync("chattr", ["+i", probe]).status === 0
  if (sealed) spawnSync("chattr", ["-i", probe])
  fs.rmdirSync(probe)
  return sealed
})()

/** Seals one directory, but not what it contains, until the scope closes. */
const sealed = (directory: string) =>
  Effect.acquireRelease(
    Effect.sync(() => spawnSync("chattr", ["+i", directory])),
    () => Effect.sync(() => spawnSync("chattr", ["-i", directory]))
  )

// Unlikely: a part of the refs cannot be changed. Bad: no branch can be written until it can.
describe.skipIf(!hasChattr)("the lock of a dead engine in a directory that cannot be changed", () => {
  const prepared = Effect.gen(function* () {
    const { commit, directory, repository } = yield* filled
    yield* repository.updateRef("refs/heads/sealed/x", Option.none(), Option.some(commit))
    leaveLock(directory, "refs/heads/sealed/y.lock")
    yield* sealed(`${directory}/refs/heads/sealed`)
    return { commit, directory }
  })

  it.scopedLive("does not make all branches read-only", () =>
    Effect.gen(function* () {
      const { directory } = yield* prepared
      const repository = yield* Engine.open({ directory, maintenance: false, timeout: 1_000 })
      const exit = yield* Effect.exit(write(repository, [put("a", "2")]))
      assert.isTrue(Exit.isSuccess(exit), `${exit}`)
    })
  )
})

// Rare: a disk is mounted read-only and writable again. Bad: the branch is locked until the engine is closed.
describe.skipIf(!hasChattr)("a disk that is read-only for a moment when a Git child is killed", () => {
  it.scopedLive(
    "allows writes to the branch that the child had locked, once it can be written again",
    () =>
      Effect.gen(function* () {
        const made = yield* filled
        const { commit, directory } = made
        const repository = yield* Engine.open({ directory, maintenance: false, timeout: 3_000 })
        yield* Effect.scoped(
          Effect.gen(function* () {
            const child = spawnGit(directory, ["update-ref", "--stdin"])
            yield* Effect.exit(
              repository.withGitChildren(
                Effect.gen(function* () {
                  child.stdin.write(`start\ncreate refs/heads/next ${commit}\nprepare\n`)
                  yield* until(() => fs.existsSync(`${directory}/refs/heads/next.lock`))
                  yield* Effect.promise(async () => {
                    spawnSync("chattr", ["-R", "+i", directory])
                    child.kill("SIGKILL")
                    await once(child, "close")
                  })
                  return yield* Effect.fail("killed")
                })
              )
            )
            yield* readOnly(directory)
          })
        )
        assert.isTrue(fs.existsSync(`${directory}/refs/heads/next.lock`))
        const exit = yield* Effect.exit(
          repository.updateRef("refs/heads/next", Option.none(), Option.some(commit))
        )
        assert.isTrue(Exit.isSuccess(exit), `${exit}`)
      }),
    30_000
  )
})

// Rare. Bad for others: as long as the engine does nothing, no process can write the ref.
describe("a lock that the disk refused to remove once", () => {
  it.scopedLive(
    "is removed, even if the engine writes nothing more",
    () =>
      Effect.gen(function* () {
        const { commit, directory, repository } = yield* filled
        const lock = `${directory}/packed-refs.lock`
        const unlinkSync = (real: typeof fs.unlinkSync) => (file: string) => {
          if (file === lock) throw refusal("EROFS")
          real(file)
        }
        yield* withReplaced(
          { unlinkSync },
          repository.updateRef("refs/heads/other", Option.some(commit), Option.none())
        )
        assert.isTrue(fs.existsSync(lock))
        yield* until(() => !fs.existsSync(lock))
        assert.isFalse(fs.existsSync(lock))
      }),
    20_000
  )
})

// Rare: a clock is set back, and a child of an engine fails soon after. Bad: two programs hold the same lock.
describe.skipIf(!fs.existsSync("/proc/1/comm"))("a clock that was set back by a minute", () => {
  it.scopedLive("keeps the lock that a running Git command has taken before", () =>
    Effect.gen(function* () {
      const { commit, directory, repository } = yield* filled
      const lock = `${directory}/packed-refs.lock`
      yield* deleting(["git", "-C", directory], "other", commit, lock)
      yield* Effect.sleep(50)
      // The clock of this process, and the times that the disk sets from now on.
      const step = 60_000
      const [now, statSync] = [Date.now, mutable.statSync]
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          Date.now = () => now() - step
          ;(mutable as any).statSync = (file: any, options: any) => {
            const stat: any = statSync(file, options)
            if (stat === undefined || options?.bigint === true || !`${file}`.includes("~")) return stat
            return Object.assign(stat, { ctimeMs: stat.ctimeMs - step, mtimeMs: stat.mtimeMs - step })
          }
          syncBuiltinESMExports()
        }),
        () =>
          Effect.sync(() => {
            Date.now = now
            ;(mutable as any).statSync = statSync
            syncBuiltinESMExports()
          })
      )
      yield* failedChild(repository)
      yield* Effect.sleep(1_000)
      assert.isTrue(fs.existsSync(lock))
    })
  )
})

// Rare: descriptors run out between two files of `/proc`. Bad: two programs hold the same lock.
describe.skipIf(!fs.existsSync("/proc/1/comm"))("a process without descriptors for a moment", () => {
  it.scopedLive("keeps the lock of a running Git command", () =>
    Effect.gen(function* () {
      const { commit, directory, repository } = yield* filled
      const lock = `${directory}/packed-refs.lock`
      const { readFileSync } = mutable
      yield* repository
        .withGitChildren(
          Effect.gen(function* () {
            const child = yield* deleting(["git", "-C", directory], "other", commit, lock)
            yield* Effect.sleep(50)
            yield* Effect.acquireRelease(
              Effect.sync(() => {
                ;(mutable as any).readFileSync = (file: any, ...rest: ReadonlyArray<any>) => {
                  if (file === `/proc/${child.pid}/comm`) throw refusal("EMFILE")
                  return (readFileSync as any)(file, ...rest)
                }
                syncBuiltinESMExports()
              }),
              () =>
                Effect.sync(() => {
                  ;(mutable as any).readFileSync = readFileSync
                  syncBuiltinESMExports()
                })
            )
            return yield* Effect.fail("failed")
          })
        )
        .pipe(Effect.exit)
      yield* Effect.sleep(1_000)
      assert.isTrue(fs.existsSync(lock))
    })
  )
})

// Unlikely: repositories that share refs by symbolic links. Bad: two programs hold the same lock.
describe("the lock of a Git command", () => {
  it.scopedLive("in another repository, with whose `packed-refs` this one is linked, stays", () =>
    Effect.gen(function* () {
      const shared = yield* filled
      git(shared.directory, "pack-refs", "--all")
      const { directory, repository } = yield* filled
      fs.symlinkSync(`${shared.directory}/packed-refs`, `${directory}/packed-refs`)
      const lock = `${shared.directory}/packed-refs.lock`
      yield* assertLockStays(repository, ["git", "-C", shared.directory], shared.commit, lock)
    })
  )

  it.scopedLive("in a work tree that has symbolic links to the repository (`git-new-workdir`) stays", () =>
    Effect.gen(function* () {
      const { commit, directory, repository } = yield* filled
      const tree = `${yield* temporary}/tree`
      fs.mkdirSync(`${tree}/.git`, { recursive: true })
      for (const name of ["config", "refs", "objects", "packed-refs", "info"])
        fs.symlinkSync(`${directory}/${name}`, `${tree}/.git/${name}`)
      fs.copyFileSync(`${directory}/HEAD`, `${tree}/.git/HEAD`)
      const lock = `${directory}/packed-refs.lock`
      yield* assertLockStays(repository, ["git", "-C", tree, "-c", "core.bare=false"], commit, lock)
    })
  )
})

// Unlikely: a laptop sleeps, or a clock is set forward, during an import, and a second process starts. Bad: the import is lost.
describe("a repository that is prepared while the machine sleeps for hours", () => {
  it.scopedLive("is not taken for an abandoned one by a process that starts afterwards", () =>
    Effect.gen(function* () {
      const directory = yield* temporary
      const first = yield* GitRepositories.make({ directory })
      const exit = yield* Effect.exit(
        first.prepare((repository) =>
          Effect.gen(function* () {
            yield* write(repository, [put("a", "1")])
            const made = path.dirname(repository.directory)
            const before = new Date(Date.now() - 2 * 3_600_000)
            fs.utimesSync(made, before, before)
            yield* GitRepositories.make({ directory })
            yield* Effect.sleep(500)
            yield* write(repository, [put("a", "2")])
          })
        )
      )
      assert.isTrue(Exit.isSuccess(exit), `${exit}`)
    })
  )
})

// Rare: the start after a crash on a disk with errors. Bad: the branch is locked until the process ends, or nothing can be read.
describe("a dead engine's lock, which the disk refused to remove", () => {
  const dead = Effect.gen(function* () {
    const { commit, directory } = yield* filled
    const lock = "refs/heads/main.lock"
    leaveLock(directory, lock)
    const unlinkSync = (real: typeof fs.unlinkSync) => (file: string) => {
      if (file === `${directory}/${lock}`) throw refusal("EIO")
      real(file)
    }
    return { commit, directory, unlinkSync }
  })

  it.scopedLive("once, while an engine was opened, does not block the next engine of this process", () =>
    Effect.gen(function* () {
      const { directory, unlinkSync } = yield* dead
      const open = Engine.open({ directory, maintenance: false, timeout: 1_000 })
      yield* Effect.exit(withReplaced({ unlinkSync }, Effect.scoped(open)))
      const repository = yield* open
      const exit = yield* Effect.exit(write(repository, [put("a", "2")]))
      assert.isTrue(Exit.isSuccess(exit), `${exit}`)
    })
  )

  it.scopedLive("leaves the repository readable", () =>
    Effect.gen(function* () {
      const { directory, unlinkSync } = yield* dead
      const read = Effect.scoped(
        Effect.flatMap(Engine.open({ directory, maintenance: false }), (repository) =>
          repository.ref("refs/heads/main")
        )
      )
      const exit = yield* Effect.exit(withReplaced({ unlinkSync }, read))
      assert.isTrue(Exit.isSuccess(exit), `${exit}`)
    })
  )
})

// Very unlikely: a push of a day on a machine with `hidepid`. Bad for the push, which fails.
describe.skipIf(!fs.existsSync("/proc/1/comm"))("a push that is older than a day", () => {
  it.scopedLive("keeps its quarantine directory where the processes of other users are hidden", () =>
    Effect.gen(function* () {
      const { directory, repository } = yield* filled
      const other = yield* engine({ maintenance: false })
      yield* write(other, [put("b", "2")])
      const flags = yield* temporary
      fs.mkdirSync(`${directory}/hooks`, { recursive: true })
      fs.writeFileSync(
        `${directory}/hooks/pre-receive`,
        `#!/bin/sh\ntouch ${flags}/reached\nuntil [ -e ${flags}/go ]; do sleep 0.02; done\n`,
        { mode: 0o755 }
      )
      yield* Effect.addFinalizer(() => Effect.sync(() => fs.writeFileSync(`${flags}/go`, "")))
      const push = ["-C", other.directory, "push", "-q", directory, "main:refs/heads/pushed"]
      const child = yield* started("git", push, { stdio: ["ignore", "ignore", "pipe"] })
      const end = yield* Effect.fork(endOf(child))
      yield* until(() => fs.existsSync(`${flags}/reached`))
      const { readFileSync } = mutable
      yield* Effect.acquireUseRelease(
        Effect.sync(() => {
          ;(mutable as any).readFileSync = (file: any, ...rest: ReadonlyArray<any>) => {
            if (file === "/proc/1/comm") throw refusal("EACCES")
            return (readFileSync as any)(file, ...rest)
          }
          syncBuiltinESMExports()
        }),
        () => daysLater(repository.maintain),
        () =>
          Effect.sync(() => {
            ;(mutable as any).readFileSync = readFileSync
            syncBuiltinESMExports()
          })
      )
      fs.writeFileSync(`${flags}/go`, "")
      assert.strictEqual(yield* Fiber.join(end), "0 ")
    })
  )
})

// Rare: descriptors run out when a child is killed. Bad for stock Git: the ref is locked until the engine needs it itself.
describe("the lock of a killed Git child", () => {
  it.scopedLive(
    "is removed although the process had no descriptor left at first, and writes nothing more",
    () =>
      Effect.gen(function* () {
        const { commit, directory, repository } = yield* filled
        const lock = `${directory}/refs/heads/next.lock`
        let failures = 0
        const readdirSync = (real: any) => (at: string, options: any) => {
          if (!`${at}`.includes("~") || failures > 0) return real(at, options)
          failures++
          throw refusal("EMFILE")
        }
        const killed = Effect.promise(async () => {
          const child = spawnGit(directory, ["update-ref", "--stdin"])
          child.stdin.write(`start\ncreate refs/heads/next ${commit}\nprepare\n`)
          while (!fs.existsSync(lock)) await new Promise((done) => setTimeout(done, 2))
          child.kill("SIGKILL")
          await once(child, "close")
        })
        yield* withReplaced(
          { readdirSync },
          Effect.exit(repository.withGitChildren(Effect.zipRight(killed, Effect.fail("killed"))))
        )
        assert.strictEqual(failures, 1)
        yield* until(() => !fs.existsSync(lock))
        assert.isFalse(fs.existsSync(lock))
      }),
    20_000
  )
})

// Rare and harmless: one small file for each refusal, until the engine is closed.
describe("the temporary file of a lock that the disk refused to remove once", () => {
  it.scopedLive("goes with the lock", () =>
    Effect.gen(function* () {
      const { commit, directory, repository } = yield* filled
      const lock = `${directory}/packed-refs.lock`
      const unlinkSync = (real: typeof fs.unlinkSync) => (file: string) => {
        if (file === lock) throw refusal("EIO")
        real(file)
      }
      const move = (from: Option.Option<Oid>, to: Option.Option<Oid>) =>
        repository.updateRef("refs/heads/other", from, to)
      yield* withReplaced({ unlinkSync }, move(Option.some(commit), Option.none()))
      yield* move(Option.none(), Option.some(commit))
      yield* move(Option.some(commit), Option.none())
      assert.isFalse(fs.existsSync(lock))
      assert.deepStrictEqual(temporariesIn(directory), [])
    })
  )
})

const canIsolate =
  isRoot &&
  spawnSync("unshare", [
    ...["--pid", "--fork", "--kill-child", "--mount-proc"],
    ...["setpriv", "--reuid=65534", "--clear-groups", "true"]
  ]).status === 0

// Likely on machines of several users. Harmful: new packs stay protected, and locks of killed children stay, as long as the daemon runs.
describe.skipIf(!canIsolate)(
  "a `git credential-cache--daemon` of another user, which writes in no repository",
  () => {
    it.scopedLive(
      "does not keep new packs protected",
      () =>
        Effect.gen(function* () {
          const home = yield* temporary
          fs.chmodSync(home, 0o755)
          const directory = `${home}/test.git`
          yield* Effect.scoped(
            Effect.flatMap(Engine.open({ directory, create: true, maintenance: false }), (repository) =>
              commits(repository, 10)
            )
          )
          execFileSync("chown", ["-R", "65534:65534", directory])
          fs.mkdirSync(`${home}/cache`, { mode: 0o700 })
          const program = `${home}/program.mjs`
          fs.copyFileSync(bundled(new URL("./support/maintainer.ts", import.meta.url)), program)
          const script =
            'git credential-cache--daemon "$0" >/dev/null & sleep 0.5; exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"'
          const { stderr } = spawnSync(
            "unshare",
            [
              ...["--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script],
              ...[`${home}/cache/socket`, process.execPath, program, directory, "^$"]
            ],
            { encoding: "utf8", cwd: "/", env: { PATH: process.env["PATH"], HOME: "/nonexistent" } }
          )
          assert.isAtMost(packsOf(directory).length, 5, stderr)
          const kept = fs.readdirSync(`${directory}/objects/pack`).filter((name) => name.endsWith(".keep"))
          assert.deepStrictEqual(kept, [])
        }),
      60_000
    )
  }
)

import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { Worker } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import * as GitRepositories from "../../../src/git/disk/GitRepositories.js"
import { bundled } from "../../support/bundled.js"
import { endOf, started, until } from "./support/children.js"
import {
  asNobody,
  can,
  deleting,
  deletingLater,
  failingElsewhere,
  filledForAll,
  giveToNobody,
  lockedLater,
  programIn,
  uptimeFrom,
  withUptime
} from "./support/elsewhere.js"
import { leaveLock } from "./support/leases.js"
import { engine, git, put, temporary, write } from "./support/temporary.js"

/** A container of its own, with its processes alone in `/proc`. */
const container = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
/** A repository with a branch `other`, and the id of its commit. */
const filled = Effect.gen(function* () {
  const repository = yield* engine({ maintenance: false })
  const { commit } = yield* write(repository, [put("a", "1")])
  yield* repository.updateRef("refs/heads/other", Option.none(), Option.some(commit as Oid))
  return { repository, directory: repository.directory, commit: commit as Oid }
})

// Likely in containers of LXC, LXD, Incus and Proxmox, where lxcfs shows the uptime of the container by default. Bad: two programs
// hold the same lock, so that an acknowledged commit may be lost; new packs are not protected from a late multi-pack index either.
describe.skipIf(!can("-m", "sh", "-c", "mount --bind /etc/hostname /proc/uptime"))(
  "a container whose /proc/uptime is that of the container (lxcfs)",
  () => {
    it.scopedLive(
      "keeps the lock of a running Git command",
      () =>
        Effect.gen(function* () {
          const { commit, directory } = yield* filled
          const uptime = yield* uptimeFrom(100)
          const end = yield* failingElsewhere(withUptime(uptime), directory, deleting(directory, commit))
          assert.strictEqual(end, "0 ")
          assert.isTrue(fs.existsSync(`${directory}/refs/heads/other.lock`))
        }),
      60_000
    )

    // Very unlikely. Bad: until the process ended, it took every running Git command for one that begins later.
    it.scopedLive(
      "keeps it where descriptors ran out when the first Git child was started",
      () =>
        Effect.gen(function* () {
          const { commit, directory } = yield* filledForAll
          const command = withUptime(yield* uptimeFrom(100), "ulimit -n 256 &&")
          const lock = deleting(directory, commit)
          const end = yield* failingElsewhere(command, directory, lock, {
            before: "a child without descriptors"
          })
          assert.strictEqual(end, "0 ")
          assert.isTrue(fs.existsSync(`${directory}/refs/heads/other.lock`))
        }),
      60_000
    )

    // Very unlikely: a machine that was reset, and an engine that begins just when a Git command locks a branch. Bad, as above.
    it.scopedLive(
      "keeps it when an engine begins, although programs start slowly",
      () =>
        Effect.gen(function* () {
          const { commit, directory } = yield* filledForAll
          const lease = yield* Effect.scoped(leaseName(directory))
          const before = lease.replace(/~[^~]*/, "~11111111-2222-3333-4444-555555555555")
          fs.mkdirSync(`${directory}/chainstore/${before}`)
          fs.writeFileSync(`${directory}/chainstore/${before}/work-1-0`, "")
          const bin = yield* temporary
          fs.writeFileSync(`${bin}/cat`, '#!/bin/sh\nsleep 0.3\nexec /bin/cat "$@"\n', { mode: 0o755 })
          const command = withUptime(yield* uptimeFrom(100), `export PATH="${bin}:$PATH" &&`)
          const { lock } = yield* deleting(directory, commit)
          yield* Effect.sleep(500)
          assert.strictEqual(yield* failingElsewhere(command, directory, Effect.void), "0 ")
          assert.isTrue(fs.existsSync(lock))
        }),
      60_000
    )
  }
)

// Unlikely (lxcfs before 4.0 of 2020, as in Ubuntu 18.04 and Debian 10), but there whenever a Git child fails. Bad: a Git command that
// has just locked a branch seems to begin later, so that its lock is removed: an acknowledged commit may be lost.
describe.skipIf(!can("-m", "sh", "-c", "mount --bind /etc/hostname /proc/uptime"))(
  "a container whose /proc/uptime shows whole seconds (old lxcfs)",
  () => {
    it.scopedLive(
      "keeps the lock of a running Git command",
      () =>
        Effect.gen(function* () {
          const { commit, directory } = yield* filledForAll
          const uptime = yield* uptimeFrom(100, (now) => `${Math.floor(now)}.00`)
          const locked = Effect.gen(function* () {
            const before = fs.readFileSync(uptime, "utf8")
            yield* until(() => fs.readFileSync(uptime, "utf8") !== before)
            yield* Effect.sleep(100)
            yield* deleting(directory, commit)
          })
          const end = yield* failingElsewhere(withUptime(uptime), directory, locked, {
            before: "a change of the uptime"
          })
          assert.strictEqual(end, "0 ")
          assert.isTrue(fs.existsSync(`${directory}/refs/heads/other.lock`))
        }),
      60_000
    )
  }
)

// Rare: containers with time namespaces (runc `timeOffsets`, restored checkpoints, `unshare --time`). Bad: the locks and the files
// of a living engine are removed, so that an acknowledged commit may be lost, and its writes fail.
describe.skipIf(!can("--time", "--boottime", "100000"))("an engine in another time namespace", () => {
  it.scopedLive(
    "keeps its lock while another engine writes the branch",
    () =>
      Effect.gen(function* () {
        const { directory } = yield* filled
        const flags = yield* temporary
        const program = bundled(new URL("./support/pausedWriter.ts", import.meta.url))
        const args = ["--time", "--boottime", "100000", process.execPath, program, directory, flags]
        const child = yield* started("unshare", args, { stdio: ["ignore", "ignore", "pipe"] })
        const end = yield* Effect.fork(endOf(child))
        yield* until(() => fs.existsSync(`${flags}/locked`) || child.exitCode !== null)
        const repository = yield* Engine.open({ directory, maintenance: false, timeout: 500 })
        const exit = yield* Effect.exit(write(repository, [put("a", "2")]))
        fs.writeFileSync(`${flags}/go`, "")
        assert.strictEqual(yield* end, "0 ")
        assert.isTrue(Exit.isFailure(exit), "two engines held the lock")
      }),
    60_000
  )
})

// Unlikely: images without `flock` (distroless), or a disk that is mounted for each container. Bad: the lock of a living Git child is
// removed, so that an acknowledged push may be lost. The documentation promises that such a container counts as alive.
describe.skipIf(!can(...container.slice(1)))("an engine in another container that cannot lock files", () => {
  it.scopedLive(
    "keeps the lock of its running Git child",
    () =>
      Effect.gen(function* () {
        const bin = yield* temporary
        const { stdout } = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" })
        fs.symlinkSync(stdout.trim(), `${bin}/git`)
        const { commit, directory } = yield* filled
        // Its Git child is one of this process, which the other container does not see either.
        const inside = Effect.gen(function* () {
          const end = yield* failingElsewhere(container, directory, deleting(directory, commit))
          assert.strictEqual(end, "0 ")
          assert.isTrue(fs.existsSync(`${directory}/refs/heads/other.lock`))
        })
        yield* failingElsewhere([], directory, inside, { environment: { PATH: bin } })
      }),
    60_000
  )
})

// Unlikely, as on one system: a clock set forward, or a machine that slept, during an import, with two containers over one directory.
// Bad: the import is lost. An engine of this pid namespace is protected from that.
describe.skipIf(!can(...container.slice(1)))("a repository that another container prepares for hours", () => {
  it.scopedLive(
    "is not taken for an abandoned one",
    () =>
      Effect.gen(function* () {
        const [directory, flags] = [yield* temporary, yield* temporary]
        const program = bundled(new URL("./support/preparing.ts", import.meta.url))
        const [first = "", ...rest] = [...container, process.execPath, program, directory, flags]
        const child = yield* started(first, rest, { stdio: ["ignore", "ignore", "pipe"] })
        const end = yield* Effect.fork(endOf(child))
        yield* until(() => fs.existsSync(`${flags}/made`) || child.exitCode !== null)
        const before = new Date(Date.now() - 2 * 3_600_000)
        fs.utimesSync(fs.readFileSync(`${flags}/made`, "utf8"), before, before)
        yield* GitRepositories.make({ directory })
        yield* Effect.sleep(500)
        fs.writeFileSync(`${flags}/go`, "")
        assert.strictEqual(yield* end, "0 ")
      }),
    60_000
  )
})

const mounted = (at: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      fs.mkdirSync(at)
      assert.strictEqual(spawnSync("mount", ["-t", "tmpfs", "tmpfs", at]).status, 0)
    }),
    () => Effect.sync(() => spawnSync("umount", ["-l", at]))
  )

// Very unlikely: `packed-refs` is a symbolic link to another disk, on which a lock has the inode number of a dead engine's. Bad: the
// lock of a running Git command is removed, without any look at processes.
describe.skipIf(!can("-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"))("a lock on another disk", () => {
  it.scopedLive("stays, although a dead engine's file has the same inode number", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      for (const name of ["a", "b"]) yield* mounted(`${home}/${name}`)
      const directory = `${home}/a/test.git`
      const shared = `${home}/b/shared.git`
      const commit = yield* Effect.scoped(
        Effect.flatMap(Engine.open({ directory, create: true, maintenance: false }), (repository) =>
          Effect.map(write(repository, [put("a", "1")]), ({ commit }) => commit)
        )
      )
      git(directory, "clone", "-q", "--bare", directory, shared)
      git(shared, "pack-refs", "--all")
      fs.symlinkSync(`${shared}/packed-refs`, `${directory}/packed-refs`)
      // Directories of engines are named like those of this process.
      fs.mkdirSync(`${directory}/chainstore/${yield* Effect.scoped(leaseName(directory))}`)
      for (let n = 0; n < 200; n++) fs.writeFileSync(`${home}/a/${n}`, "")
      const dead = leaveLock(directory, "refs/heads/main.lock")
      const inode = fs.statSync(`${dead}/held`).ino
      // The third inode from then on is that of Git's lock of the packed refs.
      let next = 0
      while (next < inode - 3) {
        fs.writeFileSync(`${home}/b/next`, "")
        next = fs.statSync(`${home}/b/next`).ino
        fs.rmSync(`${home}/b/next`)
      }
      const child = yield* started("git", ["-C", shared, "update-ref", "--stdin"], {
        stdio: ["pipe", "pipe", "pipe"]
      })
      child.stdin!.write(`start\ndelete refs/heads/main ${commit}\nprepare\n`)
      const lock = `${shared}/packed-refs.lock`
      yield* until(() => fs.existsSync(lock))
      assert.strictEqual(fs.statSync(lock).ino, inode)
      yield* Engine.open({ directory, maintenance: false })
      assert.isTrue(fs.existsSync(lock))
    })
  )
})

/** The name of the lease of an engine, which lives until the scope closes. */
const leaseName = (directory: string) =>
  Effect.map(
    Engine.open({ directory, maintenance: false }),
    () => fs.readdirSync(`${directory}/chainstore`).find((name) => name.includes("~"))!
  )

// Very unlikely: a rootless container with `hidepid`, whose process 1 has the user of the engine, and a second user. Bad: two programs
// hold the same lock.
describe.skipIf(
  !can("-m", "--pid", "--fork", "--kill-child", "sh", "-c", "mount -t proc -o hidepid=2 proc /proc")
)(
  "a container that hides the processes of other users, but whose process 1 has the user of the engine",
  () => {
    it.scopedLive(
      "keeps the lock of a running Git command of another user",
      () =>
        Effect.gen(function* () {
          const { commit, directory, home } = yield* filledForAll
          giveToNobody(directory)
          const git = `git -c safe.directory='*' -C ${directory}`
          const script = `mount -t proc -o hidepid=2 proc /proc
${deletingLater(home, commit, git)}
exec "$@"`
          const command = [
            ...["unshare", "-m", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh"],
            ...asNobody
          ]
          const program = programIn(home, "failingChild")
          const locked = lockedLater(home, directory)
          assert.strictEqual(yield* failingElsewhere(command, directory, locked, { program }), "0 ")
          assert.isTrue(fs.existsSync(`${directory}/refs/heads/other.lock`))
        }),
      60_000
    )
  }
)

// Very unlikely: a container with `hidepid` (`podman --security-opt proc-opts=hidepid=4`) whose root may not trace processes, as by
// default, and a second user. Bad: two programs hold the same lock, so that an acknowledged commit may be lost.
describe.skipIf(
  !can("-m", "--pid", "--fork", "--kill-child", "sh", "-c", "mount -t proc -o hidepid=ptraceable proc /proc")
)("a container whose `hidepid` hides the processes of other users from its root", () => {
  it.scopedLive(
    "keeps the lock of a running Git command of another user",
    () =>
      Effect.gen(function* () {
        const { commit, directory, home } = yield* filledForAll
        giveToNobody(directory)
        const script = `${deletingLater(home, commit, `${asNobody.join(" ")} git -C ${directory}`)}
exec "$@"`
        const mounting =
          'mount -t proc -o hidepid=ptraceable proc /proc && exec setpriv --bounding-set=-sys_ptrace "$@"'
        const command = [
          ...["unshare", "-m", "--pid", "--fork", "--kill-child", "sh", "-c", mounting, "sh"],
          ...["sh", "-c", script, "sh"]
        ]
        const end = yield* failingElsewhere(command, directory, lockedLater(home, directory))
        assert.strictEqual(end, "0 ")
        assert.isTrue(fs.existsSync(`${directory}/refs/heads/other.lock`))
      }),
    60_000
  )
})

// Likely: `sudo -u git git --git-dir=… fetch` from root's home or a cron job of root, in any repository of that user. Harmful: while it
// runs, `health` and the maintenance would fail, and the locks of killed children stay.
describe.skipIf(!can("--pid", "--fork", "--mount-proc"))(
  "a Git command whose working directory the user may not enter",
  () => {
    it.scopedLive(
      "in another repository does not keep the engines of that user from listing Git commands",
      () =>
        Effect.gen(function* () {
          const { directory, home } = yield* filledForAll
          const other = yield* filledForAll
          for (const each of [directory, other.directory]) giveToNobody(each)
          const git = `${asNobody.join(" ")} git --git-dir=${other.directory}`
          // In a pid namespace of their own, there are no other Git processes.
          const script = `cd ${yield* temporary}
${deletingLater(home, other.commit, git)}
cd / && touch ${home}/lock && until [ -e ${other.directory}/refs/heads/other.lock ]; do sleep 0.02; done
exec "$@"`
          const { stderr, stdout } = spawnSync(
            "unshare",
            [
              ...["--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", script, "sh"],
              ...[...asNobody, process.execPath, programIn(home, "gitWriters"), directory]
            ],
            { encoding: "utf8", timeout: 20_000 }
          )
          assert.deepStrictEqual([stdout, stderr], ["0", ""])
        })
    )
  }
)

// Very unlikely: a repository with a separate work tree (`git init --separate-git-dir`) in a container, and an engine outside, which
// sees its processes. Bad: two programs hold the same lock, so that an acknowledged commit may be lost.
describe.skipIf(!can("-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"))(
  "a Git command in a separate work tree whose file `.git` names a path that only its container has",
  () => {
    for (const named of ["/mnt/repository", "../repository"]) {
      it.scopedLive(
        `keeps its lock while a child of an engine fails: ${named}`,
        () =>
          Effect.gen(function* () {
            const { commit, directory, home } = yield* filledForAll
            const tree = `${home}/tree`
            fs.mkdirSync(tree)
            fs.writeFileSync(`${tree}/.git`, `gitdir: ${named}\n`)
            git(directory, "config", "core.bare", "false")
            const script = `mount -t tmpfs tmpfs /mnt && mkdir /mnt/repository /mnt/tree &&
mount --bind ${directory} /mnt/repository && mount --bind ${tree} /mnt/tree && cd /mnt/tree && exec git "$@"`
            const command = ["unshare", "-m", "sh", "-c", script, "sh"]
            const end = yield* failingElsewhere([], directory, deleting(directory, commit, command))
            assert.strictEqual(end, "0 ")
            assert.isTrue(fs.existsSync(`${directory}/refs/heads/other.lock`))
          }),
        60_000
      )
    }
  }
)

// Unlikely: programs that run stores in worker threads and end them. Harmful: the branch is locked until the whole program ends.
describe("a worker thread that is terminated while it holds the lock of a branch", () => {
  it.scopedLive(
    "does not lock the branch for the rest of the process",
    () =>
      Effect.gen(function* () {
        const { directory } = yield* filled
        const flags = yield* temporary
        const program = bundled(new URL("./support/pausedWriter.ts", import.meta.url))
        const worker = new Worker(program, { workerData: [directory, flags] })
        yield* until(() => fs.existsSync(`${flags}/locked`))
        yield* Effect.promise(() => worker.terminate())
        const next = yield* Engine.open({ directory, maintenance: false, timeout: 2_000 })
        const written = yield* Effect.exit(write(next, [put("a", "2")]))
        assert.isTrue(Exit.isSuccess(written), `${written}`)
      }),
    60_000
  )
})

// Unlikely (Git that was wrapped by a package manager: `.git-wrapped`, `.git-real`). Bad: two programs hold the same lock.
describe.skipIf(!fs.existsSync("/proc/1/comm"))("a Git that is wrapped, and runs as `.git-wrapped`", () => {
  it.scopedLive("keeps its lock while a child of an engine fails", () =>
    Effect.gen(function* () {
      const { commit, directory, repository } = yield* filled
      const wrapped = `${yield* temporary}/.git-wrapped`
      fs.copyFileSync(`${git(directory, "--exec-path").trim()}/git`, wrapped)
      fs.chmodSync(wrapped, 0o755)
      yield* Effect.exit(
        repository.withGitChildren(
          Effect.zipRight(
            deleting(directory, commit, [wrapped, "-C", directory]),
            Effect.zipRight(Effect.sleep(50), Effect.fail("failed"))
          )
        )
      )
      yield* Effect.sleep(1_000)
      assert.isTrue(fs.existsSync(`${directory}/refs/heads/other.lock`))
    })
  )
})

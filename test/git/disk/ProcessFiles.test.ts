import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { gitWritersIn } from "../../../src/git/disk/processes/GitWriters.js"
import { started, until } from "./support/children.js"
import {
  asNobody,
  can,
  deleting,
  deletingLater,
  failingElsewhere,
  filledForAll,
  giveToNobody,
  listing,
  lockedLater,
  programIn
} from "./support/elsewhere.js"
import { withReplaced } from "./support/replacedMethod.js"
import { engine, git, put, temporary, write } from "./support/temporary.js"

/** A container of its own, with its processes alone in `/proc`. */
const container = ["--pid", "--fork", "--kill-child", "--mount-proc"]

// Unlikely: a separate work tree that only a group may enter, which the user joined after the engine's process began (`usermod -aG`), or
// that its service leaves out. Bad: two programs hold the same lock, so that an acknowledged commit may be lost. Until lately it failed.
describe.skipIf(!can(...container))(
  "a Git command in a work tree that its groups may enter, but not the engine's",
  () => {
    it.scopedLive(
      "keeps its lock while a child of an engine fails",
      () =>
        Effect.gen(function* () {
          const { commit, directory, home } = yield* filledForAll
          git(directory, "config", "core.bare", "false")
          giveToNobody(directory)
          const tree = `${home}/tree`
          fs.mkdirSync(tree)
          fs.writeFileSync(`${tree}/.git`, `gitdir: ${directory}\n`)
          fs.chownSync(tree, 0, 1234)
          fs.chmodSync(tree, 0o770)
          const asMember = ["setpriv", "--reuid=65534", "--regid=65534", "--groups=1234"].join(" ")
          const script = `${deletingLater(home, commit, `${asMember} git -c safe.directory='*' -C ${tree}`)}
exec "$@"`
          const command = ["unshare", ...container, "sh", "-c", script, "sh", ...asNobody]
          const program = programIn(home, "failingChild")
          const end = yield* failingElsewhere(command, directory, lockedLater(home, directory), { program })
          assert.strictEqual(end, "0 ")
          assert.isTrue(fs.existsSync(`${directory}/refs/heads/other.lock`))
        }),
      60_000
    )
  }
)

// Very unlikely: a container that reaches the repository only by an absolute symbolic link, and an engine outside, which sees its
// processes. Bad: two programs hold the same lock, so that an acknowledged commit may be lost.
describe.skipIf(!can("-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"))(
  "a Git command whose path is an absolute symbolic link that only its container has",
  () => {
    it.scopedLive(
      "keeps its lock while a child of an engine fails",
      () =>
        Effect.gen(function* () {
          const { commit, directory } = yield* filledForAll
          const script = `mount -t tmpfs tmpfs /mnt && mkdir /mnt/repository && ln -s /mnt/repository /mnt/link &&
mount --bind ${directory} /mnt/repository && cd / && exec git --git-dir=/mnt/link "$@"`
          const command = ["unshare", "-m", "sh", "-c", script, "sh"]
          const end = yield* failingElsewhere([], directory, deleting(directory, commit, command))
          assert.strictEqual(end, "0 ")
          assert.isTrue(fs.existsSync(`${directory}/refs/heads/other.lock`))
        }),
      60_000
    )
  }
)

/** What a process says first. */
const saidBy = (child: ReturnType<typeof spawn>) =>
  Effect.gen(function* () {
    let said = ""
    child.stdout!.on("data", (text: Buffer) => (said += text))
    yield* until(() => said !== "" || child.exitCode !== null)
    return said.trim()
  })

const hasPython = spawnSync("python3", ["--version"]).status === 0

// Very unlikely, unless another user of the machine wants it: a Git command whose argument is a pipe that is called `.git`. Bad: an
// engine of root, or of that user, stops as a whole when it lists Git commands.
describe.skipIf(!fs.existsSync("/proc/1/comm"))("a pipe called `.git` that a Git command opens", () => {
  it.scopedLive("does not stop the processes that list Git commands", () =>
    Effect.gen(function* () {
      const { directory } = yield* filledForAll
      const pipe = `${yield* temporary}/.git`
      assert.strictEqual(spawnSync("mkfifo", [pipe]).status, 0)
      yield* started("git", ["hash-object", pipe], { stdio: "ignore", cwd: "/" })
      yield* Effect.sleep(100)
      assert.strictEqual(yield* listing(directory), 0)
    })
  )
})

/** Holds a lease of a file: whoever opens it waits until the lease ends, for 45 seconds by default. */
const leaseHolder = `
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, lambda *_: None)
fcntl.fcntl(os.open(sys.argv[1], os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("held", flush=True)
sys.stdin.read()
`

// Very unlikely, unless another user of the machine wants it, as with a pipe of that name. Bad: an engine of root, or of that user, stops
// for 45 seconds with each look at the processes. A link `.git` to /proc/kmsg stops root for good.
describe.skipIf(!fs.existsSync("/proc/1/comm") || !hasPython)(
  "a file `.git` with a lease, above the directory in which a Git command runs",
  () => {
    it.scopedLive(
      "does not stop the processes that list Git commands",
      () =>
        Effect.gen(function* () {
          const { directory } = yield* filledForAll
          const tree = yield* temporary
          fs.writeFileSync(`${tree}/.git`, "gitdir: /nowhere\n")
          yield* started("git", ["cat-file", "--batch"], {
            cwd: tree,
            env: { PATH: process.env["PATH"], GIT_DIR: (yield* filledForAll).directory },
            stdio: ["pipe", "ignore", "ignore"]
          })
          yield* Effect.sleep(100)
          const holder = yield* started("python3", ["-c", leaseHolder, `${tree}/.git`], {
            stdio: ["pipe", "pipe", "ignore"]
          })
          assert.strictEqual(yield* saidBy(holder), "held")
          assert.strictEqual(yield* listing(directory), 0)
        }),
      60_000
    )
  }
)

// Likely, as above (`git worktree add` by root with `umask 077`). Bad: what a killed push leaves is never removed: its branch stays locked, for
// good, until somebody removes the lock by hand.
describe.skipIf(!can(...container))("a repository whose work trees the user may not list", () => {
  for (const isHidden of [false, true]) {
    it.scopedLive(
      `loses the lock of a killed Git child, ${isHidden ? "as if there were none" : "where there are none"}`,
      () =>
        Effect.gen(function* () {
          const { directory, home } = yield* filledForAll
          giveToNobody(directory)
          if (isHidden) fs.mkdirSync(`${directory}/worktrees`, { mode: 0o700 })
          const lock = `${directory}/refs/heads/other.lock`
          const left = Effect.sync(() => {
            fs.writeFileSync(lock, "")
            giveToNobody(lock)
          })
          const program = programIn(home, "failingChild")
          const command = ["unshare", ...container, ...asNobody]
          assert.strictEqual(yield* failingElsewhere(command, directory, left, { program }), "0 ")
          assert.isFalse(fs.existsSync(lock))
        }),
      60_000
    )
  }
})

// Likely with hooks and `xargs`: Git with thousands of files as arguments, in any repository of the machine. Harmful: a look at the
// processes stops all else for that time, and a maintenance looks up to 200 times.
describe.skipIf(!fs.existsSync("/proc/1/comm"))(
  "a Git command in another repository that has ten thousand paths",
  () => {
    it.scopedLive("costs few looks at the disk when Git commands are listed", () =>
      Effect.gen(function* () {
        const { directory } = yield* filledForAll
        const other = yield* engine({ maintenance: false })
        yield* write(other, [put("a", "1")], { message: "x".repeat(1_000_000) })
        const files = Array.from({ length: 10_000 }, (_, n) => `packages/library/source/folder/file-${n}.ts`)
        yield* Effect.acquireRelease(
          Effect.sync(() =>
            spawn("git", ["-C", other.directory, "log", "main", "--", "a", ...files], {
              stdio: ["ignore", "pipe", "ignore"]
            })
          ),
          (child) => Effect.sync(() => void child.kill("SIGKILL"))
        )
        yield* Effect.sleep(300)
        let looks = 0
        const counted =
          (real: (...args: ReadonlyArray<unknown>) => unknown) =>
          (...args: ReadonlyArray<unknown>) => {
            looks++
            return real(...args)
          }
        yield* withReplaced(
          { statSync: counted, readlinkSync: counted },
          Effect.sync(() => gitWritersIn(directory))
        )
        assert.isBelow(looks, 10_000)
      })
    )
  }
)

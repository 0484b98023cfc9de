import { execFileSync, spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schedule } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { type GitChild, hookChannelOf, spawnGit } from "../../../src/git/disk/processes/GitProcess.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../src/store/Store.js"
import { bundled } from "../../support/bundled.js"
import { assertSound, git, put, temporary, write } from "./support/temporary.js"

const stuck = bundled(new URL("./support/stuckWriter.ts", import.meta.url))
const branches = bundled(new URL("./support/branches.ts", import.meta.url))
const maintainer = bundled(new URL("./support/maintainer.ts", import.meta.url))

/** Runs a command in a pid namespace of its own that outlives the command, as a container with an init does. */
const inContainer = [
  ...["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"],
  ...["sh", "-c", '"$@"; code=$?; [ $code = 137 ] && sleep 60; exit $code', "sh"]
]
const hasContainers = spawnSync("unshare", [...inContainer.slice(1), "flock", "--version"]).status === 0

/** Runs a command in a pid namespace that ends with it. */
const hidden = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
const canHide =
  spawnSync("unshare", [
    ...hidden.slice(1),
    "sh",
    "-c",
    "mount -o remount,hidepid=2 /proc && setpriv --reuid=65534 --clear-groups true"
  ]).status === 0

/** The lock files and temporary files of a repository. */
const leftIn = (directory: string): ReadonlyArray<string> =>
  (fs.readdirSync(directory, { recursive: true }) as Array<string>).filter((name) =>
    /\.lock$|\/\.?tmp[_-]/.test(`/${name}`)
  )

const made = Effect.gen(function* () {
  const directory = path.join(yield* temporary, "left.git")
  const commit = yield* Effect.scoped(
    Effect.flatMap(Engine.open({ directory, create: true }), (repository) =>
      Effect.map(write(repository, [put("a", "1")]), (written) => written.commit)
    )
  )
  return { directory, commit }
})

interface Stuck {
  readonly pid: number
  readonly children: ReadonlyArray<number>
  /** Its last line of output. */
  readonly end: Promise<string>
}

/** A process with Git children that hold locks, in a new process group. */
const stuckIn = (directory: string, commit: Oid, prefix: ReadonlyArray<string> = []) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<Stuck>((resolve, reject) => {
          const [command = "", ...args] = [...prefix, process.execPath, stuck]
          const child = spawn(command, [...args, directory, commit], {
            detached: true,
            stdio: ["ignore", "pipe", "pipe"]
          })
          let said = ""
          child.stderr.on("data", (text: Buffer) => (said += text))
          const end = new Promise<string>((ended) => child.on("close", () => ended(said)))
          child.stdout.on("data", (text: Buffer) => {
            said += text
            const pids = /^ready (\d+) (\d+)$/m.exec(said)
            if (pids !== null) resolve({ pid: child.pid!, children: [Number(pids[1]), Number(pids[2])], end })
          })
          child.on("close", () => reject(new Error(said)))
        })
    ),
    ({ pid }) => Effect.ignore(Effect.try(() => process.kill(-pid, "SIGKILL")))
  )

const packet = (text: string) => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`

/** A push of a new branch that waits at its hook. */
const waitingPush = (directory: string, branch: string, commit: Oid) =>
  Effect.promise(async () => {
    const push = spawnGit(directory, ["receive-pack", "--stateless-rpc", directory], { waitsInHook: true })
    push.stdout.resume()
    const head = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1")
    push.stdin.write(`${packet(`${"0".repeat(40)} ${commit} refs/heads/${branch}\0report-status`)}0000`)
    push.stdin.end(Buffer.concat([head, createHash("sha1").update(head).digest()]))
    await once(hookChannelOf(push), "data")
    return push
  })

/** The repairs that the doctor of a store reports. */
const repairsOf = (repository: GitRepository) =>
  Store.make().pipe(
    Effect.provideService(GitRemote, LocalGit.fromRepository(repository)),
    Effect.flatMap((store) => store.doctor),
    Effect.map((found) =>
      found
        .filter(({ code }) => code === "repaired")
        .map(({ message }) => message)
        .join("\n")
    )
  )

/** A process and its descendants. */
const familyOf = (pid: number): ReadonlyArray<number> => {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim()
  return [pid, ...(children === "" ? [] : children.split(" ").map(Number).flatMap(familyOf))]
}

/** The outcome of writes to branches by a new container. */
const writeInContainer = (directory: string, commit: Oid, names: ReadonlyArray<string>): unknown => {
  const [command = "", ...args] = [...inContainer, process.execPath, branches]
  return JSON.parse(execFileSync(command, [...args, directory, commit, ...names], { encoding: "utf8" }))
}

describe.skipIf(!hasContainers)("files that a killed container left", () => {
  it.scopedLive(
    "are removed by another container as soon as its processes are dead, and not before",
    () =>
      Effect.gen(function* () {
        const { commit, directory } = yield* made
        const home = path.join(directory, "chainstore")
        const { end, pid } = yield* stuckIn(directory, commit, inContainer)
        const [owner = ""] = fs.readdirSync(home).filter((name) => name.includes("~"))
        // An engine in the middle of a write.
        fs.writeFileSync(path.join(home, owner, "ref-x"), "")
        fs.linkSync(path.join(home, owner, "ref-x"), path.join(directory, "refs/heads/main.lock"))
        // A third engine is dead, and its children may have left whatever is younger than the epoch.
        const [machine, boot, , ...rest] = owner.split("~")
        const dead = path.join(home, [machine, boot, "dead", ...rest].join("~"))
        fs.mkdirSync(dead)
        fs.writeFileSync(path.join(dead, "work-0"), "")
        fs.utimesSync(path.join(dead, "work-0"), 0, 0)
        const before = leftIn(directory)
        assert.include(before, "refs/heads/b2.lock")
        assert.deepStrictEqual(writeInContainer(directory, commit, ["main", "b2", "b3"]), [
          "Locked",
          "Locked",
          "written"
        ])
        assert.includeMembers([...leftIn(directory)], [...before])
        // The engine dies, and its Git children do not notice yet.
        const family = familyOf(pid).slice(2)
        for (const child of family.slice(1)) process.kill(child, "SIGSTOP")
        process.kill(family[0]!, "SIGKILL")
        assert.deepStrictEqual(writeInContainer(directory, commit, ["main", "b2", "b3"]), [
          "written",
          "Locked",
          "written"
        ])
        assert.include(leftIn(directory), "refs/heads/b2.lock")
        process.kill(-pid, "SIGKILL")
        yield* Effect.promise(() => end)
        assert.deepStrictEqual(writeInContainer(directory, commit, ["main", "b2", "b3"]), [
          "written",
          "written",
          "written"
        ])
        assert.deepStrictEqual(leftIn(directory), [])
        assert.deepStrictEqual(
          fs.readdirSync(home).filter((name) => name.includes("~")),
          []
        )
        assertSound(directory)
      }),
    60_000
  )
})

describe.skipIf(!hasContainers)("the quarantine directory of a push in another container", () => {
  it.scopedLive(
    "stays longer than a day while the push runs",
    () =>
      Effect.gen(function* () {
        const { commit, directory } = yield* made
        const { end, pid } = yield* stuckIn(directory, commit, inContainer)
        const clock = "const now = Date.now; Date.now = () => now() + 2 * 86_400_000"
        const imports = ["--import", `data:text/javascript,${encodeURIComponent(clock)}`]
        const [command = "", ...args] = [...inContainer, process.execPath, ...imports, maintainer]
        const maintain = () => spawnSync(command, [...args, directory, "none"], { encoding: "utf8" })
        const said = maintain()
        assert.deepStrictEqual([said.status, said.stderr], [0, ""])
        assert.include(leftIn(directory).join(), "objects/tmp_objdir-incoming-")
        process.kill(-pid, "SIGKILL")
        yield* Effect.promise(() => end)
        assert.strictEqual(maintain().status, 0)
        assert.deepStrictEqual(leftIn(directory), [])
        assertSound(directory)
      }),
    60_000
  )
})

describe("files that killed Git children left", () => {
  it.scopedLive(
    "are removed when the whole process group was killed: every branch can be written within a second",
    () =>
      Effect.gen(function* () {
        const { commit, directory } = yield* made
        const reader = spawnGit(directory, ["cat-file", "--batch"])
        const push = yield* waitingPush(directory, "b9", commit)
        yield* Effect.addFinalizer(() => Effect.sync(() => reader.kill() && push.kill()))
        const quarantine = fs.readdirSync(path.join(directory, "objects")).find((name) => /^tmp/.test(name))!
        const { end, pid } = yield* stuckIn(directory, commit)
        process.kill(-pid, "SIGKILL")
        yield* Effect.promise(() => end)
        assert.include(leftIn(directory).join(), "refs/heads/b2.lock")
        assert.include(leftIn(directory).join(), "objects/tmp_objdir-incoming-")
        const repository = yield* Engine.open({ directory, timeout: 1_000 })
        for (const name of ["main", "b2", "b3"]) {
          const at = name === "main" ? Option.some(commit) : Option.none()
          yield* repository.updateRef(`refs/heads/${name}`, at, Option.some(commit))
        }
        assert.include(leftIn(directory), `objects/${quarantine}`)
        hookChannelOf(push).end("go\n")
        yield* Effect.promise(() => once(push, "close"))
        assert.strictEqual(git(directory, "rev-parse", "b9").trim(), commit)
        yield* repository.maintain
        assert.deepStrictEqual(leftIn(directory), [])
        const repairs = yield* repairsOf(repository)
        assert.include(repairs, "refs/heads/b2.lock")
        assert.include(repairs, "tmp_objdir-incoming-")
        assertSound(directory)
      }),
    30_000
  )

  it.scopedLive(
    "are removed when only the children were killed",
    () =>
      Effect.gen(function* () {
        const { commit, directory } = yield* made
        const { children, end } = yield* stuckIn(directory, commit)
        for (const child of children) process.kill(child, "SIGKILL")
        assert.include(yield* Effect.promise(() => end), "written")
        assert.deepStrictEqual(leftIn(directory), [])
      }),
    30_000
  )

  it.scopedLive(
    "are removed as soon as the last child has ended, even if no process writes to or opens the repository",
    () =>
      Effect.gen(function* () {
        const { commit, directory } = yield* made
        const repository = yield* Engine.open({ directory })
        const left = Effect.sync(() => leftIn(directory).length)
        const gone = Effect.repeat(Effect.delay(left, 10), { until: (count) => count === 0, times: 3_000 })
        const kill = (push: GitChild) => {
          push.kill("SIGKILL")
          hookChannelOf(push).destroy()
        }
        const failing = (branch: string, end: (push: GitChild) => void) =>
          Effect.tap(waitingPush(directory, branch, commit), (push) => Effect.sync(() => end(push))).pipe(
            Effect.zipRight(left),
            Effect.flatMap((count) => Effect.fail(count)),
            repository.withGitChildren,
            Effect.flip
          )
        assert.strictEqual(yield* failing("b1", kill), 2)
        assert.strictEqual(yield* left, 0)
        const pushes: Array<GitChild> = []
        assert.strictEqual(yield* failing("b2", (push) => pushes.push(push)), 2)
        assert.strictEqual(yield* left, 2)
        for (const push of pushes) kill(push)
        assert.strictEqual(yield* gone, 0)
        // One that closes before leaves the rest to the next.
        yield* Effect.scoped(
          Effect.gen(function* () {
            const closing = yield* Engine.open({ directory })
            const push = yield* closing
              .withGitChildren(
                Effect.flatMap(waitingPush(directory, "b3", commit), (push) => Effect.fail({ push }))
              )
              .pipe(Effect.flip)
            if ("push" in push) pushes.push(push.push)
          })
        )
        assert.strictEqual(yield* left, 2)
        kill(pushes[1]!)
        const again = yield* Engine.open({ directory })
        assert.strictEqual(yield* gone, 0)
        assert.strictEqual(yield* again.defaultBranch, "main")
      }),
    60_000
  )

  it.scopedLive.each(["its path", "a symbolic link"])(
    "are kept while a Git process that may hold the lock is alive, if it was given %s",
    (way) =>
      Effect.gen(function* () {
        const { commit, directory } = yield* made
        const linked = path.join(path.dirname(directory), "linked")
        fs.symlinkSync(path.dirname(directory), linked)
        const given = way === "its path" ? directory : path.join(linked, path.basename(directory))
        const { end, pid } = yield* stuckIn(directory, commit)
        const other = spawn("git", [`--git-dir=${given}`, "update-ref", "--stdin"])
        yield* Effect.addFinalizer(() => Effect.sync(() => other.kill("SIGKILL")))
        other.stdin.write(`start\ncreate refs/heads/b4 ${commit}\nprepare\n`)
        const lock = path.join(directory, "refs/heads/b4.lock")
        yield* Effect.repeat(Effect.sleep(5), { until: () => fs.existsSync(lock) })
        process.kill(-pid, "SIGKILL")
        yield* Effect.promise(() => end)
        const repository = yield* Engine.open({ directory, timeout: 600 })
        const refused = yield* Effect.flip(
          repository.updateRef("refs/heads/b4", Option.none(), Option.some(commit))
        )
        assert.strictEqual(refused._tag === "RemoteError" ? refused.reason : refused._tag, "Locked")
        assert.isTrue(fs.existsSync(lock))
        other.stdin.end("commit\n")
        yield* Effect.repeat(Effect.sleep(5), { until: () => !fs.existsSync(lock) })
        assert.strictEqual(git(directory, "rev-parse", "b4").trim(), commit)
      }),
    30_000
  )

  it.scopedLive.each([3_600_000, -3_600_000])(
    "are distinguished from the lock of a living process after the clock was set by %i ms",
    (step) =>
      Effect.gen(function* () {
        const { commit, directory } = yield* made
        const { end, pid } = yield* stuckIn(directory, commit)
        const other = spawn("git", [`--git-dir=${directory}`, "update-ref", "--stdin"])
        yield* Effect.addFinalizer(() => Effect.sync(() => other.kill("SIGKILL")))
        process.kill(-pid, "SIGKILL")
        yield* Effect.promise(() => end)
        const recovered = () => {
          const clock = `const now = Date.now; Date.now = () => now() + ${step}`
          const imports = ["--import", `data:text/javascript,${encodeURIComponent(clock)}`]
          return JSON.parse(
            execFileSync(process.execPath, [...imports, branches, directory, commit, "b2", "b4"], {
              encoding: "utf8"
            })
          )
        }
        other.stdin.write(`start\ncreate refs/heads/b4 ${commit}\nprepare\n`)
        const lock = path.join(directory, "refs/heads/b4.lock")
        yield* Effect.repeat(Effect.sleep(5), { until: () => fs.existsSync(lock) })
        assert.strictEqual(recovered()[1], "Locked")
        other.stdin.end("commit\n")
        yield* Effect.promise(() => once(other, "close"))
        assert.deepStrictEqual(recovered(), ["written", "written"])
        assert.deepStrictEqual(leftIn(directory), [])
      }),
    60_000
  )

  it.scopedLive.skipIf(!canHide)(
    "are distinguished from the lock of another user's process, even if such processes are hidden",
    () =>
      Effect.gen(function* () {
        const { commit, directory } = yield* made
        const home = path.join(directory, "chainstore")
        const name = yield* Effect.scoped(
          Effect.map(Engine.open({ directory }), () => fs.readdirSync(home).find((one) => one.includes("~"))!)
        )
        const [machine, boot, , ...rest] = name.split("~")
        const dead = path.join(home, [machine, boot, "dead", ...rest].join("~"))
        fs.mkdirSync(dead)
        fs.writeFileSync(path.join(dead, "work-0"), "")
        fs.utimesSync(path.join(dead, "work-0"), 0, 0)
        fs.chmodSync(path.dirname(directory), 0o755)
        execFileSync("chown", ["-R", "65534:65534", directory])
        const lock = path.join(directory, "refs/heads/b4.lock")
        const script = [
          "mount -o remount,hidepid=2 /proc",
          `(printf 'start\\ncreate refs/heads/b4 ${commit}\\nprepare\\n'; sleep 30) |`,
          `  git -c safe.directory='*' --git-dir=${directory} update-ref --stdin >/dev/null &`,
          `until [ -e ${lock} ]; do sleep 0.05; done`,
          'setpriv --reuid=65534 --regid=65534 --clear-groups "$@"'
        ].join("\n")
        const [command = "", ...args] = hidden
        const branch = [process.execPath, branches, directory, commit, "b4"]
        const said = execFileSync(command, [...args, "sh", "-c", script, "sh", ...branch], {
          encoding: "utf8",
          env: { PATH: process.env["PATH"], HOME: "/nonexistent" }
        })
        assert.deepStrictEqual(JSON.parse(said), ["Locked"])
      }),
    60_000
  )

  it.scopedLive(
    "do not block the maintenance",
    () =>
      Effect.gen(function* () {
        const { directory } = yield* made
        const repository = yield* Engine.open({ directory, maintenance: false })
        for (let n = 0; n < 5; n++) yield* write(repository, [put(`f${n}`, `${n}`)])
        const before = process.env["PATH"]
        const bin = path.join(yield* temporary, "bin")
        const real = git(directory, "--exec-path").trim()
        fs.mkdirSync(bin)
        const fatal = [
          `touch ${directory}/objects/pack/multi-pack-index.lock ${directory}/objects/pack/tmp_pack_X`,
          `mkdir -p ${directory}/objects/info/commit-graphs`,
          `touch ${directory}/objects/info/commit-graphs/commit-graph-chain.lock`,
          `touch ${bin}/killed`,
          "kill -KILL $$"
        ].join("\n")
        const script = `#!/bin/sh\ncase "$*" in *pack-objects*) ${fatal} ;; esac\nexec ${real}/git "$@"\n`
        fs.writeFileSync(path.join(bin, "git"), script, { mode: 0o755 })
        yield* Effect.acquireUseRelease(
          Effect.sync(() => {
            process.env["PATH"] = `${bin}:${before}`
          }),
          () => Effect.flip(repository.maintain),
          () =>
            Effect.sync(() => {
              process.env["PATH"] = before
            })
        )
        assert.isTrue(fs.existsSync(path.join(bin, "killed")))
        // A lock is not taken for a dead process's before it is a little older than a living one's.
        yield* Effect.retry(
          repository.maintain,
          Schedule.intersect(Schedule.spaced(100), Schedule.recurs(50))
        )
        assert.deepStrictEqual(leftIn(directory), [])
        assert.isTrue(fs.existsSync(path.join(directory, "objects/info/commit-graphs/commit-graph-chain")))
        assert.include(yield* repairsOf(repository), "multi-pack-index.lock")
        assertSound(directory)
      }),
    30_000
  )
})

import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { emptyTree } from "../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import { gitWritersIn } from "../../../src/git/disk/processes/GitWriters.js"
import { bundled } from "../../support/bundled.js"
import { daysLater } from "./support/gitOnPath.js"
import { engine, git, put, temporary, write } from "./support/temporary.js"

const until = (holds: () => boolean) => Effect.repeat(Effect.sleep(5), { until: holds })

/** The shortest list of several: a Git process of another test that begins, ends or waits for a disk hides where it works. */
const listed = (directory: string) =>
  Effect.map(
    Effect.forEach(Array(5), () => Effect.map(Effect.sleep(20), () => gitWritersIn(directory)!)),
    (lists) => lists.reduce((shortest, list) => (list.length < shortest.length ? list : shortest))
  )

const started = (args: ReadonlyArray<string>, cwd?: string) =>
  Effect.acquireRelease(
    Effect.sync(() => spawn("git", args, { cwd, stdio: ["pipe", "pipe", "ignore"] })),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )

/** A repository with a file and a message that do not fit into a pipe, so that a command that shows them stays open. */
const filled = Effect.gen(function* () {
  const repository = yield* engine({ maintenance: false })
  const large = "x".repeat(100).concat("\n").repeat(10_000)
  yield* write(repository, [put("a", large), put("sub/b", "2")], { message: large })
  for (let n = 0; n < 3; n++) yield* write(repository, [put("a", `${n}\n${large}`)], { message: large })
  return repository
})

describe.skipIf(!fs.existsSync("/proc/1/comm"))("a Git process that stays open in a repository", () => {
  const shows = {
    "git log -p": ["log", "-p"],
    "git -c x.y=z --no-pager log": ["-c", "x.y=z", "--no-pager", "log"],
    "git show": ["show"],
    "git diff": ["diff", emptyTree, "main"],
    "git blame": ["blame", "main", "a"],
    "git grep": ["grep", "x", "main"]
  }
  const reads = {
    "git archive": ["archive", "main"],
    "git cat-file": ["cat-file", "--batch"],
    "git shortlog": ["shortlog"],
    "git rev-list": ["rev-list", "--pretty=raw", "main"],
    "git daemon": ["daemon", "--inetd", "--base-path=."],
    "git pack-objects of a fetch": ["--shallow-file", "", "pack-objects", "--stdout", "--revs"]
  }
  const writes = {
    "git update-ref": ["update-ref", "--stdin"],
    "git fast-import": ["fast-import"],
    "an alias of git log": ["-c", "alias.lg=log -p", "lg"],
    "git whose option has the value `log`": ["--shallow-file", "log", "update-ref", "--stdin"],
    "git pack-objects": ["pack-objects", "objects/pack/pack"]
  }

  /** What the engine thinks of a command that stays open. */
  const judged = (args: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const { directory } = yield* filled
      const child = yield* started(args, directory)
      yield* Effect.sleep(50)
      const found = (yield* listed(directory)).map(({ writes }) =>
        writes === "caches" ? "caches" : "anything"
      )
      assert.isNull(child.exitCode, "it has ended")
      return found
    })

  it.scopedLive.each(Object.entries(shows))("may write caches: %s", ([, args]) =>
    Effect.map(judged(args), (found) => assert.deepStrictEqual(found, ["caches"]))
  )
  it.scopedLive.each(Object.entries(reads))("writes nothing: %s", ([, args]) =>
    Effect.map(judged(args), (found) => assert.deepStrictEqual(found, []))
  )
  it.scopedLive.each(Object.entries(writes))("may write anything: %s", ([, args]) =>
    Effect.map(judged(args), (found) => assert.include(found, "anything"))
  )
})

describe.skipIf(!fs.existsSync("/proc/1/comm"))("a Git process that writes is found in", () => {
  const count = (directory: string) => Effect.map(listed(directory), ({ length }) => length)
  const writer = (directory: string, tree: string) =>
    Effect.zipRight(started(["update-ref", "--stdin"], tree), count(directory))
  const linked = (directory: string) =>
    Effect.map(temporary, (home) => {
      const tree = `${home}/tree`
      git(directory, "worktree", "add", "-q", "-b", "work", tree, "main")
      return tree
    })

  it.scopedLive("a directory of a linked work tree", () =>
    Effect.gen(function* () {
      const { directory } = yield* filled
      const tree = yield* linked(directory)
      assert.strictEqual(yield* writer(directory, `${tree}/sub`), 1)
    })
  )

  // Git 2.48 writes this path with `worktree.useRelativePaths`.
  it.scopedLive("a linked work tree that is registered with a relative path", () =>
    Effect.gen(function* () {
      const { directory } = yield* filled
      const tree = yield* linked(directory)
      const registered = `${directory}/worktrees/tree`
      fs.writeFileSync(`${registered}/gitdir`, `${"../".repeat(20)}${tree.slice(1)}/.git\n`)
      assert.strictEqual(yield* writer(directory, tree), 1)
    })
  )

  it.scopedLive("the main work tree of a repository that is not bare", () =>
    Effect.gen(function* () {
      const tree = `${yield* temporary}/tree`
      const { directory } = yield* filled
      git(directory, "clone", "-q", directory, tree)
      assert.strictEqual(yield* writer(`${tree}/.git`, `${tree}/sub`), 1)
    })
  )

  it.scopedLive("the work tree of a repository that is elsewhere (`git init --separate-git-dir`)", () =>
    Effect.gen(function* () {
      const { directory } = yield* filled
      const home = yield* temporary
      git(home, "clone", "-q", `--separate-git-dir=${home}/repository`, directory, `${home}/tree`)
      assert.strictEqual(yield* writer(`${home}/repository`, `${home}/tree/sub`), 1)
    })
  )

  it.scopedLive(
    "the work tree that `core.worktree` names, if Git was given the repository by a relative path",
    () =>
      Effect.gen(function* () {
        const { directory } = yield* filled
        const tree = `${yield* temporary}/tree`
        fs.mkdirSync(`${tree}/sub`, { recursive: true })
        git(directory, "config", "core.bare", "false")
        git(directory, "config", "core.worktree", tree)
        const given = `--git-dir=${path.relative(`${tree}/sub`, directory)}`
        const child = yield* started([given, "update-ref", "--stdin"], `${tree}/sub`)
        yield* until(() => fs.readlinkSync(`/proc/${child.pid}/cwd`) === fs.realpathSync(tree))
        assert.strictEqual(yield* count(directory), 1)
      })
  )

  it.scopedLive("the work tree of a submodule", () =>
    Effect.gen(function* () {
      const { directory } = yield* filled
      const home = yield* temporary
      git(home, "init", "-q", "super")
      const tree = `${home}/super`
      git(tree, "-c", "protocol.file.allow=always", "submodule", "add", "-q", directory, "module")
      assert.strictEqual(yield* writer(`${tree}/.git/modules/module`, `${tree}/module/sub`), 1)
    })
  )

  it.scopedLive("none of the work trees of another repository", () =>
    Effect.gen(function* () {
      const { directory } = yield* filled
      const tree = yield* linked((yield* filled).directory)
      assert.strictEqual(yield* writer(directory, tree), 0)
    })
  )
})

// A repeated merge is stored below `objects/tmp_objdir-remerge-diff-*`. Git removes the directory when the command ends.
describe("the temporary objects of an open `git log --remerge-diff`", () => {
  const withLog = Effect.gen(function* () {
    const { directory } = yield* engine({ maintenance: false })
    const repository = yield* Engine.open({ directory, maintenance: false })
    yield* write(repository, [put("a", "1")])
    const home = yield* temporary
    const tree = `${home}/tree`
    const message = `${home}/message`
    fs.writeFileSync(message, "x".repeat(1_000_000))
    git(directory, "worktree", "add", "-q", "-b", "side", tree, "main")
    git(tree, "commit", "-q", "--allow-empty", "-m", "side")
    yield* write(repository, [put("a", "2")])
    git(tree, "merge", "-q", "--no-ff", "-F", message, "main")
    const kept = () => fs.readdirSync(`${directory}/objects`).filter((name) => name.startsWith("tmp_objdir-"))
    const end = Effect.exit(repository.withGitChildren(Effect.fail("failed")))
    const log = (during: Effect.Effect<unknown, unknown>) =>
      Effect.gen(function* () {
        const child = yield* started(["-C", directory, "log", "--remerge-diff", "side"])
        yield* until(() => kept().length > 0)
        yield* during
        return child
      })
    return { end, kept, log, repository }
  })

  it.scopedLive("stay while a child of an engine fails", () =>
    Effect.gen(function* () {
      const { end, kept, log, repository } = yield* withLog
      yield* Effect.exit(repository.withGitChildren(Effect.zipRight(log(Effect.void), Effect.fail("failed"))))
      yield* Effect.sleep(400)
      yield* end
      assert.strictEqual(kept().length, 1)
    })
  )

  it.scopedLive("stay longer than a day, and not when it was killed", () =>
    Effect.gen(function* () {
      const { kept, log, repository } = yield* withLog
      const child = yield* log(daysLater(repository.maintain))
      assert.strictEqual(kept().length, 1)
      child.kill("SIGKILL")
      yield* until(() => child.signalCode !== null)
      yield* daysLater(repository.maintain)
      assert.deepStrictEqual(kept(), [])
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(write(repository, [put("a", "3")]))))
    })
  )
})

const canHide =
  spawnSync("unshare", [
    "--pid",
    "--fork",
    "--mount-proc",
    "setpriv",
    "--reuid=65534",
    "--clear-groups",
    "true"
  ]).status === 0

describe.skipIf(!canHide)("a program of another user whose name only begins like Git's", () => {
  it.scopedLive("does not count as a Git process in every repository", () =>
    Effect.gen(function* () {
      const { directory } = yield* filled
      spawnSync("chmod", ["-R", "a+rX", path.dirname(directory)])
      const program = bundled(new URL("./support/gitWriters.ts", import.meta.url))
      const home = yield* temporary
      fs.chmodSync(home, 0o755)
      fs.copyFileSync(program, `${home}/program.mjs`)
      const count = (name: string) => {
        fs.copyFileSync("/bin/sleep", `${home}/${name}`)
        fs.chmodSync(`${home}/${name}`, 0o755)
        // In a pid namespace of their own, there are no other Git processes.
        const counted = `"$0" 60 & exec setpriv --reuid=65534 --clear-groups "$@"`
        const command = ["sh", "-c", counted, `${home}/${name}`, process.execPath, `${home}/program.mjs`]
        const unshared = ["--pid", "--fork", "--mount-proc", ...command, directory]
        const { stderr, stdout } = spawnSync("unshare", unshared, { encoding: "utf8" })
        return `${stdout}${stderr}`
      }
      assert.deepStrictEqual([count("gitea"), count("git-remote-http")], ["0", "1"])
    })
  )
})

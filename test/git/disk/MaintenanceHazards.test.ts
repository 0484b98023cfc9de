import { spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import * as GitRepositories from "../../../src/git/disk/GitRepositories.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { bundled } from "../../support/bundled.js"
import { countingGit, daysLater, stoppedMaintenance } from "./support/gitOnPath.js"
import { change, commits, looseIn, packsIn, packsOf } from "./support/packs.js"
import { failingFsync, refusal, withReplaced } from "./support/replacedMethod.js"
import { assertSound, engine, git, put, temporary, write } from "./support/temporary.js"

const hasStrace = spawnSync("strace", ["true"]).status === 0

/** A closed repository with `count` packs. */
const closedWith = (count: number, content?: (n: number) => string | Buffer) =>
  Effect.gen(function* () {
    const { directory } = yield* engine({ maintenance: false })
    const open = Engine.open({ directory, maintenance: false })
    yield* Effect.scoped(Effect.flatMap(open, (repository) => commits(repository, count, content)))
    return directory
  })

const headOf = (repository: GitRepository) =>
  Effect.map(repository.resolve("main"), (head) => Option.getOrThrow(head))

/** Fails the first call of a function of `node:fs` whose first argument satisfies a predicate. */
const failingOnce =
  (fails: (path: string) => boolean, code: Parameters<typeof refusal>[0]) =>
  (real: (...args: ReadonlyArray<unknown>) => unknown) => {
    let failed = false
    return (...args: ReadonlyArray<unknown>) => {
      if (failed || !fails(String(args[0]))) return real(...args)
      failed = true
      throw refusal(code)
    }
  }

/** Fails if an object is missing. A commit-graph may name commits that nobody needs any more. */
const assertComplete = (directory: string) => git(directory, "-c", "core.commitGraph=false", "fsck", "--full")

const person = { name: "P", email: "p@example.org", seconds: 1_700_000_000, offset: 0 }

/** Writes a tree and a commit of one blob, one by one, as a client of the host does. */
const commitOf = (repository: GitRepository, oid: Oid, message: string) =>
  Effect.gen(function* () {
    const change = { path: "b", mode: "100644" as const, oid: Option.some(oid) }
    const tree = yield* repository.writeTree(Option.none(), [change])
    return yield* repository.writeCommit({ tree, parents: [], author: person, committer: person, message })
  })

describe("a pack that could not be removed once, and that Git has made again since", () => {
  const failOnce = (repository: GitRepository, pack: string) =>
    withReplaced(
      { unlinkSync: failingOnce((file) => file.endsWith(pack), "EIO") },
      Effect.exit(repository.maintain)
    )

  it.scopedLive("stays, if `git repack` has made it", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* commits(repository, 3)
      git(directory, "repack", "-a", "-d", "-q", "-f")
      const before = yield* headOf(repository)
      const [pack = ""] = packsOf(directory)
      yield* commits(repository, 4, (n) => `again ${n}`)
      yield* failOnce(repository, pack)
      // The four commits are undone.
      yield* repository.updateRef(
        "refs/heads/main",
        Option.some(yield* headOf(repository)),
        Option.some(before)
      )
      git(directory, "repack", "-a", "-d", "-q", "-f")
      assert.deepStrictEqual(packsOf(directory), [pack])
      yield* repository.maintain
      assertComplete(directory)
    })
  )

  it.scopedLive("stays, if a branch was pushed, deleted and pushed again", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      git(directory, "config", "transfer.unpackLimit", "1")
      yield* write(repository, [put("a", "1")])
      const other = yield* engine({ maintenance: false })
      yield* commits(other, 3)
      const before = packsOf(directory)
      const push = () => git(other.directory, "push", "-q", directory, "main:refs/heads/pushed")
      push()
      const pack = packsOf(directory).find((name) => !before.includes(name))!
      yield* commits(repository, 4, (n) => `again ${n}`)
      yield* failOnce(repository, pack)
      git(directory, "update-ref", "-d", "refs/heads/pushed")
      git(directory, "gc", "-q", "--prune=now")
      push()
      assertComplete(directory)
      yield* repository.maintain
      assertComplete(directory)
    })
  )
})

describe("a loose object that is written again while the maintenance packs it", () => {
  it.scopedLive("stays loose", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      const content = Buffer.from("content")
      const oid = yield* repository.writeObject("blob", content)
      const draft = yield* commitOf(repository, oid, "draft")
      yield* repository.updateRef("refs/heads/draft", Option.none(), Option.some(draft))
      const maintained = yield* stoppedMaintenance(repository)
      yield* repository.updateRef("refs/heads/draft", Option.some(draft), Option.none())
      yield* repository.writeObject("blob", content)
      yield* maintained
      const next = yield* commitOf(repository, oid, "again")
      git(directory, "repack", "-a", "-d", "-q")
      yield* Effect.exit(repository.updateRef("refs/heads/main", Option.none(), Option.some(next)))
      assertSound(directory)
    })
  )
})

describe("a combination that was left unfinished, because the disk failed to sync", () => {
  it.scopedLive.skipIf(!fs.existsSync("/proc/self/fd"))("and is damaged since, replaces no pack", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false, durability: "none" })
      const { directory } = repository
      yield* commits(repository, 6, () => randomBytes(2_000))
      const before = packsOf(directory)
      const synced = fs.realpathSync(packsIn(directory))
      const fsync = failingFsync((file) => file === synced)
      assert.isTrue(Exit.isFailure(yield* withReplaced({ fsync }, Effect.exit(repository.maintain))))
      const [combined] = packsOf(directory).filter((name) => !before.includes(name))
      change(`${packsIn(directory)}/${combined}`, (bytes) => bytes.subarray(0, 3_000))
      yield* Effect.exit(repository.maintain)
      fs.rmSync(`${packsIn(directory)}/${combined}`, { force: true })
      fs.rmSync(`${packsIn(directory)}/${combined?.replace(/pack$/, "idx")}`, { force: true })
      assertSound(directory)
    })
  )
})

describe("a multi-pack index that Git writes while the maintenance deletes packs", () => {
  it.scopedLive.skipIf(!hasStrace)("does not make Git delete the new pack", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      const packs = packsIn(directory)
      yield* commits(repository, 6)
      const ahead = new Date(Date.now() + 3_600_000)
      for (const name of packsOf(directory)) fs.utimesSync(`${packs}/${name}`, ahead, ahead)
      const synced = fs.realpathSync(packs)
      let ended: Promise<unknown> | undefined
      const fsync = (real: typeof fs.fsync) => (fd: number, done: (cause: Error | null) => void) => {
        if (ended !== undefined || fs.readlinkSync(`/proc/self/fd/${fd}`) !== synced) return real(fd, done)
        const slow = [
          "-f",
          "-o",
          "/dev/null",
          "-e",
          "trace=rename",
          "-e",
          "inject=rename:delay_enter=2000000"
        ]
        const written = spawn("strace", [...slow, "git", "-C", directory, "multi-pack-index", "write"])
        ended = once(written, "close")
        const proceed = () =>
          fs.existsSync(`${packs}/multi-pack-index.lock`) ? real(fd, done) : setTimeout(proceed, 5)
        proceed()
      }
      yield* withReplaced({ fsync }, repository.maintain)
      yield* Effect.promise(async () => ended)
      git(directory, "multi-pack-index", "expire")
      fs.rmSync(`${packs}/multi-pack-index`, { force: true })
      assertSound(directory)
    })
  )
})

describe("what a maintenance cannot improve begins no maintenance with each write", () => {
  const writeSlowly = (repository: GitRepository) =>
    Effect.forEach(
      [1, 2, 3, 4, 5],
      (n) => Effect.zipRight(write(repository, [put("a", `${n}`)]), Effect.sleep(400)),
      { discard: true }
    )

  it.scopedLive("a pack that is damaged together with its index", () =>
    Effect.gen(function* () {
      const directory = yield* closedWith(1)
      const [damaged = ""] = packsOf(directory)
      const open = Engine.open({ directory, maintenance: false })
      yield* Effect.scoped(Effect.flatMap(open, (opened) => commits(opened, 2, (n) => `again ${n}`)))
      for (const name of [damaged, damaged.replace(/pack$/, "idx")]) {
        const at = (bytes: Buffer) => bytes.length - 30
        change(`${packsIn(directory)}/${name}`, (bytes) =>
          bytes.fill(bytes[at(bytes)]! ^ 0x55, at(bytes), at(bytes) + 1)
        )
      }
      const repository = yield* Engine.open({ directory, maintenance: { quiet: 1 } })
      const { countOf } = yield* countingGit(directory, writeSlowly(repository))
      assert.isAtMost(countOf("index-pack"), 2)
    })
  )

  it.scopedLive("packs that a user keeps", () =>
    Effect.gen(function* () {
      const directory = yield* closedWith(6)
      for (const name of packsOf(directory))
        fs.writeFileSync(`${packsIn(directory)}/${name.replace(/pack$/, "keep")}`, "mine")
      const repository = yield* Engine.open({ directory, maintenance: { quiet: 1, packs: 5 } })
      const { countOf } = yield* countingGit(directory, writeSlowly(repository))
      assert.isAtMost(countOf("commit-graph"), 2)
    })
  )

  it.scopedLive("packs that a user keeps, also if the repository is closed and opened again", () =>
    Effect.gen(function* () {
      const directory = yield* temporary
      const home = `${directory}/me/notes.git`
      yield* Engine.create({ directory: home })
      const open = Engine.open({ directory: home, maintenance: false })
      yield* Effect.scoped(Effect.flatMap(open, (repository) => commits(repository, 8)))
      for (const name of packsOf(home))
        fs.writeFileSync(`${packsIn(home)}/${name.replace(/pack$/, "keep")}`, "mine")
      const maintenance = { quiet: "1 millis", packs: 5 } as const
      const repositories = yield* GitRepositories.make({ directory, idle: "100 millis", maintenance })
      const isClosed = () => fs.readdirSync(`${home}/chainstore`).length === 0
      const rounds = Effect.forEach([1, 2, 3, 4], (n) =>
        Effect.zipRight(
          Effect.scoped(
            Effect.flatMap(repositories.open("me", "notes"), (repository) =>
              // The maintenance has time to begin.
              Effect.zipRight(write(repository, [put("a", `${n}`)]), Effect.sleep(300))
            )
          ),
          Effect.repeat(Effect.sleep(20), { until: isClosed })
        )
      )
      const { countOf } = yield* countingGit(home, rounds)
      assert.strictEqual(countOf("commit-graph"), 1)
    })
  )

  it.scopedLive("loose objects that nobody needs, also in a new process", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const open = Engine.open({ directory, maintenance: { quiet: 1, looseObjects: 500 } })
      const abandon = (repository: GitRepository, from: number, count: number) =>
        Effect.forEach(
          Array.from({ length: count }, (_, n) => n),
          (n) => repository.writeObject("blob", Buffer.from(`abandoned ${from + n}`)),
          { concurrency: 8, discard: true }
        )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const repository = yield* Engine.open({ directory, maintenance: false, durability: "none" })
          yield* write(repository, [put("a", "1")])
          yield* abandon(repository, 0, 1_500)
          yield* repository.maintain
        })
      )
      const searches = (written: number) =>
        Effect.scoped(
          Effect.gen(function* () {
            const repository = yield* open
            const both = Effect.zipRight(abandon(repository, 1_500, written), writeSlowly(repository))
            const { countOf } = yield* countingGit(directory, both)
            return countOf("pack-objects")
          })
        )
      assert.strictEqual(yield* searches(0), 0)
      assert.isAtLeast(yield* searches(600), 1)
    })
  )

  it.scopedLive("loose objects that cannot be packed", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const repository = yield* Engine.open({ directory, maintenance: { quiet: 1, looseObjects: 20 } })
      const lost = yield* repository.writeObject("blob", Buffer.from("lost"))
      const commit = yield* commitOf(repository, lost, "lost")
      yield* repository.updateRef("refs/heads/lost", Option.none(), Option.some(commit))
      fs.rmSync(`${directory}/objects/${lost.slice(0, 2)}/${lost.slice(2)}`)
      for (let n = 0; n < 30; n++) yield* repository.writeObject("blob", Buffer.from(`loose ${n}`))
      const { countOf } = yield* countingGit(directory, writeSlowly(repository))
      assert.isAtMost(countOf("for-each-ref"), 2)
    })
  )
})

describe("loose objects are packed, and removed, in spite of", () => {
  const damages: Readonly<Record<string, (repository: GitRepository) => Effect.Effect<void, unknown, any>>> =
    {
      "an object that is missing": (repository) =>
        Effect.gen(function* () {
          const lost = yield* repository.writeObject("blob", Buffer.from("lost"))
          const commit = yield* commitOf(repository, lost, "lost")
          yield* repository.updateRef("refs/heads/lost", Option.none(), Option.some(commit))
          fs.rmSync(`${repository.directory}/objects/${lost.slice(0, 2)}/${lost.slice(2)}`)
        }),
      "a branch whose commit is missing": ({ directory }) =>
        Effect.sync(() => fs.writeFileSync(`${directory}/refs/heads/broken`, `${"12".repeat(20)}\n`)),
      "a branch whose file is empty, as after a power cut": ({ directory }) =>
        Effect.sync(() => fs.writeFileSync(`${directory}/refs/heads/empty`, "")),
      "a linked work tree whose index is cut short": ({ directory }) =>
        Effect.gen(function* () {
          git(directory, "worktree", "add", "-q", "-b", "work", `${yield* temporary}/tree`, "main")
          fs.truncateSync(`${directory}/worktrees/tree/index`, 20)
        })
    }

  it.scopedLive.each(Object.keys(damages))("%s", (damage) =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      const oids: Array<Oid> = []
      for (let n = 0; n < 30; n++) oids.push(yield* repository.writeObject("blob", Buffer.from(`loose ${n}`)))
      yield* write(
        repository,
        oids.map((oid, n) => ({ _tag: "Link", path: `linked/${n}`, oid }))
      )
      yield* damages[damage]!(repository)
      yield* Effect.exit(repository.maintain)
      assert.isBelow(looseIn(directory), 10)
    })
  )
})

describe.skipIf(!hasStrace)("a maintenance whose pack does not fit on the disk", () => {
  const maintained = Effect.gen(function* () {
    const directory = yield* closedWith(10, () => randomBytes(30_000))
    const full = "strace -f -o /dev/null -e trace=write -e inject=write:error=ENOSPC:when=3"
    const script = `case "$*" in *pack-objects*) exec ${full} $git "$@" ;; esac\nexec $git "$@"`
    const repository = yield* Engine.open({ directory, maintenance: false })
    return yield* countingGit(directory, Effect.flip(repository.maintain), script)
  })

  it.scopedLive("does not read all packs", () =>
    Effect.map(maintained, ({ countOf }) => assert.strictEqual(countOf("verify-pack"), 0))
  )

  it.scopedLive("fails with the reason `Denied`, as a write does", () =>
    Effect.map(maintained, ({ result }) => assert.strictEqual(result.reason, "Denied"))
  )
})

describe.skipIf(!hasStrace)("one file that the disk cannot read", () => {
  it.scopedLive.each(["an index", "a commit-graph"])("%s: the others are maintained", (kind) =>
    Effect.gen(function* () {
      const directory = yield* closedWith(4)
      git(directory, "commit-graph", "write", "--reachable")
      const [pack = ""] = packsOf(directory)
      const file =
        kind === "an index"
          ? `${packsIn(directory)}/${pack.replace(/pack$/, "idx")}`
          : `${directory}/objects/info/commit-graph`
      const program = bundled(new URL("./support/maintainer.ts", import.meta.url))
      const bad = ["-P", file, "-e", "trace=read,pread64", "-e", "inject=read,pread64:error=EIO"]
      const maintain = [process.execPath, program, directory, "none"]
      spawnSync("strace", ["-f", "-o", "/dev/null", ...bad, ...maintain])
      assert.isAtMost(packsOf(directory).length, 2)
    })
  )
})

// docs/host.md: "an iteration of the event loop works for 10 ms".
describe("a slow disk holds up nobody else", () => {
  /** Runs an effect while calls of a function take 4 ms each, and returns the largest number of them in one iteration. */
  const mostInOneTurn = (
    name: "openSync" | "readSync",
    slow: RegExp,
    effect: Effect.Effect<unknown, unknown>
  ) =>
    Effect.gen(function* () {
      let [calls, most] = [0, 0]
      const slowly =
        (real: (...args: ReadonlyArray<unknown>) => unknown) =>
        (...args: ReadonlyArray<unknown>) => {
          const file =
            typeof args[0] === "number" ? fs.readlinkSync(`/proc/self/fd/${args[0]}`) : `${args[0]}`
          if (slow.test(file)) {
            calls++
            const end = performance.now() + 4
            while (performance.now() < end);
          }
          return real(...args)
        }
      const timer = setInterval(() => {
        most = Math.max(most, calls)
        calls = 0
      }, 0)
      yield* Effect.ensuring(
        withReplaced({ [name]: slowly }, effect),
        Effect.sync(() => clearInterval(timer))
      )
      return Math.max(most, calls)
    })

  it.scopedLive("while the health of a repository is examined", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false, durability: "none" })
      yield* commits(repository, 30)
      assert.isBelow(yield* mostInOneTurn("openSync", /\.idx$/, repository.health), 10)
    })
  )

  it.scopedLive.skipIf(!fs.existsSync("/proc/self/fd"))(
    "while the refs of the last search are looked up",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false, durability: "none" })
        const { directory } = repository
        yield* Effect.forEach(
          Array.from({ length: 40 }, (_, n) => n),
          (n) => write(repository, [put("a", `${n}`)], { branch: `b${n}` })
        )
        yield* repository.writeObject("blob", Buffer.from("loose"))
        yield* repository.maintain
        assert.strictEqual(packsOf(directory).length, 1)
        assert.isBelow(yield* mostInOneTurn("readSync", /\.pack$/, repository.maintain), 10)
      })
  )
})

describe("a `.keep` file of a user", () => {
  it.scopedLive("stays, whatever its text", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* commits(repository, 3)
      const [pack = ""] = packsOf(directory)
      const keep = `${packsIn(directory)}/${pack.replace(/pack$/, "keep")}`
      fs.writeFileSync(keep, git(directory, "rev-parse", "main"))
      yield* daysLater(repository.maintain)
      assert.isTrue(fs.existsSync(keep))
    })
  )
})

describe("a multi-pack index that cannot be removed", () => {
  it.scopedLive("does not make the repository grow with each maintenance", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      const bytes = () =>
        packsOf(directory).reduce((sum, name) => sum + fs.statSync(`${packsIn(directory)}/${name}`).size, 0)
      yield* commits(repository, 6, () => randomBytes(20_000))
      git(directory, "multi-pack-index", "write")
      const before = bytes()
      const unlinkSync = (real: (file: string) => void) => (file: string) => {
        if (file.endsWith("multi-pack-index")) throw refusal("EACCES")
        return real(file)
      }
      for (let round = 0; round < 5; round++) {
        yield* withReplaced({ unlinkSync }, Effect.exit(repository.maintain))
        yield* write(repository, [put("a", `${round}`)])
      }
      assert.isBelow(bytes(), 2.5 * before)
    })
  )
})

describe("a commit that is in the commit-graph, was undone, and was deleted by Git", () => {
  it.scopedLive("is no longer reported by `git fsck` after the next maintenance", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* commits(repository, 3)
      const before = yield* headOf(repository)
      yield* commits(repository, 3, (n) => `again ${n}`)
      yield* repository.maintain
      yield* repository.updateRef(
        "refs/heads/main",
        Option.some(yield* headOf(repository)),
        Option.some(before)
      )
      git(directory, "repack", "-a", "-d", "-q")
      yield* repository.maintain
      assertSound(directory)
    })
  )
})

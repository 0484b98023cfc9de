import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Option } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import * as GitObject from "../../../src/git/GitObject.js"
import { bundled } from "../../support/bundled.js"
import { change, commits, looseIn, packsOf } from "./support/packs.js"
import { failingFsync, refusal, withReplaced } from "./support/replacedMethod.js"
import {
  assertSound,
  engine,
  git,
  put,
  readOnly,
  temporariesIn,
  temporary,
  write
} from "./support/temporary.js"

const filesIn = (directory: string, ...endings: ReadonlyArray<string>) =>
  fs
    .readdirSync(`${directory}/objects/pack`)
    .filter((name) => endings.length === 0 || endings.some((ending) => name.endsWith(ending)))
const bytesIn = (directory: string) =>
  filesIn(directory).reduce((sum, name) => sum + fs.statSync(`${directory}/objects/pack/${name}`).size, 0)
const objectsOf = (directory: string) =>
  git(directory, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").trim().split("\n")

const flipped = (bytes: Buffer, at: number) => bytes.fill(bytes[at]! ^ 0x55, at, at + 1)

/** Commits files with existing contents. */
const link = (repository: GitRepository, oids: ReadonlyArray<string>) =>
  write(
    repository,
    oids.map((oid, n) => ({ _tag: "Link", path: `linked/${n}`, oid: oid as Oid }))
  )

/** Fails calls of a function of `node:fs` whose first argument satisfies a predicate, at most `times` times. */
const failing =
  (fails: (path: string) => boolean, code: Parameters<typeof refusal>[0], times = Infinity) =>
  (real: (...args: ReadonlyArray<unknown>) => unknown) =>
  (...args: ReadonlyArray<unknown>) => {
    if (times > 0 && fails(String(args[0]))) {
      times--
      throw refusal(code)
    }
    return real(...args)
  }

/*
 * src/git/disk/maintenance/Maintenance.ts: "Keeps a repository fast: combines packs so that their sizes form a geometric progression",
 * and of a damaged pack: "it is left, and the other packs are maintained nevertheless". One damaged file fails `git pack-objects`
 * instead, every time: each later flush adds a pack, for ever, and beyond 500 packs each of them starts another such attempt.
 */
describe("one damaged file", () => {
  it.scopedLive(
    "a loose object that is cut short, and that nothing needs, stops no combination of packs",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        const { directory } = repository
        const oid = yield* repository.writeObject("blob", randomBytes(3_000))
        change(`${directory}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`, (bytes) => bytes.subarray(0, 1_500))
        yield* commits(repository, 6)
        yield* Effect.exit(repository.maintain)
        assert.isAtMost(packsOf(directory).length, 2)
      })
  )

  it.scopedLive("a pack with one damaged object is left, and the other packs are combined", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* write(repository, [put("damaged", randomBytes(3_000))])
      const [damaged = ""] = packsOf(directory)
      change(`${directory}/objects/pack/${damaged}`, (bytes) => flipped(bytes, 100))
      yield* commits(repository, 6)
      yield* Effect.exit(repository.maintain)
      assert.include(packsOf(directory), damaged)
      assert.isAtMost(packsOf(directory).length, 3)
    })
  )

  it.scopedLive("a pack whose index is damaged, too, is left, and the other packs are combined", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      yield* Effect.scoped(
        Effect.flatMap(Engine.open({ directory, maintenance: false }), (repository) => commits(repository, 6))
      )
      const [damaged = ""] = packsOf(directory)
      for (const name of [damaged, damaged.replace(/pack$/, "idx")]) {
        change(`${directory}/objects/pack/${name}`, (bytes) => flipped(bytes, bytes.length - 30))
      }
      const repository = yield* Engine.open({ directory, maintenance: false })
      yield* Effect.exit(repository.maintain)
      assert.include(packsOf(directory), damaged)
      assert.isAtMost(packsOf(directory).length, 3)
    })
  )

  // src/git/disk/objects/ObjectFiles.ts, `examine`: "Scans the directories of packs, and verifies every index." The indexes that this
  // process wrote or has read once are not read again: their damage stops the maintenance until the process is restarted.
  it.scopedLive("an index that is damaged after this process wrote it is written again", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* commits(repository, 6)
      const [index] = filesIn(directory, ".idx")
      change(`${directory}/objects/pack/${index}`, (bytes) => flipped(bytes, 1_100))
      // What is in memory is read meanwhile.
      const found = yield* repository.health
      assert.include(
        found.map(({ code }) => code),
        "pack-index"
      )
      const head = Option.getOrThrow(yield* repository.resolve("main"))
      for (let n = 0; n < 6; n++) assert.isTrue(Option.isSome(yield* repository.lookup(head, `d${n}`)))
      yield* repository.maintain
      assert.strictEqual(packsOf(directory).length, 1)
      assertSound(directory)
    })
  )

  // The same. The maintenance copies the damaged id to the new pack, whose index has a valid checksum: nothing can repair it any more.
  it.scopedLive("an index whose id is damaged after this process wrote it loses no object", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      const { blobs } = yield* write(repository, [put("a", "content"), put("b", "2")])
      yield* commits(repository, 3)
      const stem = filesIn(directory, ".idx").map((name) => `${directory}/objects/pack/${name}`)
      const id = Buffer.from(blobs.get("a")!, "hex")
      const index = stem.find((file) => fs.readFileSync(file).includes(id))!
      change(index, (bytes) => flipped(bytes, bytes.indexOf(id) + 10))
      yield* Effect.exit(repository.maintain)
      yield* Effect.scoped(
        Effect.flatMap(Engine.open({ directory, maintenance: false }), ({ maintain }) =>
          Effect.exit(maintain)
        )
      )
      assert.strictEqual(git(directory, "show", "main:a"), "content")
    })
  )

  it.scopedLive("an index that cannot be replaced leaves no copies in the lease", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      yield* Effect.scoped(
        Effect.flatMap(Engine.open({ directory, maintenance: false }), (repository) => commits(repository, 3))
      )
      const [index = ""] = filesIn(directory, ".idx")
      change(`${directory}/objects/pack/${index}`, (bytes) => flipped(bytes, 1_100))
      const repository = yield* Engine.open({ directory, maintenance: false })
      const before = temporariesIn(directory)
      const renameSync = failing((file) => /\/index-\w+$/.test(file), "EACCES")
      yield* withReplaced({ renameSync }, Effect.repeatN(Effect.exit(repository.maintain), 2))
      assert.deepStrictEqual(temporariesIn(directory), before)
    })
  )
})

/*
 * The maintenance never leaves files that grow for ever. Its loops over packs and loose objects end at the first file that cannot be
 * removed (immutable, in a directory of another user after a `git gc` by root, open on Windows).
 */
describe("one file that cannot be removed", () => {
  it.scopedLive("a pack: the repository does not grow with each maintenance", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* commits(repository, 6, () => randomBytes(20_000))
      const before = bytesIn(directory)
      const kept = packsOf(directory)[0]!.replace(/pack$/, "")
      const unlinkSync = failing((file) => file.includes(kept), "EACCES")
      for (let round = 0; round < 5; round++) {
        yield* withReplaced({ unlinkSync }, Effect.exit(repository.maintain))
        yield* write(repository, [put("a", `${round}`)])
      }
      // Two complete copies are enough: the pack that stays, and the newest one.
      assert.isBelow(bytesIn(directory), 2.5 * before)
      assertSound(directory)
    })
  )

  // `repack` leaves the new pack where anything after its placement fails, such as the sync of a directory on a file system that does
  // not support it (EINVAL; with `durability: "none"` all writes succeed there).
  it.scopedLive.skipIf(!fs.existsSync("/proc/self/fd"))(
    "the directory of packs cannot be synced: the repository does not grow with each maintenance",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false, durability: "none" })
        const { directory } = repository
        yield* commits(repository, 6, () => randomBytes(20_000))
        const before = bytesIn(directory)
        const packs = `${fs.realpathSync(directory)}/objects/pack`
        const fsync = failingFsync((file) => file === packs)
        for (let round = 0; round < 5; round++) {
          yield* withReplaced({ fsync }, Effect.exit(repository.maintain))
          yield* write(repository, [put("a", `${round}`)])
        }
        assert.isBelow(bytesIn(directory), 2.5 * before)
      })
  )

  it.scopedLive("a loose object: the others are removed", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      const oids: Array<string> = []
      for (let n = 0; n < 50; n++) oids.push(yield* repository.writeObject("blob", Buffer.from(`loose ${n}`)))
      yield* link(repository, oids)
      const kept = oids.sort()[0]!.slice(2)
      const unlinkSync = failing((file) => file.endsWith(kept), "EACCES")
      yield* withReplaced({ unlinkSync }, Effect.exit(repository.maintain))
      assert.strictEqual(looseIn(directory), 1)
    })
  )

  it.scopedLive(
    "the remains of a push that are older than a day: packs are combined nevertheless",
    (context) =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        const { directory } = repository
        yield* commits(repository, 6)
        const remains = `${directory}/objects/tmp_objdir-incoming-Xy12Zz`
        fs.mkdirSync(remains)
        fs.writeFileSync(`${remains}/file`, "")
        if (!(yield* readOnly(remains))) context.skip()
        const now = Date.now
        yield* Effect.acquireUseRelease(
          Effect.sync(() => {
            Date.now = () => now() + 2 * 86_400_000
          }),
          () => Effect.exit(repository.maintain),
          () =>
            Effect.sync(() => {
              Date.now = now
            })
        )
        assert.strictEqual(packsOf(directory).length, 1)
      })
  )
})

/** The files of packs that no later maintenance removes: a file without its pack or without its index, and `.keep` files. */
const remainsIn = (directory: string) => {
  const names = filesIn(directory)
  return names.filter((name) => {
    const [stem, ending] = name.split(".")
    return ending === "keep" || !names.includes(`${stem}.pack`) || !names.includes(`${stem}.idx`)
  })
}

/*
 * docs/local.md: "If a child or its engine was killed, the locks, incomplete packs and quarantine directories that appeared since then
 * are removed", and "Incomplete files of unknown origin are removed by the maintenance when they are a day old". A `.pack` file
 * without its index is an incomplete pack. Neither the engine nor Git ever removes it, and it is as large as all objects in it.
 */
describe("a process that is killed", () => {
  it.scopedLive.each([
    ["between the names of a new pack and of its index", String.raw`^renameSync \S*\.idx `],
    ["between the removal of the index of an old pack and of the pack", String.raw`^unlinkSync \S*\.pack$`]
  ] as const)("%s leaves no incomplete pack for ever", ([, pattern]) =>
    Effect.gen(function* () {
      const directory = `${yield* temporary}/killed.git`
      const open = Engine.open({ directory, create: true, maintenance: false })
      yield* Effect.scoped(Effect.flatMap(open, (repository) => commits(repository, 4)))
      const before = objectsOf(directory)
      const program = bundled(new URL("./support/maintainer.ts", import.meta.url))
      const { signal } = spawnSync(process.execPath, [program, directory, pattern])
      assert.strictEqual(signal, "SIGKILL")
      assertSound(directory)
      const repository = yield* open
      yield* write(repository, [put("after", "1")])
      const now = Date.now
      for (const days of [0, 2]) {
        Date.now = () => now() + days * 86_400_000
        yield* Effect.ensuring(
          repository.maintain,
          Effect.sync(() => {
            Date.now = now
          })
        )
      }
      assert.includeMembers(objectsOf(directory), before)
      assert.deepStrictEqual(remainsIn(directory), [])
      assertSound(directory)
    })
  )
})

describe("one call that fails", () => {
  // As above: the index was removed, the pack was not. Nothing tries it again.
  it.scopedLive("the removal of an old pack leaves no incomplete pack for ever", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      yield* commits(repository, 4)
      const unlinkSync = failing((file) => file.endsWith(".pack"), "EIO", 1)
      yield* withReplaced({ unlinkSync }, Effect.exit(repository.maintain))
      yield* repository.maintain
      assert.deepStrictEqual(remainsIn(directory), [])
    })
  )

  // src/git/disk/packs/PackWriter.ts: a pack "is protected from garbage collection until `unprotect`". If the removal of the `.keep`
  // file fails, the file in the lease that identifies its owner is removed nevertheless. So neither a maintenance, the next process
  // nor `git gc` ever touches that pack again, and nobody is told.
  it.scopedLive.each(["a maintenance", "a commit"])(
    "the removal of the `.keep` file of %s is repeated",
    (which) =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        const { directory } = repository
        yield* commits(repository, 4)
        const unlinkSync = failing((file) => file.endsWith(".keep"), "EIO", 1)
        const next = Effect.asVoid(write(repository, [put("a", "1")]))
        yield* withReplaced(
          { unlinkSync },
          Effect.exit(which === "a commit" ? next : Effect.asVoid(repository.maintain))
        )
        yield* next
        yield* repository.maintain
        assert.deepStrictEqual(remainsIn(directory), [])
      })
  )

  // The lock belongs to a living lease, so no process removes it: `maintain` succeeds from then on in all processes, and does nothing.
  it.scopedLive(
    "the removal of the maintenance's lock fails with an error, and the next maintenance works",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        const { directory } = repository
        yield* commits(repository, 4)
        const rmSync = failing((file) => file.endsWith("maintenance.lock"), "EIO", 1)
        const unlinkSync = failing((file) => file.endsWith("maintenance.lock"), "EIO", 1)
        const exit = yield* withReplaced({ rmSync, unlinkSync }, Effect.exit(repository.maintain))
        yield* commits(repository, 4)
        yield* repository.maintain
        assert.isAtMost(packsOf(directory).length, 2)
        assert.isFalse(Exit.isFailure(exit) && Cause.isDie(exit.cause), "a defect is not logged")
      })
  )

  // CONVENTIONS.md: "Expected failures are typed, bugs are defects." Some directories are read outside `attempt` (`isPartial`, and the
  // release of `repack`), and the background maintenance logs no defects: it ends without a word.
  it.scopedLive("the reading of any directory fails with a RemoteError", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      const defects: Array<string> = []
      for (let nth = 0, failed = true; failed; nth++) {
        yield* commits(repository, 2)
        let calls = 0
        const readdirSync = failing(
          // Directories of which there are more after each turn.
          (file) => file.startsWith(directory) && !/objects\/\w\w$|\/repack-/.test(file) && calls++ === nth,
          "EMFILE"
        )
        const exit = yield* withReplaced({ readdirSync }, Effect.exit(repository.maintain))
        if (Exit.isFailure(exit) && Cause.isDie(exit.cause)) defects.push(Cause.pretty(exit.cause))
        failed = calls > nth
        yield* repository.maintain
      }
      assert.deepStrictEqual(defects, [])
    })
  )
})

describe("settings of the repository", () => {
  // `combinable` compares the packs, which the setting makes equally large. So each maintenance writes the whole repository again, and
  // above 50 packs each quiet second after a write begins one.
  it.scopedLive(
    "with `pack.packSizeLimit`, packs that were written by a maintenance are not written again",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        const { directory } = repository
        git(directory, "config", "pack.packSizeLimit", "1m")
        yield* commits(repository, 6, () => randomBytes(600_000))
        yield* repository.maintain
        const before = packsOf(directory)
        yield* repository.maintain
        assert.deepStrictEqual(packsOf(directory), before)
      })
  )

  // src/git/disk/maintenance/Repack.ts: the old packs are "deleted after the new pack is durable". The setting is copied to the
  // configuration of the Git child, which then asks for no flush of the disk.
  it.scopedLive.skipIf(spawnSync("strace", ["true"]).status !== 0)(
    "with `core.fsyncMethod=writeout-only`, a new pack is synced before the old ones are deleted",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        const { directory } = repository
        git(directory, "config", "core.fsyncMethod", "writeout-only")
        yield* commits(repository, 4)
        const program = bundled(new URL("./support/maintainer.ts", import.meta.url))
        const trace = `${yield* temporary}/trace`
        const strace = ["-f", "-y", "-e", "trace=fsync,fdatasync", "-o", trace]
        assert.strictEqual(
          spawnSync("strace", [...strace, process.execPath, program, directory, "none"]).status,
          0
        )
        assert.strictEqual(packsOf(directory).length, 1)
        assert.match(fs.readFileSync(trace, "utf8"), /sync\(\d+<[^>]*(?:tmp_pack|repack|pack-)[^>]*>\)/)
      })
  )
})

describe("closing the repository during a maintenance", () => {
  // test/git/disk/Faults.test.ts: "closing the repository flushes, and leaves no temporary files". The files of a child that was stopped
  // must be 300 ms old, so the closing lease leaves them to the next engine, which may never come: a part of a pack, or the
  // `commit-graph-chain.lock` that makes each `git gc` fail.
  it.scopedLive("leaves no temporary files of Git", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const isWriting = () => filesIn(directory).some((name) => name.startsWith("tmp_pack"))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const repository = yield* Engine.open({ directory, maintenance: false })
          // Git may be done before it was seen writing.
          const beginUntilWriting = Effect.gen(function* () {
            yield* commits(repository, 6, () => randomBytes(1_500_000))
            const maintained = yield* Effect.forkScoped(repository.maintain)
            const isOver = () => isWriting() || Option.isSome(Effect.runSync(Fiber.poll(maintained)))
            yield* Effect.repeat(Effect.sleep(1), { until: isOver })
            return isWriting()
          })
          yield* Effect.repeat(beginUntilWriting, { until: (seen) => seen })
        })
      )
      assert.isFalse(isWriting())
      assertSound(directory)
    })
  )
})

describe("repositories of other kinds", () => {
  it.scopedLive("cruft packs and `.keep` files of users stay, and nothing of linked work trees is lost", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      const tree = `${yield* temporary}/tree`
      yield* commits(repository, 3)
      yield* write(repository, [put("gone", "1")], { branch: "gone" })
      git(directory, "update-ref", "-d", "refs/heads/gone")
      git(directory, "repack", "-q", "-d", "--cruft")
      const [cruft = ""] = filesIn(directory, ".mtimes")
      yield* commits(repository, 3, (n) => `again ${n}`)
      const kept = packsOf(directory).find((name) => !name.startsWith(cruft.slice(0, 10)))!
      fs.writeFileSync(`${directory}/objects/pack/${kept.replace(/pack$/, "keep")}`, "")
      git(directory, "worktree", "add", "-q", "--detach", tree, "main")
      git(tree, "commit", "-q", "--allow-empty", "-m", "detached")
      fs.writeFileSync(`${tree}/staged`, "staged")
      git(tree, "add", "staged")
      const before = objectsOf(directory)
      yield* repository.maintain
      assert.includeMembers(filesIn(directory), [kept, cruft, cruft.replace(/mtimes$/, "pack")])
      assert.includeMembers(objectsOf(directory), before)
      assert.strictEqual(packsOf(directory).length, 4)
      assert.strictEqual(looseIn(directory), 0)
      assert.strictEqual(git(tree, "status", "--short").trim(), "A  staged")
      assertSound(directory)
    })
  )

  it.scopedLive("a shallow clone is maintained, also after its history has become longer", () =>
    Effect.gen(function* () {
      const lender = yield* engine({ maintenance: false })
      yield* commits(lender, 6)
      const directory = `${yield* temporary}/shallow.git`
      git("/", "clone", "-q", "--bare", "--depth=2", `file://${lender.directory}`, directory)
      const repository = yield* Engine.open({ directory, maintenance: false })
      for (const depth of [2, 4]) {
        git(
          directory,
          "fetch",
          "-q",
          `--depth=${depth}`,
          `file://${lender.directory}`,
          "main:refs/heads/theirs"
        )
        for (let n = 0; n < 3; n++) yield* write(repository, [put(`own${n}`, `${depth}`)], { branch: "own" })
        const before = objectsOf(directory)
        yield* repository.maintain
        assert.includeMembers(objectsOf(directory), before)
        assert.isAtMost(packsOf(directory).length, 2)
        assertSound(directory)
      }
    })
  )
})

/** Writes blobs whose ids have the same first byte, so that their files are in one directory. */
const writeNeighbours = (repository: GitRepository, count: number) =>
  Effect.gen(function* () {
    const oids: Array<string> = []
    for (let n = 0; oids.length < count; n++) {
      const content = Buffer.from(`neighbour ${n}`)
      if (!GitObject.hash("blob", content).startsWith("00")) continue
      oids.push(yield* repository.writeObject("blob", content))
    }
    yield* link(repository, oids)
  })

// docs/host.md: "an iteration of the event loop works for 10 ms". The packs are removed in one iteration, whatever their number (7
// seconds for 3,000 packs on a busy machine), and so are the loose objects of one directory.
describe("a slow disk holds up nobody else while a maintenance removes", () => {
  it.scopedLive.each([
    ["packs", /\.pack$/, (repository: GitRepository) => Effect.asVoid(commits(repository, 30))],
    ["loose objects", /objects\/00\//, (repository: GitRepository) => writeNeighbours(repository, 30)]
  ] as const)("%s", ([, removed, prepare]) =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false, durability: "none" })
      yield* prepare(repository)
      const inTurn: Array<number> = []
      let turn = 0
      const slowly = (real: (file: string) => void) => (file: string) => {
        if (removed.test(file)) {
          inTurn[turn] = (inTurn[turn] ?? 0) + 1
          const end = performance.now() + 4
          while (performance.now() < end);
        }
        return real(file)
      }
      const timer = setInterval(() => turn++, 0)
      yield* Effect.ensuring(
        withReplaced({ unlinkSync: slowly }, repository.maintain),
        Effect.sync(() => clearInterval(timer))
      )
      const counts = Object.values(inTurn)
      assert.strictEqual(
        counts.reduce((sum, count) => sum + count, 0),
        30
      )
      assert.isBelow(Math.max(...counts), 10)
    })
  )
})

// Likely after a power failure without `core.fsync`: loose objects that Git cannot read. It packs the others by halves, and leaves the pack
// of each half that it could not finish. Bad: each maintenance fills the disk further, for a day.
it.scopedLive("packs that Git could not finish because of a damaged object are removed", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false })
    const { directory } = repository
    const inputOf = (input: string, ...args: ReadonlyArray<string>) =>
      spawnSync("git", ["-C", directory, ...args], { input, encoding: "utf8" }).stdout.trim()
    for (let n = 0; n < 8; n++) {
      const blob = inputOf(`content ${n}`, "hash-object", "-w", "--stdin")
      const tree = inputOf(`100644 blob ${blob}\ta\n`, "mktree")
      const author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
      const commit = inputOf("", ...author, "commit-tree", "-m", "x", tree)
      git(directory, "update-ref", `refs/heads/b${n}`, commit)
      if (n !== 5) continue
      const file = `${directory}/objects/${blob.slice(0, 2)}/${blob.slice(2)}`
      fs.chmodSync(file, 0o644)
      fs.truncateSync(file, 12)
    }
    yield* repository.maintain
    assert.isAbove(filesIn(directory, ".pack").length, 1)
    const unfinished = () => filesIn(directory).filter((name) => name.startsWith("tmp_"))
    yield* Effect.repeat(Effect.sleep(100), { until: () => unfinished().length === 0, times: 100 })
    assert.deepStrictEqual(unfinished(), [])
  })
)

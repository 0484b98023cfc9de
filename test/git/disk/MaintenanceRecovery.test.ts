import { spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option, Stream, TestContext } from "effect"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import { LruCache } from "../../../src/domain/runtime/LruCache.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import { PackSet } from "../../../src/git/disk/packs/PackSet.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { countingGit, withScript } from "./support/gitOnPath.js"
import { change, looseIn, numbers, packsIn, stemsOf } from "./support/packs.js"
import { failingFsync, refusal, withReplaced } from "./support/replacedMethod.js"
import { assertSound, engine, git, put, temporary, write } from "./support/temporary.js"

const hasStrace = spawnSync("strace", ["true"]).status === 0

const random = (length: number) => randomBytes(length / 2).toString("hex")

/** A closed repository with one pack of these files, and the ids of those. */
const packed = (contents: ReadonlyArray<string | Uint8Array>) =>
  Effect.gen(function* () {
    const { directory } = yield* engine({ maintenance: false })
    const oids = yield* Effect.scoped(
      Effect.gen(function* () {
        const repository = yield* Engine.open({ directory, maintenance: false })
        const { blobs } = yield* write(
          repository,
          contents.map((content, n) => put(`${n}`, content))
        )
        return contents.map((_, n) => blobs.get(`${n}`)!)
      })
    )
    git(directory, "repack", "-a", "-d", "-q")
    const [stem = ""] = stemsOf(directory)
    return { directory, oids, stem }
  })

/** Packs the same objects with the last ones reversed, as JGit may do, and replaces the pack and its index under the same names. */
const replacePack = (directory: string, stem: string, reversed: number) =>
  Effect.gen(function* () {
    const work = yield* temporary
    const listed = spawnSync("git", ["show-index"], {
      input: fs.readFileSync(`${stem}.idx`),
      encoding: "utf8"
    })
    const byOffset = listed.stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .sort((a, b) => Number(a[0]) - Number(b[0]))
    const last = byOffset.splice(-reversed).reverse()
    const input = [...byOffset, ...last].map(([, oid]) => `${oid}\n`).join("")
    const args = ["-C", directory, "pack-objects", "-q", "--window=0", `${work}/new`]
    const name = spawnSync("git", args, { input, encoding: "utf8" }).stdout.trim()
    for (const ending of ["pack", "idx"]) fs.renameSync(`${work}/new-${name}.${ending}`, `${stem}.${ending}`)
    assertSound(directory)
  })

const contentOf = (repository: GitRepository, oid: Oid) =>
  Effect.map(repository.object(oid), (object) => Buffer.from(Option.getOrThrow(object).content))

describe("a large object of a pack that was replaced, with its index, by one of the same name", () => {
  it.scopedLive("is streamed as it is", () =>
    Effect.gen(function* () {
      const contents = [randomBytes(400_000), randomBytes(400_000)]
      const { directory, oids, stem } = yield* packed(contents)
      const repository = yield* Engine.open({ directory, maintenance: false })
      for (const [n, oid] of oids.entries())
        assert.isTrue((yield* contentOf(repository, oid)).equals(contents[n]!))
      yield* replacePack(directory, stem, 2)
      const results: Array<string> = []
      for (const [n, oid] of oids.entries()) {
        const exit = yield* Effect.exit(
          Effect.gen(function* () {
            const opened = Option.getOrThrow(yield* repository.openObject(oid))
            return Buffer.concat([...(yield* Stream.runCollect(opened.pieces))])
          })
        )
        results.push(
          Exit.isFailure(exit) ? "unreadable" : exit.value.equals(contents[n]!) ? "right" : "wrong"
        )
      }
      assert.deepStrictEqual(results, ["right", "right"])
    })
  )
})

describe("a pack with an index that is read in parts, replaced by one of the same name", () => {
  it.scopedLive("is read as it is", () =>
    Effect.gen(function* () {
      const contents = numbers(2_000).map(() => randomBytes(100))
      const { directory, oids, stem } = yield* packed(contents)
      const repository = yield* Engine.open({ directory, maintenance: false, caches: { packIndex: 1 } })
      assert.isTrue((yield* contentOf(repository, oids[0]!)).equals(contents[0]!))
      yield* replacePack(directory, stem, contents.length)
      const count = { right: 0, wrong: 0, unreadable: 0 }
      for (const [n, oid] of oids.entries()) {
        const exit = yield* Effect.exit(contentOf(repository, oid))
        count[Exit.isFailure(exit) ? "unreadable" : exit.value.equals(contents[n]!) ? "right" : "wrong"]++
      }
      assert.deepStrictEqual(count, { right: contents.length, wrong: 0, unreadable: 0 })
    })
  )
})

describe("the intact objects of a pack stay readable", () => {
  it.scopedLive.each<[string, (bytes: Buffer) => Uint8Array]>([
    ["if its trailing checksum is damaged", (bytes) => bytes.fill(0x55, bytes.length - 1)],
    ["if its end is cut off", (bytes) => bytes.subarray(0, bytes.length - 1)]
  ])("%s", ([, damage]) =>
    Effect.gen(function* () {
      const contents = numbers(20).map(() => random(200))
      const { directory, oids, stem } = yield* packed(contents)
      change(`${stem}.pack`, damage)
      const repository = yield* Engine.open({ directory, maintenance: false })
      let unreadable = 0
      for (const oid of oids) if (Exit.isFailure(yield* Effect.exit(repository.object(oid)))) unreadable++
      assert.strictEqual(unreadable, 0)
    })
  )
})

describe("an index that the disk could not read once", () => {
  it.scopedLive("is used again", () =>
    Effect.gen(function* () {
      const { directory, oids } = yield* packed(numbers(20).map(() => random(200)))
      const repository = yield* Engine.open({ directory, maintenance: false, caches: { packIndex: 1 } })
      let failed = false
      const readSync =
        (real: typeof fs.readSync) =>
        (fd: number, ...rest: ReadonlyArray<any>) => {
          if (failed || !fs.readlinkSync(`/proc/self/fd/${fd}`).endsWith(".idx"))
            return (real as any)(fd, ...rest)
          failed = true
          throw refusal("EIO")
        }
      yield* withReplaced({ readSync: readSync as any }, Effect.exit(repository.object(oids[0]!)))
      assert.isTrue(failed)
      for (const oid of oids) yield* Effect.exit(repository.object(oid))
      assert.deepStrictEqual(yield* repository.health, [])
    })
  )
})

describe("a disk that fails to sync", () => {
  it.scopedLive.skipIf(!fs.existsSync("/proc/self/fd"))("is not reported as a damaged object", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const error = yield* withReplaced(
        { fsync: failingFsync(() => true) },
        Effect.flip(repository.writeObject("blob", Buffer.from("content")))
      )
      assert.notStrictEqual(error.reason, "Corrupt")
    })
  )
})

describe("what a maintenance could not do, because it failed once, is done after a later write", () => {
  const afterOneFailure = (
    directory: string,
    command: string,
    options: { readonly packs: number; readonly quiet: number },
    isDone: () => boolean
  ) =>
    withScript(
      directory,
      `case "$*" in *" ${command} "*) if mkdir $here/failed 2>/dev/null; then touch ${directory}/failed; echo failed >&2; exit 1; fi ;; esac
exec $git "$@"`,
      Effect.gen(function* () {
        const repository = yield* Engine.open({ directory, maintenance: options })
        const writeAgain = (n: number) =>
          Effect.zipRight(write(repository, [put("again", `${n}`)]), Effect.sleep(400))
        for (let n = 0; n < 10 && !fs.existsSync(`${directory}/failed`); n++) yield* writeAgain(n)
        assert.isTrue(fs.existsSync(`${directory}/failed`))
        yield* Effect.sleep(1_000)
        for (let n = 10; n < 40 && !isDone(); n++) yield* writeAgain(n)
        assert.isTrue(isDone())
      })
    )

  it.scopedLive("the combination of packs", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const open = Engine.open({ directory, maintenance: false })
      yield* Effect.scoped(
        Effect.flatMap(open, (opened) =>
          Effect.forEach(numbers(40), (n) => write(opened, [put("a", `${n}`)]), { discard: true })
        )
      )
      const isDone = () => stemsOf(directory).length < 20
      yield* afterOneFailure(directory, "pack-objects", { packs: 40, quiet: 1 }, isDone)
    })
  )

  it.scopedLive("the repair of an index", () =>
    Effect.gen(function* () {
      const { directory, stem } = yield* packed([random(100), random(100)])
      change(`${stem}.idx`, (bytes) => bytes.fill(0x55, bytes.length - 10))
      const isDone = () => spawnSync("git", ["-C", directory, "fsck", "--full"]).status === 0
      assert.isFalse(isDone())
      yield* afterOneFailure(directory, "index-pack", { packs: 40, quiet: 1 }, isDone)
    })
  )
})

describe("new loose objects, after those that no ref reached were pruned", () => {
  it.scopedLive("begin a maintenance in a process that opens the repository", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const writing = (name: string, count: number, link: boolean) =>
        Effect.scoped(
          Effect.gen(function* () {
            const repository = yield* Engine.open({ directory, maintenance: false, durability: "none" })
            const oids = yield* Effect.forEach(
              numbers(count),
              (n) => repository.writeObject("blob", Buffer.from(`${name} ${n}`)),
              { concurrency: 8 }
            )
            if (link)
              yield* write(
                repository,
                oids.map((oid, n) => ({ _tag: "Link", path: `${name}/${n % 50}/${n}`, oid }))
              )
            else yield* write(repository, [put("a", "1")])
          })
        )
      yield* writing("abandoned", 4_000, false)
      yield* Effect.scoped(
        Effect.flatMap(Engine.open({ directory, maintenance: false }), ({ maintain }) => maintain)
      )
      git(directory, "prune", "--expire=now")
      assert.strictEqual(looseIn(directory), 0)
      yield* writing("needed", 2_500, true)
      const opened = yield* Engine.open({ directory, maintenance: { quiet: 1, looseObjects: 500 } })
      for (let n = 0; n < 40 && looseIn(directory) > 100; n++)
        yield* Effect.zipRight(write(opened, [put("b", `${n}`)]), Effect.sleep(400))
      assert.isBelow(looseIn(directory), 100)
    })
  )
})

describe("a maintenance that cannot write its hint about loose objects", () => {
  it.scopedLive("succeeds", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      yield* write(repository, [put("a", "1")])
      const renameSync = (real: typeof fs.renameSync) => (from: string, to: string) => {
        if (to.endsWith("loose-objects-left")) throw refusal("EIO")
        return real(from, to)
      }
      yield* withReplaced({ renameSync }, repository.maintain)
    })
  )
})

describe("a partial clone with a damaged linked work tree", () => {
  it.scopedLive("has its loose objects packed", () =>
    Effect.gen(function* () {
      const { directory: server } = yield* packed(numbers(10).map(() => random(200)))
      git(server, "config", "uploadpack.allowFilter", "true")
      git(server, "config", "uploadpack.allowAnySHA1InWant", "true")
      const directory = `${yield* temporary}/partial.git`
      git(server, "clone", "-q", "--bare", "--filter=blob:none", `file://${server}`, directory)
      const repository = yield* Engine.open({ directory, maintenance: false })
      const oids = yield* Effect.forEach(numbers(30), (n) =>
        repository.writeObject("blob", Buffer.from(`loose ${n}`))
      )
      yield* write(
        repository,
        oids.map((oid, n) => ({ _tag: "Link", path: `linked/${n}`, oid }))
      )
      git(
        directory,
        "worktree",
        "add",
        "-q",
        "--no-checkout",
        "-b",
        "work",
        `${yield* temporary}/tree`,
        "main"
      )
      fs.writeFileSync(`${directory}/worktrees/tree/index`, "damaged")
      yield* Effect.exit(repository.maintain)
      assert.isBelow(looseIn(directory), 10)
    })
  )
})

describe("loose objects are packed in spite of", () => {
  it.scopedLive("a damaged loose blob of another branch", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      const linked = (branch: string, count: number) =>
        Effect.gen(function* () {
          const oids = yield* Effect.forEach(numbers(count), (n) =>
            repository.writeObject("blob", Buffer.from(`${branch} ${n} ${random(2_000)}`))
          )
          const links = oids.map((oid, n) => ({ _tag: "Link" as const, path: `${n}`, oid }))
          yield* write(repository, links, { branch })
          return oids
        })
      yield* linked("main", 30)
      const [damaged = ""] = yield* linked("other", 1)
      change(`${directory}/objects/${damaged.slice(0, 2)}/${damaged.slice(2)}`, (bytes) =>
        bytes.fill(0x55, 1_000)
      )
      yield* Effect.exit(repository.maintain)
      assert.isBelow(looseIn(directory), 10)
    })
  )
})

describe("a maintenance beside a `multi-pack-index.lock` that a killed Git left", () => {
  it.scopedLive(
    "ends, also in a program with a test clock",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        const late = Effect.promise(
          () => new Promise<string>((resolve) => setTimeout(resolve, 15_000, "never"))
        )
        const maintained = repository.maintain.pipe(
          Effect.as("ended"),
          Effect.raceFirst(late),
          Effect.provide(TestContext.TestContext)
        )
        for (const n of [1, 2, 3, 4]) yield* write(repository, [put("a", `${n}`)])
        assert.strictEqual(yield* maintained, "ended")
        fs.writeFileSync(`${packsIn(repository.directory)}/multi-pack-index.lock`, "")
        for (const n of [1, 2, 3, 4]) yield* write(repository, [put("b", `${n}`)])
        assert.strictEqual(yield* maintained, "ended")
      }),
    60_000
  )
})

describe("a combined pack, of which one old pack is dated years ahead", () => {
  it.scopedLive("is not dated years ahead itself", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      for (const n of [1, 2, 3, 4]) yield* write(repository, [put("a", `${n}`)])
      const ahead = new Date(Date.now() + 10 * 365 * 86_400_000)
      fs.utimesSync(`${stemsOf(directory)[0]}.pack`, ahead, ahead)
      yield* repository.maintain
      const times = stemsOf(directory).map((stem) => fs.statSync(`${stem}.pack`).mtimeMs)
      assert.isBelow(Math.max(...times), Date.now() + 86_400_000)
    })
  )
})

describe("a pack that is read again while the indexes are verified", () => {
  it.scopedLive("is forgotten when it is removed", () =>
    Effect.gen(function* () {
      const { directory, oids, stem } = yield* packed(numbers(1_100).map((n) => `${n}`))
      const set = new PackSet(directory, new LruCache(1_000_000), 1 << 30)
      set.rescan([])
      const [pack] = [...set.holding(oids[0]!)][0]!
      const steps = set.verifyFiles()
      steps.next()
      git(directory, "index-pack", "--index-version=1", "-o", `${directory}/new`, `${stem}.pack`)
      fs.renameSync(`${directory}/new`, `${stem}.idx`)
      set.suspect(pack)
      set.rescan([])
      Steps.runSync(steps)
      assert.isTrue(set.contains(oids[0]!))
      for (const ending of ["idx", "pack"]) fs.rmSync(`${stem}.${ending}`)
      set.rescan([])
      assert.isFalse(set.contains(oids[0]!))
      set.close()
    })
  )
})

describe.skipIf(!hasStrace)(
  "a multi-pack index for which Git has read the old packs, but not yet taken the lock",
  () => {
    /** Maintains a repository while Git writes a multi-pack index that prefers a pack. */
    const maintainedBeside = (repository: GitRepository, preferred: string) =>
      Effect.gen(function* () {
        const { directory } = repository
        const synced = fs.realpathSync(packsIn(directory))
        let ended: Promise<unknown> | undefined
        const fsync = (real: typeof fs.fsync) => (fd: number, done: (cause: Error | null) => void) => {
          if (ended !== undefined || fs.readlinkSync(`/proc/self/fd/${fd}`) !== synced) return real(fd, done)
          const lock = `${fs.realpathSync(directory)}/./objects/pack/multi-pack-index.lock`
          const slow = ["-f", "-o", "/dev/null", "-P", lock, "-e", "trace=openat"]
          const command = ["git", "-C", directory, "multi-pack-index", "write"]
          const option = `--preferred-pack=${preferred.replace(/.*\//, "")}.pack`
          const inject = ["-e", "inject=openat:delay_enter=4000000"]
          ended = once(spawn("strace", [...slow, ...inject, ...command, option]), "close")
          setTimeout(() => real(fd, done), 1_000)
        }
        yield* withReplaced({ fsync }, repository.maintain)
        yield* Effect.promise(async () => ended)
      })

    it.scopedLive("does not hide objects from Git", () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        const { directory } = repository
        for (const n of numbers(6)) yield* write(repository, [put("a", `${n}`)])
        yield* maintainedBeside(repository, stemsOf(directory)[0]!)
        assertSound(directory)
      })
    )

    it.scopedLive("does not make Git delete the new pack", () =>
      Effect.gen(function* () {
        const { directory, oids, stem } = yield* packed(numbers(100).map(() => random(200)))
        const input = oids.slice(0, 60).join("\n")
        spawnSync("git", ["-C", directory, "pack-objects", "-q", "objects/pack/pack"], { input })
        assert.strictEqual(stemsOf(directory).length, 2)
        const repository = yield* Engine.open({ directory, maintenance: false })
        yield* maintainedBeside(repository, stem)
        git(directory, "multi-pack-index", "expire")
        fs.rmSync(`${packsIn(directory)}/multi-pack-index`, { force: true })
        assertSound(directory)
      })
    )
  }
)

describe("packs that are written while a maintenance runs", () => {
  it.scopedLive("begin another one with a later write", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const script = `case "$*" in *" pack-objects "*) if mkdir $here/slow 2>/dev/null; then
touch ${directory}/begun; until [ -e ${directory}/go ]; do sleep 0.02; done; fi ;; esac
exec $git "$@"`
      yield* withScript(
        directory,
        script,
        Effect.gen(function* () {
          const maintenance = { packs: 50, quiet: 1 }
          const repository = yield* Engine.open({ directory, maintenance, durability: "none" })
          const writes = (count: number) =>
            Effect.forEach(numbers(count), (n) => write(repository, [put("a", `${n}`)]), { discard: true })
          yield* writes(50)
          yield* Effect.repeat(Effect.sleep(5), { until: () => fs.existsSync(`${directory}/begun`) })
          yield* writes(300)
          fs.writeFileSync(`${directory}/go`, "")
          yield* Effect.sleep(3_000)
          for (let n = 0; n < 10 && stemsOf(directory).length > 100; n++)
            yield* Effect.zipRight(writes(1), Effect.sleep(500))
          assert.isAtMost(stemsOf(directory).length, 100)
        })
      )
    })
  )
})

describe("a pack that cannot be deleted", () => {
  it.scopedLive("is not combined again with each maintenance", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const repository = yield* Engine.open({ directory, maintenance: false })
      yield* write(
        repository,
        numbers(100).map((n) => put(`${n}`, random(200)))
      )
      yield* write(
        repository,
        numbers(60).map((n) => put(`again ${n}`, random(200)))
      )
      const size = (stem: string) => fs.statSync(`${stem}.pack`).size
      const [undeletable = ""] = [...stemsOf(directory)].sort((a, b) => size(b) - size(a))
      const unlinkSync = (real: typeof fs.unlinkSync) => (file: string) => {
        if (file === `${undeletable}.pack`) throw refusal("EACCES")
        real(file)
      }
      const rounds = Effect.forEach(numbers(4), (n) =>
        Effect.zipRight(write(repository, [put("a", `${n}`)]), Effect.exit(repository.maintain))
      )
      const { countOf } = yield* countingGit(directory, withReplaced({ unlinkSync }, rounds))
      assert.isAtMost(countOf("index-pack"), 1)
    })
  )
})

describe("a pack that had the index of another one", () => {
  it.scopedLive("is maintained when it has its own again", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const writes = (repository: GitRepository) =>
        Effect.forEach(numbers(4), (n) => write(repository, [put("a", `${n} ${random(100)}`)]), {
          discard: true
        })
      yield* Effect.scoped(Effect.flatMap(Engine.open({ directory, maintenance: false }), writes))
      const [stem = "", other = ""] = stemsOf(directory)
      const own = fs.readFileSync(`${stem}.idx`)
      change(`${stem}.idx`, () => fs.readFileSync(`${other}.idx`))
      const repository = yield* Engine.open({ directory, maintenance: false })
      yield* Effect.exit(repository.maintain)
      assert.isTrue(fs.existsSync(`${stem}.pack`))
      change(`${stem}.idx`, () => own)
      assertSound(directory)
      yield* writes(repository)
      yield* repository.maintain
      assert.isFalse(fs.existsSync(`${stem}.pack`))
    })
  )
})

describe("loose objects of intact branches are packed", () => {
  it.scopedLive(
    "if every eighth of 160 branches is damaged",
    () =>
      Effect.gen(function* () {
        const { directory } = yield* engine({ maintenance: false })
        const repository = yield* Engine.open({ directory, maintenance: false, durability: "none" })
        for (const n of numbers(160)) {
          const oid = yield* repository.writeObject("blob", Buffer.from(`branch ${n}`))
          yield* write(repository, [{ _tag: "Link", path: "a", oid }], { branch: `b${n}` })
          if (n % 8 === 0) fs.rmSync(`${directory}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`)
        }
        const { countOf } = yield* countingGit(directory, Effect.exit(repository.maintain))
        assert.isBelow(looseIn(directory), 20, `after ${countOf("rev-list")} walks`)
      }),
    60_000
  )
})

describe("an abbreviated id of an object whose index was replaced by one of another size", () => {
  it.scopedLive("is found", () =>
    Effect.gen(function* () {
      const { directory, stem } = yield* packed(numbers(1_000).map((n) => `${n}`))
      const head = git(directory, "rev-parse", "main").trim()
      const repository = yield* Engine.open({ directory, maintenance: false, caches: { packIndex: 1 } })
      git(directory, "index-pack", "--index-version=1", "-o", `${directory}/new`, `${stem}.pack`)
      fs.renameSync(`${directory}/new`, `${stem}.idx`)
      assert.deepStrictEqual(Option.getOrUndefined(yield* repository.resolve(head.slice(0, 12))), head as Oid)
    })
  )
})

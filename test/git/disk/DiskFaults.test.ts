import { randomBytes } from "node:crypto"
import { once } from "node:events"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import { spawnGit } from "../../../src/git/disk/processes/GitProcess.js"
import type { Collection } from "../../../src/store/Collection.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../src/store/Store.js"
import { directory } from "../../store/core/Remotes.js"
import { failingFsync, refusal, refusing, replace, withReplaced } from "./support/replacedMethod.js"
import { engine, git, put, temporariesIn, write } from "./support/temporary.js"

/** Writes a part and then fails, like a disk that becomes full. */
const roomFor = (room: number) => (real: any) => (fd: number, what: string | Uint8Array, at?: number) => {
  if (room === 0) throw refusal("ENOSPC")
  const bytes = Buffer.from(what as string).subarray(at ?? 0, (at ?? 0) + room)
  room -= bytes.length
  return real(fd, bytes)
}
/** Writes that may fail. */
const insertsOf = (c: Collection, count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, n) => n),
    (n) => Effect.ignore(c.insert({ n }, { id: `x${n}` }))
  )

const keepsIn = (at: string) => fs.readdirSync(`${at}/objects/pack`).filter((name) => name.endsWith(".keep"))
const descriptors = () => fs.readdirSync("/proc/self/fd").length

const opened = Effect.gen(function* () {
  const root = yield* directory
  const remote = yield* LocalGit.scoped({
    directory: root,
    repo: "o/r",
    timeout: "300 millis",
    durability: "fsync",
    maintenance: false
  })
  const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
  yield* store.collection("c").insert({ n: 1 }, { id: "first" })
  return { at: `${root}/o/r.git`, remote, store, c: store.collection("c") }
})

describe("a disk that fails", () => {
  it.scopedLive("a pack that cannot be renamed leaves no .keep file", () =>
    Effect.gen(function* () {
      const { at, c } = yield* opened
      const renameSync = (real: typeof fs.renameSync) => (from: string, to: string) => {
        if (to.endsWith(".idx")) throw refusal("ENOSPC")
        return real(from, to)
      }
      yield* withReplaced({ renameSync }, insertsOf(c, 5))
      yield* c.insert({ n: 2 }, { id: "after" })
      assert.deepStrictEqual(keepsIn(at), [])
    })
  )
  it.scopedLive("a directory of packs that cannot be synced leaves no .keep", () =>
    Effect.gen(function* () {
      const { at, c } = yield* opened
      let count = 0
      const fsync = failingFsync((path) => fs.statSync(path).isDirectory() && ++count > 0)
      yield* withReplaced({ fsync }, insertsOf(c, 5))
      assert.isAbove(count, 0)
      assert.deepStrictEqual(keepsIn(at), [])
    })
  )
  it.scopedLive("a refused write on a full disk leaks no file descriptor and no file", () =>
    Effect.gen(function* () {
      const { at, c } = yield* opened
      const before = descriptors()
      yield* withReplaced({ writeSync: refusing("ENOSPC") }, insertsOf(c, 20))
      assert.deepStrictEqual(temporariesIn(at), [])
      const after = descriptors()
      assert.isBelow(after - before, 5, `${after - before} descriptors leaked`)
    })
  )
})

describe("a disk that is full when a Git child is killed", () => {
  it.scopedLive("allows writes to the branch that the child had locked, once there is space", () =>
    Effect.gen(function* () {
      const { at, remote } = yield* opened
      const repository = yield* Engine.open({ directory: at, maintenance: false, timeout: 1_000 })
      const main = Option.getOrThrow(yield* remote.head("main")).commit
      let undo = () => {}
      const killed = Effect.promise(async () => {
        const child = spawnGit(at, ["update-ref", "--stdin"])
        child.stdin.write(`start\ncreate refs/heads/next ${main}\nprepare\n`)
        while (!fs.existsSync(`${at}/refs/heads/next.lock`)) await new Promise((done) => setTimeout(done, 2))
        undo = replace({ mkdirSync: refusing("ENOSPC") })
        child.kill("SIGKILL")
        await once(child, "close")
      })
      yield* Effect.flip(repository.withExclusiveAccess(Effect.zipRight(killed, Effect.fail("killed"))))
      undo()
      yield* repository.updateRef("refs/heads/next", Option.none(), Option.some(main))
      assert.isTrue(Option.isSome(yield* remote.head("next")))
    })
  )
})

describe("a branch that is a symbolic ref", () => {
  it.scopedLive("is written through, as Git does", () =>
    Effect.gen(function* () {
      const { at, remote } = yield* opened
      git(at, "branch", "trunk", "main")
      git(at, "symbolic-ref", "refs/heads/alias", "refs/heads/trunk")
      const store = yield* Effect.provideService(Store.make({ branch: "alias" }), GitRemote, remote)
      yield* store.collection("c").insert({ n: 5 }, { id: "through" })
      assert.include(git(at, "ls-tree", "-r", "--name-only", "trunk"), "through.json")
    })
  )
})

describe("a repository that is deleted and created again", () => {
  it.scopedLive("is not written to by a process that had opened the old one, which gets a hint", () =>
    Effect.gen(function* () {
      const { at, c } = yield* opened
      fs.rmSync(at, { recursive: true })
      git("/", "init", "-q", "--bare", "-b", "main", at)
      const error = yield* Effect.flip(c.insert({ n: 1 }, { id: "second" }))
      assert.include(error.message, "was deleted and created again")
      assert.include(error.hint, "Open it again")
    })
  )
})

describe("a loose object that cannot be written", () => {
  it.scopedLive("leaves no file behind", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ durability: "none" })
      const writes = Effect.forEach([0, 1, 2, 3, 4], (n) =>
        Effect.ignore(repository.writeObject("blob", new Uint8Array([n])))
      )
      yield* withReplaced({ writeSync: refusing("ENOSPC") }, writes)
      assert.deepStrictEqual(temporariesIn(repository.directory), [])
    })
  )
})

describe("a disk that becomes full in the middle of a file", () => {
  it.scopedLive("acknowledges no truncated object", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ durability: "none" })
      const content = randomBytes(30_000)
      yield* withReplaced({ writeSync: roomFor(8_192) }, Effect.flip(repository.writeObject("blob", content)))
      const again = yield* repository.writeObject("blob", content)
      assert.isTrue(content.equals(Option.getOrThrow(yield* repository.object(again)).content))
    })
  )
  it.scopedLive("can still be read, and written once there is space", () =>
    Effect.gen(function* () {
      const at = `${yield* directory}/r.git`
      yield* Engine.create({ directory: at })
      const undo = replace({ mkdirSync: refusing("ENOSPC") })
      const open = yield* Effect.either(Engine.open({ directory: at }))
      const repository = yield* Effect.orDie(open)
      assert.isTrue(Option.isNone(yield* repository.resolve("main")))
      const refused = yield* Effect.flip(repository.writeObject("blob", new Uint8Array(1)))
      undo()
      assert.strictEqual(refused.reason, "Denied")
      yield* repository.writeObject("blob", new Uint8Array(1))
    })
  )
  it.scopedLive("is reported by the maintenance, even if another process runs maintenance", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ durability: "none" })
      const refused = yield* withReplaced({ linkSync: refusing("ENOSPC") }, Effect.flip(repository.maintain))
      assert.strictEqual(refused.reason, "Denied")
      assert.deepStrictEqual(temporariesIn(repository.directory), [])
      yield* repository.maintain
    })
  )
  it.scopedLive("loses no packed ref when another one is deleted", () =>
    Effect.gen(function* () {
      const { at, remote } = yield* opened
      for (let n = 0; n < 5; n++) git(at, "update-ref", `refs/heads/b${n}`, "main")
      git(at, "pack-refs", "--all")
      yield* withReplaced({ writeSync: roomFor(200) }, Effect.flip(remote.deleteBranch("b3")))
      assert.strictEqual(git(at, "for-each-ref", "refs/heads").trim().split("\n").length, 6)
    })
  )
})

describe("a disk that does not sync directories", () => {
  const fsync = (real: typeof fs.fsync) => (fd: number, done: (cause: Error | null) => void) =>
    fs.fstatSync(fd).isDirectory() ? done(refusal("EINVAL")) : real(fd, done)

  it.scopedLive("is maintained, if nothing need be durable", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const repository = yield* Engine.open({ directory, maintenance: false, durability: "none" })
      const packs = () =>
        fs.readdirSync(`${directory}/objects/pack`).filter((name) => name.endsWith(".pack")).length
      for (const round of [1, 2]) {
        for (const n of [1, 2, 3, 4, 5]) yield* write(repository, [put(`d${n}`, `${round} ${n}`)])
        yield* withReplaced({ fsync }, repository.maintain)
        assert.isAtMost(packs(), 2)
      }
    })
  )

  it.scopedLive("keeps its old packs otherwise", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      for (const n of [1, 2, 3]) yield* write(repository, [put(`d${n}`, `${n}`)])
      const packs = `${repository.directory}/objects/pack`
      const before = fs.readdirSync(packs)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(withReplaced({ fsync }, repository.maintain))))
      assert.includeMembers(fs.readdirSync(packs), before)
    })
  )
})

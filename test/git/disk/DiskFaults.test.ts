import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import fs, { readdirSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import { spawnGit } from "../../../src/git/disk/GitProcess.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../src/store/Store.js"
import { directory } from "../../store/core/Remotes.js"
import { temporariesIn } from "./support/temporary.js"

const replace = <K extends "linkSync" | "mkdirSync" | "renameSync" | "writeSync" | "writevSync" | "fsync">(
  name: K,
  make: (real: any) => any
) => {
  const real = fs[name]
  ;(fs as any)[name] = make(real)
  syncBuiltinESMExports()
  return () => {
    ;(fs as any)[name] = real
    syncBuiltinESMExports()
  }
}
const full = () => Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" })
/** Writes what there is room for, and then fails, as a disk does that becomes full. */
const roomFor = (room: number) => (real: any) => (fd: number, what: string | Uint8Array, at?: number) => {
  if (room === 0) throw full()
  const bytes = Buffer.from(what as string).subarray(at ?? 0, (at ?? 0) + room)
  room -= bytes.length
  return real(fd, bytes)
}
const descriptors = () => readdirSync("/proc/self/fd").length

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
  it.scopedLive("a pack that cannot be renamed leaves nothing that keeps garbage for ever", () =>
    Effect.gen(function* () {
      const { at, c } = yield* opened
      const undo = replace("renameSync", (real) => (from: string, to: string) => {
        if (to.endsWith(".idx")) throw full()
        return real(from, to)
      })
      for (let n = 0; n < 5; n++) yield* Effect.ignore(c.insert({ n }, { id: `x${n}` }))
      undo()
      yield* c.insert({ n: 2 }, { id: "after" })
      const left = fs.readdirSync(`${at}/objects/pack`)
      assert.deepStrictEqual(
        left.filter((n) => n.endsWith(".keep")),
        []
      )
    })
  )
  it.scopedLive("a directory of packs that cannot be synced leaves no .keep", () =>
    Effect.gen(function* () {
      const { at, c } = yield* opened
      let count = 0
      const undo = replace("fsync", (real) => (fd: number, done: any) => {
        if (fs.fstatSync(fd).isDirectory()) {
          count++
          return done(Object.assign(new Error("EIO"), { code: "EIO" }))
        }
        return real(fd, done)
      })
      for (let n = 0; n < 5; n++) yield* Effect.ignore(c.insert({ n }, { id: `x${n}` }))
      undo()
      const left = fs.readdirSync(`${at}/objects/pack`)
      assert.isAbove(count, 0)
      assert.deepStrictEqual(
        left.filter((n) => n.endsWith(".keep")),
        []
      )
    })
  )
  it.scopedLive("a full disk does not cost a file descriptor or a file for each refused write", () =>
    Effect.gen(function* () {
      const { at, c } = yield* opened
      const before = descriptors()
      const undo = replace("writeSync", () => () => {
        throw full()
      })
      for (let n = 0; n < 20; n++) yield* Effect.ignore(c.insert({ n }, { id: `x${n}` }))
      undo()
      assert.deepStrictEqual(temporariesIn(at), [])
      const after = descriptors()
      assert.isBelow(after - before, 5, `${after - before} descriptors leaked`)
    })
  )
})

describe("a disk that is full when a Git child is killed", () => {
  it.scopedLive("lets the branch be written once there is room, whose lock the child had", () =>
    Effect.gen(function* () {
      const { at, remote } = yield* opened
      const repository = yield* Engine.open({ directory: at, maintenance: false, timeout: 1_000 })
      const main = Option.getOrThrow(yield* remote.head("main")).commit
      let undo = () => {}
      const killed = Effect.promise(async () => {
        const child = spawnGit(at, ["update-ref", "--stdin"])
        child.stdin.write(`start\ncreate refs/heads/next ${main}\nprepare\n`)
        while (!fs.existsSync(`${at}/refs/heads/next.lock`)) await new Promise((done) => setTimeout(done, 2))
        undo = replace("mkdirSync", () => () => {
          throw full()
        })
        child.kill("SIGKILL")
        await once(child, "close")
      })
      yield* Effect.flip(repository.exclusively(Effect.zipRight(killed, Effect.fail("killed"))))
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
      execFileSync("git", ["--git-dir", at, "branch", "trunk", "main"])
      execFileSync("git", ["--git-dir", at, "symbolic-ref", "refs/heads/alias", "refs/heads/trunk"])
      const store = yield* Effect.provideService(Store.make({ branch: "alias" }), GitRemote, remote)
      yield* store.collection("c").insert({ n: 5 }, { id: "through" })
      const trunk = execFileSync("git", ["--git-dir", at, "ls-tree", "-r", "--name-only", "trunk"], {
        encoding: "utf8"
      })
      assert.include(trunk, "through.json")
    })
  )
})

describe("a repository that is deleted and made again", () => {
  it.scopedLive("is not written to by a process that holds the old one, which is told what to do", () =>
    Effect.gen(function* () {
      const { at, c } = yield* opened
      fs.rmSync(at, { recursive: true })
      execFileSync("git", ["init", "-q", "--bare", "-b", "main", at])
      const got = yield* Effect.either(c.insert({ n: 1 }, { id: "second" }))
      assert.strictEqual(got._tag, "Left")
      const error = Either.isLeft(got) ? got.left : undefined
      assert.include(error?.message, "was deleted and made again")
      assert.include(error?.hint, "Open it again")
    })
  )
})

describe("a loose object that cannot be written", () => {
  it.scopedLive("leaves no file behind", () =>
    Effect.gen(function* () {
      const at = `${yield* directory}/r.git`
      const repository = yield* Engine.open({ directory: at, create: true, durability: "none" })
      const undo = replace("writeSync", () => () => {
        throw full()
      })
      for (let n = 0; n < 5; n++) yield* Effect.ignore(repository.writeObject("blob", new Uint8Array([n])))
      undo()
      assert.deepStrictEqual(temporariesIn(at), [])
    })
  )
})

describe("a disk that becomes full in the middle of a file", () => {
  it.scopedLive("acknowledges no object that is cut short", () =>
    Effect.gen(function* () {
      const at = `${yield* directory}/r.git`
      const repository = yield* Engine.open({ directory: at, create: true, durability: "none" })
      const content = randomBytes(30_000)
      const undo = replace("writeSync", roomFor(8_192))
      const written = yield* Effect.either(repository.writeObject("blob", content))
      undo()
      assert.strictEqual(written._tag, "Left")
      const again = yield* repository.writeObject("blob", content)
      assert.isTrue(content.equals(Option.getOrThrow(yield* repository.object(again)).content))
    })
  )
  it.scopedLive("can be read all the same, and written once there is room", () =>
    Effect.gen(function* () {
      const at = `${yield* directory}/r.git`
      yield* Engine.create({ directory: at })
      const undo = replace("mkdirSync", () => () => {
        throw full()
      })
      const open = yield* Effect.either(Engine.open({ directory: at }))
      const repository = yield* Effect.orDie(open)
      assert.isTrue(Option.isNone(yield* repository.resolve("main")))
      const refused = yield* Effect.flip(repository.writeObject("blob", new Uint8Array(1)))
      undo()
      assert.strictEqual(refused.reason, "Denied")
      yield* repository.writeObject("blob", new Uint8Array(1))
    })
  )
  it.scopedLive("is told by the maintenance, which somebody else's maintenance does not excuse", () =>
    Effect.gen(function* () {
      const at = `${yield* directory}/r.git`
      const repository = yield* Engine.open({ directory: at, create: true, durability: "none" })
      const undo = replace("linkSync", () => () => {
        throw full()
      })
      const refused = yield* Effect.either(repository.maintain)
      undo()
      assert.strictEqual(Either.isLeft(refused) ? refused.left.reason : "done", "Denied")
      assert.deepStrictEqual(temporariesIn(at), [])
      yield* repository.maintain
    })
  )
  it.scopedLive("loses no packed ref when another one is deleted", () =>
    Effect.gen(function* () {
      const { at, remote } = yield* opened
      const git = (...args: Array<string>) =>
        execFileSync("git", ["--git-dir", at, ...args], { encoding: "utf8" }).trim()
      const main = git("rev-parse", "main")
      for (let n = 0; n < 5; n++) git("update-ref", `refs/heads/b${n}`, main)
      git("pack-refs", "--all")
      const undo = replace("writeSync", roomFor(200))
      const deleted = yield* Effect.either(remote.deleteBranch("b3"))
      undo()
      assert.strictEqual(deleted._tag, "Left")
      assert.strictEqual(git("for-each-ref", "refs/heads").split("\n").length, 6)
    })
  )
})

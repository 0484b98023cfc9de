import * as fs from "node:fs"
import { createRequire, syncBuiltinESMExports } from "node:module"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import { engine, git, put, temporary, write } from "./support/temporary.js"

const cjs: { fsync: typeof fs.fsync; fsyncSync: typeof fs.fsyncSync } = createRequire(import.meta.url)(
  "node:fs"
)
const real = { fsync: fs.fsync, fsyncSync: fs.fsyncSync }

/** What was synced while an effect ran, by paths relative to a directory. */
const synced = <A, E, R>(directory: string, effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const paths = new Set<string>()
      const note = (fd: number) =>
        paths.add(path.relative(directory, fs.readlinkSync(`/proc/self/fd/${fd}`)) || ".")
      cjs.fsync = ((fd: number, done: fs.NoParamCallback) => {
        note(fd)
        real.fsync(fd, done)
      }) as typeof fs.fsync
      cjs.fsyncSync = (fd) => {
        note(fd)
        real.fsyncSync(fd)
      }
      syncBuiltinESMExports()
      return paths
    }),
    (paths) => Effect.as(effect, paths),
    () =>
      Effect.sync(() => {
        Object.assign(cjs, real)
        syncBuiltinESMExports()
      })
  )

const linux = fs.existsSync("/proc/self/fd")

describe.skipIf(!linux)("what is acknowledged is durable", () => {
  it.scopedLive("an object that somebody else has written is, once it is written again", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { directory } = repository
      fs.writeFileSync(`${directory}/content`, "content")
      const oid = git(directory, "-c", "core.fsync=none", "hash-object", "-w", "content").trim()
      const paths = yield* synced(directory, repository.writeObject("blob", Buffer.from("content")))
      const fan = `objects/${oid.slice(0, 2)}`
      for (const wanted of [`${fan}/${oid.slice(2)}`, fan, "objects"]) assert.include([...paths], wanted)
    })
  )

  it.scopedLive("an object that a power cut left empty is written again", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const content = Buffer.from("content")
      const oid = yield* repository.writeObject("blob", content)
      const file = `${repository.directory}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`
      fs.chmodSync(file, 0o644)
      fs.writeFileSync(file, "")
      yield* repository.writeObject("blob", content)
      const found = Option.getOrThrow(yield* repository.object(oid))
      assert.isTrue(content.equals(found.content))
    })
  )

  it.scopedLive("a commit is, where its packs had no directory, or its branch had none", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { directory } = repository
      fs.rmdirSync(`${directory}/objects/pack`)
      const changes = [put("a", "1")]
      const paths = yield* synced(directory, write(repository, changes, { branch: "heads/main" }))
      for (const wanted of ["objects/pack", "objects", "refs/heads/heads", "refs/heads"]) {
        assert.include([...paths], wanted)
      }
    })
  )

  it.scopedLive("a new repository is, and every directory that was made for it", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      const paths = yield* synced(home, Engine.create({ directory: `${home}/repos/owner/name.git` }))
      for (const wanted of ["repos/owner", "repos", "."]) assert.include([...paths], wanted)
    })
  )
})

it.scopedLive("an object that Git packs away just when it is written again is there all the same", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false })
    const { directory } = repository
    const content = Buffer.from("content")
    yield* write(repository, [put("a", content)])
    const oid = yield* repository.writeObject("blob", content)
    const { utimesSync } = fs
    let packed = 0
    const patch = (utimes: typeof fs.utimesSync) =>
      Effect.sync(() => {
        Object.assign(cjs, { utimesSync: utimes })
        syncBuiltinESMExports()
      })
    yield* Effect.acquireUseRelease(
      patch((...args) => {
        if (packed++ === 0) git(directory, "prune-packed")
        utimesSync(...args)
      }),
      () => repository.writeObject("blob", content),
      () => patch(utimesSync)
    )
    assert.isAbove(packed, 0)
    assert.isTrue(Option.isSome(yield* repository.object(oid)))
    assert.isTrue(fs.existsSync(`${directory}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`))
  })
)

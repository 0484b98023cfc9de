import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import { withReplaced } from "./support/replacedMethod.js"
import { engine, git, put, temporary, write } from "./support/temporary.js"

/** The paths that were synced while an effect ran, relative to a directory. */
const synced = <A, E, R>(directory: string, effect: Effect.Effect<A, E, R>) => {
  const paths = new Set<string>()
  const noting =
    (real: (fd: number, ...rest: ReadonlyArray<unknown>) => void) =>
    (fd: number, ...rest: ReadonlyArray<unknown>) => {
      paths.add(path.relative(directory, fs.readlinkSync(`/proc/self/fd/${fd}`)) || ".")
      real(fd, ...rest)
    }
  return Effect.as(withReplaced({ fsync: noting, fsyncSync: noting }, effect), paths)
}

const linux = fs.existsSync("/proc/self/fd")

describe.skipIf(!linux)("an acknowledged write is durable", () => {
  it.scopedLive("an object that another program wrote, after it is written again", () =>
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

  it.scopedLive("a commit, if the directory of packs or of the branch was missing", () =>
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

  it.scopedLive("a new repository, and every directory that was created for it", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      const paths = yield* synced(home, Engine.create({ directory: `${home}/repos/owner/name.git` }))
      for (const wanted of ["repos/owner", "repos", "."]) assert.include([...paths], wanted)
    })
  )
})

it.scopedLive("an object that Git packs while it is written again is not lost", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false })
    const { directory } = repository
    const content = Buffer.from("content")
    yield* write(repository, [put("a", content)])
    const oid = yield* repository.writeObject("blob", content)
    let packed = 0
    const packing = (real: typeof fs.utimesSync): typeof real => {
      return (...args) => {
        if (packed++ === 0) git(directory, "prune-packed")
        real(...args)
      }
    }
    yield* withReplaced({ utimesSync: packing }, repository.writeObject("blob", content))
    assert.isAbove(packed, 0)
    assert.isTrue(Option.isSome(yield* repository.object(oid)))
    assert.isTrue(fs.existsSync(`${directory}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`))
  })
)

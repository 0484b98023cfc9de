import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { failingFsync, refusal, withReplaced } from "./support/replacedMethod.js"
import { assertSound, engine, git, put, temporariesIn, write } from "./support/temporary.js"

/** Runs an effect while syncing files whose paths match fails. */
const withFailingDisk = <A, E, R>(pattern: RegExp, effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let failed = 0
    const fsync = failingFsync((path) => pattern.test(path) && ++failed > 0)
    return Effect.tap(withReplaced({ fsync }, effect), () => Effect.sync(() => assert.isAbove(failed, 0)))
  })

describe("a disk that fails to flush", () => {
  it.scopedLive("before the ref moves: nothing is written, and the next write succeeds", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ durability: "fsync" })
      yield* write(repository, [put("a", "1")])
      const before = yield* repository.ref("refs/heads/main")
      const error = yield* withFailingDisk(/objects\/pack/, Effect.flip(write(repository, [put("a", "2")])))
      assert.strictEqual(error._tag, "RemoteError")
      assert.deepStrictEqual(yield* repository.ref("refs/heads/main"), before)
      yield* write(repository, [put("a", "3")])
      assert.strictEqual(git(repository.directory, "show", "main:a"), "3")
      assertSound(repository.directory)
    })
  )

  it.scopedLive("after the ref moved: the error says that the write is there and may go", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ durability: "fsync" })
      yield* write(repository, [put("a", "1")])
      const error = yield* withFailingDisk(/refs\/heads$/, Effect.flip(write(repository, [put("a", "2")])))
      assert.strictEqual(error._tag, "AmbiguousWriteError")
      assert.strictEqual(git(repository.directory, "show", "main:a"), "2")
      yield* write(repository, [put("a", "3")])
      assert.strictEqual(git(repository.directory, "rev-list", "--count", "main").trim(), "3")
      assertSound(repository.directory)
    })
  )

  it.scopedLive("after a ref was set: the same", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ durability: "fsync" })
      yield* write(repository, [put("a", "1")])
      const at = yield* repository.ref("refs/heads/main")
      const name = "refs/heads/other"
      const error = yield* withFailingDisk(
        /refs\/heads$/,
        Effect.flip(repository.updateRef(name, Option.none(), at))
      )
      assert.strictEqual(error._tag, "AmbiguousWriteError")
      assert.include(error.message, name)
      assert.deepStrictEqual(yield* repository.ref(name), at)
    })
  )

  it.scopedLive("after a ref was deleted: the same, and no file of it is left", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ durability: "fsync" })
      const { commit } = yield* write(repository, [put("a", "1")])
      const name = "refs/heads/other"
      yield* repository.updateRef(name, Option.none(), Option.some(commit))
      const remove = repository.updateRef(name, Option.some(commit), Option.none())
      const before = yield* withFailingDisk(/chainstore\//, Effect.flip(remove))
      assert.strictEqual(before._tag, "RemoteError")
      assert.deepStrictEqual(yield* repository.ref(name), Option.some(commit))
      const after = yield* withFailingDisk(/refs\/heads$/, Effect.flip(remove))
      assert.strictEqual(after._tag, "AmbiguousWriteError")
      assert.include(after.message, `${name} is deleted`)
      assert.isTrue(Option.isNone(yield* repository.ref(name)))
      assert.deepStrictEqual(temporariesIn(repository.directory), [])
    })
  )
})

describe("a disk that becomes read-only once a branch has moved", () => {
  const withFailingUnlink = <A, E, R>(pattern: RegExp, effect: Effect.Effect<A, E, R>) =>
    withReplaced(
      {
        unlinkSync: (real) => (file: string) => {
          if (pattern.test(file)) throw refusal("EROFS")
          return real(file)
        }
      },
      effect
    )

  it.scopedLive("does not undo an acknowledged write, and does not report a write as refused", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      yield* write(repository, [put("a", "1")])
      const { commit } = yield* withFailingUnlink(/\.keep$|\/ref-/, write(repository, [put("a", "2")]))
      assert.strictEqual(git(repository.directory, "rev-parse", "main").trim(), commit)
      const copy = repository.updateRef("refs/heads/copy", Option.none(), Option.some(commit))
      yield* withFailingUnlink(/\/ref-/, copy)
      assert.strictEqual(git(repository.directory, "rev-parse", "copy").trim(), commit)
    })
  )
})

describe("a disk that is read-only for a moment, from when a branch is locked", () => {
  /** Runs an effect while nothing can be renamed or removed once the branch is to be moved or deleted. */
  const whileReadOnly = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      let isReadOnly = false
      const refusing =
        (begins: (...args: ReadonlyArray<unknown>) => boolean) =>
        (real: (...args: ReadonlyArray<any>) => unknown) =>
        (...args: ReadonlyArray<any>) => {
          isReadOnly ||= begins(...args)
          if (isReadOnly) throw refusal("EROFS")
          return real(...args)
        }
      return withReplaced(
        {
          renameSync: refusing((_, to) => String(to).endsWith("refs/heads/main")),
          unlinkSync: refusing((file) => String(file).endsWith("refs/heads/main")),
          rmSync: refusing(() => false)
        },
        Effect.tap(effect, () => Effect.sync(() => assert.isTrue(isReadOnly)))
      )
    })
  const stored = Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false, timeout: 3_000 })
    const { commit } = yield* write(repository, [put("a", "1")])
    return { repository, commit: Option.some(commit) }
  })
  const again = (repository: GitRepository) => Effect.flip(write(repository, [put("a", "2")]))

  it.scopedLive("does not keep the branch locked", () =>
    Effect.gen(function* () {
      const { commit, repository } = yield* stored
      yield* whileReadOnly(again(repository))
      const deletion = repository.updateRef("refs/heads/main", commit, Option.none())
      yield* whileReadOnly(Effect.flip(deletion))
      yield* deletion
      assertSound(repository.directory)
    })
  )

  it.scopedLive("takes no lock from the program that has it since", () =>
    Effect.gen(function* () {
      const { repository } = yield* stored
      yield* whileReadOnly(again(repository))
      const lock = `${repository.directory}/refs/heads/main.lock`
      fs.unlinkSync(lock)
      fs.writeFileSync(lock, "of another program")
      yield* again(repository)
      assert.strictEqual(fs.readFileSync(lock, "utf8"), "of another program")
      fs.unlinkSync(lock)
      yield* write(repository, [put("a", "3")])
      assertSound(repository.directory)
    })
  )

  it.scopedLive("does not keep the branch locked if the engine is closed meanwhile", () =>
    Effect.gen(function* () {
      const { repository } = yield* stored
      const { directory } = repository
      const other = Engine.open({ directory, maintenance: false })
      yield* whileReadOnly(Effect.scoped(Effect.flatMap(other, again)))
      yield* write(repository, [put("a", "3")])
      assertSound(directory)
    })
  )
})

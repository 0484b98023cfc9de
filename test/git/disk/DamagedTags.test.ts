import { randomBytes } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { countingGit } from "./support/gitOnPath.js"
import { change, commits, looseIn, numbers, stemsOf } from "./support/packs.js"
import { engine, git, put, write } from "./support/temporary.js"

/** A repository with a tag that an earlier maintenance has packed, and whose object is damaged since. */
const withDamagedTag = Effect.fnUntraced(function* (beforeDamage: (directory: string) => void = () => {}) {
  const repository = yield* engine({ maintenance: false })
  const { directory } = repository
  yield* write(repository, [put("a", "1")])
  git(directory, "tag", "-a", "-m", randomBytes(200).toString("hex"), "v1", "main")
  yield* repository.maintain
  assert.strictEqual(looseIn(directory), 0)
  beforeDamage(directory)
  const tag = git(directory, "rev-parse", "refs/tags/v1").trim()
  for (const stem of stemsOf(directory)) {
    const line = git(directory, "verify-pack", "-v", `${stem}.idx`)
      .split("\n")
      .find((text) => text.startsWith(`${tag} tag`))
    if (line === undefined) continue
    const offset = Number(line.trim().split(/ +/)[4])
    change(`${stem}.pack`, (bytes) => bytes.fill(0x55, offset + 30, offset + 60))
  }
  return repository
})

const linkLoose = (repository: GitRepository) =>
  Effect.forEach(numbers(20), (n) =>
    Effect.gen(function* () {
      const oid = yield* repository.writeObject("blob", Buffer.from(`loose ${n}`))
      yield* write(repository, [{ _tag: "Link", path: `linked/${n}`, oid }])
    })
  )

describe("a tag whose object is damaged", () => {
  it.scopedLive("does not prevent the combination of packs", () =>
    Effect.gen(function* () {
      const repository = yield* withDamagedTag()
      yield* commits(repository, 10)
      for (const _ of numbers(2)) yield* Effect.exit(repository.maintain)
      assert.isAtMost(stemsOf(repository.directory).length, 5)
    })
  )

  it.scopedLive("does not prevent that loose objects of branches are packed", () =>
    Effect.gen(function* () {
      const repository = yield* withDamagedTag()
      yield* linkLoose(repository)
      for (const _ of numbers(2)) yield* Effect.exit(repository.maintain)
      assert.isAtMost(looseIn(repository.directory), 1)
    })
  )
})

describe("loose objects are packed, and removed, in spite of", () => {
  it.scopedLive("a tag that was damaged after an earlier maintenance", () =>
    Effect.gen(function* () {
      // Otherwise Git reads the tag whenever it writes a pack.
      const repository = yield* withDamagedTag((directory) => git(directory, "pack-refs", "--all"))
      const { directory } = repository
      yield* linkLoose(repository)
      for (const _ of numbers(2)) yield* Effect.exit(repository.maintain)
      const inThisProcess = looseIn(directory)
      yield* Effect.scoped(
        Effect.flatMap(Engine.open({ directory, maintenance: false }), ({ maintain }) =>
          Effect.exit(maintain)
        )
      )
      assert.deepStrictEqual(
        { inThisProcess, inNextProcess: looseIn(directory) },
        { inThisProcess: 0, inNextProcess: 0 }
      )
    })
  )

  it.scopedLive("a damaged tag beside two branches that reach the same ones", () =>
    Effect.gen(function* () {
      const repository = yield* withDamagedTag()
      const { directory } = repository
      yield* linkLoose(repository)
      git(directory, "branch", "other", "main")
      yield* write(repository, [put("a", "2")], { branch: "other" })
      yield* Effect.exit(repository.maintain)
      assert.strictEqual(looseIn(directory), 0)
    })
  )
})

describe("a pack that is damaged together with its index", () => {
  it.scopedLive("is not read again by each maintenance", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const open = Engine.open({ directory, maintenance: false })
      yield* Effect.scoped(
        Effect.flatMap(open, (repository) => commits(repository, 2, () => randomBytes(3_000)))
      )
      const [stem = ""] = stemsOf(directory)
      for (const ending of ["pack", "idx"])
        change(`${stem}.${ending}`, (bytes) => bytes.fill(1, 1_080, 1_120))
      yield* Effect.scoped(
        Effect.flatMap(open, (repository) => write(repository, [put("a", "1")], { branch: "other" }))
      )
      const repository = yield* open
      const rounds = Effect.forEach(numbers(6), () => Effect.exit(repository.maintain))
      const { countOf } = yield* countingGit(directory, rounds)
      assert.isAtMost(countOf("index-pack"), 2)
    })
  )
})

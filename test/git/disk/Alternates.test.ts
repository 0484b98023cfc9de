import * as fs from "node:fs"
import * as path from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { stemsOf } from "./support/packs.js"
import { assertSound, engine, git, put, write } from "./support/temporary.js"

it.scopedLive("what a repository borrows from another one is as good as its own", () =>
  Effect.gen(function* () {
    const lender = yield* engine({ maintenance: false })
    const first = yield* write(lender, [put("borrowed/0", "lent")])
    const last = yield* Effect.map(
      Effect.forEach([1, 2, 3], (n) => write(lender, [put(`borrowed/${n}`, "lent")])),
      (all) => all[2]!
    )
    const repository = yield* engine({ maintenance: false })
    const { directory } = repository
    const lent = `${lender.directory}/objects`
    fs.writeFileSync(
      `${directory}/objects/info/alternates`,
      `# a comment\n${path.relative(`${directory}/objects`, lent)}\n`
    )
    assert.deepStrictEqual(yield* repository.resolve(last.commit), Option.some(last.commit))
    assert.deepStrictEqual(yield* repository.resolve(last.commit.slice(0, 12)), Option.some(last.commit))
    assert.isTrue(yield* repository.isAncestor(first.commit, last.commit))
    assert.deepStrictEqual(yield* repository.mergeBases(last.commit, first.commit), [first.commit])
    yield* repository.updateRef("refs/heads/main", Option.none(), Option.some(last.commit))
    const oid = first.blobs.get("borrowed/0")!
    yield* repository.commitNext("main", () =>
      Effect.succeed({
        commit: Option.some({ message: "link", changes: [{ _tag: "Link", path: "own/linked", oid }] }),
        result: undefined
      })
    )
    const large = yield* lender.writeObject("blob", Buffer.alloc(1024 * 1024, "x"))
    const found = yield* Effect.scoped(repository.openObject(large))
    assert.isFalse(Option.getOrThrow(found).isBuffered)
    git(lender.directory, "gc", "-q")
    assert.isTrue(Option.isSome(yield* repository.object(oid)))
    assert.strictEqual(git(directory, "show", "main:own/linked"), "lent")
    assertSound(directory)
  })
)

it.scopedLive("a missing one is reported, also while a pack of the repository itself is damaged", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false })
    const { directory } = repository
    yield* write(repository, [put("a", "1")])
    const index = `${stemsOf(directory)[0]}.idx`
    fs.chmodSync(index, 0o644)
    fs.writeFileSync(index, "damaged")
    fs.writeFileSync(`${directory}/objects/info/alternates`, "/nowhere/objects\n/neither/objects\n")
    const found = yield* repository.health
    assert.deepStrictEqual(
      found.map(({ code, message }) => [code, /nowhere|neither/.exec(message)?.[0]]),
      [
        ["pack-index", undefined],
        ["objects", "nowhere"],
        ["objects", "neither"]
      ]
    )
  })
)

import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { stemsOf } from "./support/packs.js"
import { assertSound, engine, git, put, temporary, write } from "./support/temporary.js"

/** A closed repository with some files, and the ids of those. */
const closedWith = (commits: ReadonlyArray<ReadonlyArray<string>>) =>
  Effect.gen(function* () {
    const { directory } = yield* engine({ maintenance: false })
    const oids = new Map<string, Oid>()
    const fill = (repository: GitRepository) =>
      Effect.forEach(commits, (contents, n) =>
        Effect.map(
          write(
            repository,
            contents.map((content, i) => put(`${n}/${i}`, content))
          ),
          ({ blobs }) => contents.forEach((content, i) => void oids.set(content, blobs.get(`${n}/${i}`)!))
        )
      )
    yield* Effect.scoped(Effect.flatMap(Engine.open({ directory, maintenance: false }), fill))
    return { directory, oids }
  })

const random = (length: number) => randomBytes(length / 2).toString("hex")

/** The contents of objects that an engine reads wrongly, and of those that it cannot read. */
const misread = (repository: GitRepository, oids: ReadonlyMap<string, Oid>) =>
  Effect.gen(function* () {
    let [wrong, unreadable] = [0, 0]
    for (const [content, oid] of oids) {
      const exit = yield* Effect.exit(repository.object(oid))
      if (Exit.isFailure(exit)) unreadable++
      else if (`${Buffer.from(Option.getOrThrow(exit.value).content)}` !== content) wrong++
    }
    return { wrong, unreadable }
  })

describe("a pack that was replaced, with its index, by one of the same name with the same objects", () => {
  it.scopedLive("is read as it is", () =>
    Effect.gen(function* () {
      const { directory, oids } = yield* closedWith([Array.from({ length: 100 }, () => random(80))])
      git(directory, "repack", "-a", "-d", "-q")
      const repository = yield* Engine.open({ directory, maintenance: false })
      const [stem] = stemsOf(directory)
      const list = git(directory, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
      const work = yield* temporary
      fs.writeFileSync(`${work}/list`, list.trim().split("\n").reverse().join("\n"))
      git(directory, "-c", `alias.pack=!git pack-objects -q --window=0 ${work}/new <${work}/list`, "pack")
      const made = fs
        .readdirSync(work)
        .find((name) => name.endsWith(".pack"))!
        .slice(0, -".pack".length)
      for (const ending of ["pack", "idx"]) fs.renameSync(`${work}/${made}.${ending}`, `${stem}.${ending}`)
      assertSound(directory)
      assert.deepStrictEqual(yield* misread(repository, oids), { wrong: 0, unreadable: 0 })
    })
  )
})

describe("a damaged pack that was replaced by an intact copy", () => {
  const damaged = Effect.gen(function* () {
    const { directory, oids } = yield* closedWith([[random(3_000)], [random(100)], [random(102)]])
    const [content = "", oid = ""] = [...oids][0]!
    const isHere = (stem: string) =>
      git(directory, "verify-pack", "-v", `${stem}.idx`).includes(`${oid} blob`)
    const file = `${stemsOf(directory).find(isHere)}.pack`
    const intact = fs.readFileSync(file)
    fs.chmodSync(file, 0o644)
    fs.writeFileSync(file, Buffer.from(intact).fill(0x55, 40, 1_000))
    const restore = () => {
      fs.writeFileSync(`${directory}/intact`, intact)
      fs.renameSync(`${directory}/intact`, file)
      assertSound(directory)
    }
    return { directory, file, restore, oids: new Map([[content, oid as Oid]]) }
  })

  it.scopedLive("is read again", () =>
    Effect.gen(function* () {
      const { directory, oids, restore } = yield* damaged
      const repository = yield* Engine.open({ directory, maintenance: false })
      assert.deepStrictEqual(yield* misread(repository, oids), { wrong: 0, unreadable: 1 })
      restore()
      assert.deepStrictEqual(yield* misread(repository, oids), { wrong: 0, unreadable: 0 })
    })
  )

  it.scopedLive("is maintained again", () =>
    Effect.gen(function* () {
      const { directory, file, restore } = yield* damaged
      const repository = yield* Engine.open({ directory, maintenance: false })
      yield* Effect.exit(repository.maintain)
      assert.isTrue(fs.existsSync(file))
      restore()
      for (const n of [1, 2, 3]) yield* write(repository, [put("more", `${n}`)])
      yield* repository.maintain
      assert.isFalse(fs.existsSync(file))
    })
  )
})

describe("an index that was replaced by an intact one of another size", () => {
  it.scopedLive("is not reported as damaged", () =>
    Effect.gen(function* () {
      const { directory } = yield* closedWith([Array.from({ length: 10 }, () => random(80))])
      git(directory, "repack", "-a", "-d", "-q")
      const repository = yield* Engine.open({ directory, maintenance: false })
      const [stem] = stemsOf(directory)
      git(directory, "index-pack", "--index-version=1", "-o", `${directory}/new`, `${stem}.pack`)
      fs.renameSync(`${directory}/new`, `${stem}.idx`)
      assertSound(directory)
      assert.deepStrictEqual(yield* repository.health, [])
    })
  )
})

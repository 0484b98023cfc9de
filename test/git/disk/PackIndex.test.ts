import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import { PackDescriptors } from "../../../src/git/disk/packs/PackDescriptors.js"
import { PackIndex } from "../../../src/git/disk/packs/PackIndex.js"
import { git, temporary } from "./support/temporary.js"

const count = 6_000

/** A repository with one pack of so many blobs, and an index of this version. */
const packed = (version: 1 | 2) =>
  Effect.gen(function* () {
    const directory = path.join(yield* temporary, "pack.git")
    git(path.dirname(directory), "init", "-q", "--bare", directory)
    const stream = Array.from({ length: count }, (_, n) => {
      const text = `blob ${n}`
      return `blob\ndata ${text.length}\n${text}\n`
    }).join("")
    const config = ["-c", `pack.indexVersion=${version}`, "-c", "fastimport.unpackLimit=0"]
    execFileSync("git", [...config, "fast-import", "--quiet"], { cwd: directory, input: stream })
    const packs = path.join(directory, "objects", "pack")
    const name = fs.readdirSync(packs).find((file) => file.endsWith(".idx"))!
    return { directory, stem: path.join(packs, name.slice(0, -4)) }
  })

/** The offsets of objects as Git reads them from an index. */
const offsetsIn = (stem: string): ReadonlyMap<string, number> =>
  new Map(
    execFileSync("git", ["show-index"], { input: fs.readFileSync(`${stem}.idx`), encoding: "utf8" })
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .map(([offset, oid]) => [oid!, Number(offset)])
  )

const bytesOf = (oid: string) => Buffer.from(oid, "hex")

describe.each([1, 2] as const)("an index of version %s that is read in parts", (version) => {
  it.scoped("finds every object where Git does, and none that is not there", () =>
    Effect.gen(function* () {
      const { stem } = yield* packed(version)
      const files = new PackDescriptors(4)
      const offsets = offsetsIn(stem)
      assert.strictEqual(offsets.size, count)
      const open = () => PackIndex.open(stem, fs.statSync(`${stem}.idx`).size, 0, files)
      let index = open()
      for (const [oid, offset] of offsets) {
        assert.strictEqual(index.find(bytesOf(oid)), offset)
        const absent = bytesOf(oid)
        absent[19] = absent[19]! ^ 1
        assert.strictEqual(index.find(absent), -1)
        // It would be read whole after some looks.
        if (index.isVerified) index = open()
      }
      files.closeAll()
    })
  )

  it.scoped("is read whole when its parts have cost as much", () =>
    Effect.gen(function* () {
      const { stem } = yield* packed(version)
      const files = new PackDescriptors(4)
      const { size } = fs.statSync(`${stem}.idx`)
      const index = PackIndex.open(stem, size, 0, files)
      const [first] = offsetsIn(stem)
      let looks = 0
      for (; !index.isVerified; looks++) assert.strictEqual(index.find(bytesOf(first![0])), first![1])
      assert.closeTo(looks, size / 8192, 2)
      files.closeAll()
    })
  )
})

describe("a damaged index that is read in parts", () => {
  const trial = (damage: (index: Buffer) => void) =>
    Effect.gen(function* () {
      const { directory, stem } = yield* packed(2)
      const wanted = [...offsetsIn(stem).keys()][count / 2]! as Oid
      const bytes = fs.readFileSync(`${stem}.idx`)
      damage(bytes)
      fs.chmodSync(`${stem}.idx`, 0o644)
      fs.writeFileSync(`${stem}.idx`, bytes)
      const repository = yield* Engine.open({ directory, maintenance: false, caches: { packIndex: 0 } })
      const content = Effect.map(
        repository.object(wanted),
        Option.map((object) => Buffer.from(object.content).toString())
      )
      return { repository, content, wanted }
    })

  it.scopedLive("never gives one object for another", () =>
    Effect.gen(function* () {
      // All offsets are those of the neighbours.
      const { content, repository, wanted } = yield* trial((index) => {
        const offsets = 8 + 1024 + count * 24
        index.copyWithin(offsets + 4, offsets, offsets + count * 4 - 4)
      })
      const first = yield* Effect.either(content)
      assert.match(first._tag === "Left" ? first.left.message : "found", /missing|checksum/)
      const size = yield* Effect.either(repository.objectInfo(wanted))
      assert.strictEqual(size._tag, "Left")
    })
  )

  it.scopedLive("does not hide an object that it has lost, and is made anew", () =>
    Effect.gen(function* () {
      // All names of the second half are gone.
      const { content, repository } = yield* trial((index) => {
        index.fill(0xff, 8 + 1024 + count * 10 + 1, 8 + 1024 + count * 20)
      })
      const found = yield* Effect.either(content)
      assert.match(found._tag === "Left" ? found.left.message : "found", /missing.*checksum/)
      yield* repository.maintain
      assert.match(Option.getOrThrow(yield* content), /^blob \d+$/)
    })
  )
})

describe("a large object of a pack", () => {
  it.scopedLive("is streamed without a look at the other objects of the pack", () =>
    Effect.gen(function* () {
      const { directory } = yield* packed(2)
      const large = randomBytes(300_000).toString("hex")
      git(directory, "config", "core.bigFileThreshold", "1k")
      const oid = execFileSync("git", ["-C", directory, "hash-object", "-w", "--stdin"], {
        input: large,
        encoding: "utf8"
      }).trim()
      execFileSync("git", ["-C", directory, "repack", "-a", "-d", "-q", "-k"])
      const repository = yield* Engine.open({ directory, maintenance: false })
      let looks = 0
      const { offsetAt } = PackIndex.prototype
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          PackIndex.prototype.offsetAt = function (position) {
            looks++
            return offsetAt.call(this, position)
          }
        }),
        () =>
          Effect.sync(() => {
            PackIndex.prototype.offsetAt = offsetAt
          })
      )
      const read = yield* Effect.scoped(
        Effect.flatMap(repository.openObject(oid as Oid), (found) =>
          Stream.runFold(
            Option.getOrThrow(found).pieces,
            "",
            (text, piece) => text + Buffer.from(piece).toString()
          )
        )
      )
      assert.isTrue(read === large)
      assert.isAtMost(looks, 10)
    })
  )
})

import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Fiber, Option, Schedule, Stream } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import type { GitContent, GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { assertSound, engine, git, put, write } from "./support/temporary.js"

const mebibyte = 1024 * 1024

/** Bytes that do not compress, the same ones for the same name. */
const noise = (name: string, length: number): Buffer => {
  const key = crypto.createHash("sha256").update(name).digest()
  return crypto.createCipheriv("aes-256-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(length))
}

const opened = (repository: GitRepository, oid: Oid) =>
  Effect.map(repository.openObject(oid), Option.getOrThrow)

const read = ({ pieces }: GitContent) =>
  Effect.map(Stream.runCollect(pieces), (all) => Buffer.concat([...all]))

const same = (repository: GitRepository, content: Buffer, oid: Oid, whole: boolean) =>
  Effect.gen(function* () {
    const object = yield* opened(repository, oid)
    assert.deepStrictEqual([object.type, object.size, object.isBuffered], ["blob", content.length, whole])
    assert.isTrue(content.equals(yield* read(object)))
  }).pipe(Effect.scoped)

const looseFile = (repository: GitRepository, oid: Oid) =>
  path.join(repository.directory, "objects", oid.slice(0, 2), oid.slice(2))

describe("objects piece by piece", () => {
  it.scopedLive("loose and packed ones come back as they were, and are not in memory as a whole", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const sizes = [256 * 1024, 256 * 1024 + 1, mebibyte, 3 * mebibyte + 7]
      const contents = sizes.map((size) => noise(String(size), size))
      contents.push(Buffer.alloc(2 * mebibyte, "the same again "))
      const oids: Array<Oid> = []
      for (const content of contents) {
        const oid = yield* repository.writeObject("blob", content)
        assert.strictEqual(git(repository.directory, "cat-file", "-s", oid).trim(), String(content.length))
        oids.push(oid)
        yield* same(repository, content, oid, false)
      }
      yield* write(
        repository,
        contents.map((content, index) => put(`${index}`, content))
      )
      git(repository.directory, "repack", "-adq", "--window=0")
      git(repository.directory, "prune-packed")
      for (const [index, oid] of oids.entries()) {
        assert.isFalse(fs.existsSync(looseFile(repository, oid)))
        yield* same(repository, contents[index]!, oid, false)
      }
      assertSound(repository.directory)
    })
  )

  it.scopedLive("small ones, deltas and those that are not there say so", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      yield* same(
        repository,
        Buffer.from("small"),
        yield* repository.writeObject("blob", Buffer.from("small")),
        true
      )
      yield* same(repository, Buffer.alloc(0), yield* repository.writeObject("blob", Buffer.alloc(0)), true)
      const first = noise("delta", mebibyte)
      const second = Buffer.concat([first, Buffer.from("more")])
      yield* write(repository, [put("large", first)])
      yield* write(repository, [put("large", second)])
      git(repository.directory, "repack", "-adfq", "--depth=50", "--window=10")
      const ids = ["HEAD:large", "HEAD~:large"].map((name) =>
        git(repository.directory, "rev-parse", name).trim()
      ) as Array<Oid>
      const found = yield* Effect.forEach(ids, (oid) => opened(repository, oid))
      assert.sameMembers(
        found.map(({ isBuffered }) => isBuffered),
        [true, false]
      )
      const [newer, older] = yield* Effect.forEach(found, read)
      assert.isTrue(newer!.equals(second) && older!.equals(first))
      assert.isTrue(Option.isNone(yield* repository.openObject("0".repeat(40) as Oid)))
    })
  )

  it.scopedLive("what is being read stays readable when its file is repacked away", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const content = noise("moving", 4 * mebibyte)
      yield* write(repository, [put("large", content)])
      const oid = git(repository.directory, "rev-parse", "main:large").trim() as Oid
      const object = yield* opened(repository, oid)
      yield* write(repository, [put("other", "1")])
      git(repository.directory, "repack", "-adq")
      assert.isTrue(content.equals(yield* read(object)))
      yield* same(repository, content, oid, false)
    })
  )

  it.scopedLive("a reader that leaves closes the file", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const oid = yield* repository.writeObject("blob", noise("left", 4 * mebibyte))
      const open = () =>
        fs.readdirSync("/proc/self/fd").filter((fd) => {
          try {
            return fs.readlinkSync(`/proc/self/fd/${fd}`) === looseFile(repository, oid)
          } catch {
            return false
          }
        }).length
      if (!fs.existsSync("/proc/self/fd")) return
      yield* Effect.scoped(
        Effect.gen(function* () {
          const object = yield* opened(repository, oid)
          assert.strictEqual(open(), 1)
          assert.strictEqual(Chunk.size(yield* Stream.runCollect(Stream.take(object.pieces, 2))), 2)
        })
      )
      yield* Effect.scoped(opened(repository, oid))
      yield* Effect.repeat(Effect.sync(open), {
        until: (count) => count === 0,
        schedule: Schedule.spaced("10 millis")
      })
    })
  )

  it.scopedLive("a file that is cut short or damaged is an error, not an end", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const content = noise("torn", 2 * mebibyte)
      const oid = yield* repository.writeObject("blob", content)
      const file = looseFile(repository, oid)
      const bytes = fs.readFileSync(file)
      const damaged = Buffer.from(bytes)
      damaged.fill(0x55, mebibyte, mebibyte + 64)
      fs.chmodSync(file, 0o644)
      for (const written of [bytes.subarray(0, mebibyte), damaged]) {
        fs.writeFileSync(file, written)
        const result = yield* Effect.either(
          Effect.scoped(Effect.flatMap(opened(repository, oid), (object) => read(object)))
        )
        if (Either.isRight(result)) return assert.fail("it was read")
        assert.strictEqual(result.left.reason, "Corrupt")
      }
    })
  )

  it.scopedLive("a blob that comes in pieces is the same object, whatever the pieces are", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const content = noise("pieces", 3 * mebibyte + 11)
      const file = path.join(repository.directory, "pieces")
      fs.writeFileSync(file, content)
      const expected = git(repository.directory, "hash-object", "--no-filters", file).trim()
      for (const size of [7, 4096, 300_000, content.length]) {
        const bytes = content.subarray(0, size < 10 ? 7_001 : content.length)
        const pieces = Stream.unfold(0, (at) =>
          at < bytes.length ? Option.some([bytes.subarray(at, at + size), at + size] as const) : Option.none()
        )
        const oid = yield* repository.writeBlob(bytes.length, pieces)
        if (bytes.length === content.length) assert.strictEqual(oid, expected)
        yield* same(repository, bytes, oid, bytes.length < 256 * 1024)
      }
      const empty = yield* repository.writeBlob(0, Stream.empty)
      assert.strictEqual(empty, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
      assertSound(repository.directory)
    })
  )

  it.scopedLive("a blob is what its pieces were when they were given", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const same = Buffer.alloc(1000)
      const pieces = Stream.unfold(0, (n) =>
        n < 100 ? Option.some([same.fill(n), n + 1] as const) : Option.none()
      )
      const oid = yield* repository.writeBlob(100_000, Stream.rechunk(pieces, 1))
      const { content } = Option.getOrThrow(yield* repository.object(oid))
      for (let n = 0; n < 100; n++) assert.strictEqual(content[n * 1000], n)
      assertSound(repository.directory)
    })
  )

  it.scopedLive("a blob that is not what was announced, fails or is given up leaves nothing behind", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const content = noise("given up", mebibyte)
      const left = () =>
        fs
          .readdirSync(repository.directory, { recursive: true, withFileTypes: true })
          .filter((one) => one.isFile() && /^object-|^[0-9a-f]{38}$/.test(one.name)).length
      const descriptors = () => fs.readdirSync("/proc/self/fd").length
      const before = descriptors()
      for (const size of [mebibyte - 1, mebibyte + 1]) {
        const wrong = yield* Effect.flip(repository.writeBlob(size, Stream.make(content)))
        assert.strictEqual(wrong._tag, "RemoteError")
        assert.include(wrong.message, String(size))
      }
      const broken = yield* Effect.flip(
        repository.writeBlob(
          mebibyte,
          Stream.concat(Stream.make(content.subarray(0, 70_000)), Stream.fail("gone"))
        )
      )
      assert.strictEqual(broken, "gone")
      const running = yield* Effect.fork(
        repository.writeBlob(mebibyte, Stream.concat(Stream.make(content.subarray(0, 70_000)), Stream.never))
      )
      yield* Effect.repeat(Effect.sync(left), {
        until: (count) => count > 0,
        schedule: Schedule.spaced("5 millis")
      })
      yield* Fiber.interrupt(running)
      assert.deepStrictEqual([left(), descriptors()], [0, before])
    })
  )
})

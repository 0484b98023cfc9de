import { createHash, randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as zlib from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import { EngineError } from "../../../src/git/disk/files/EngineError.js"
import { applyDelta } from "../../../src/git/disk/packs/Delta.js"
import { engine, git, put, write } from "./support/temporary.js"

const sha1 = (bytes: Uint8Array) => createHash("sha1").update(bytes).digest()

/** An entry of a pack, with a claimed type and size. */
const packed = (type: number, size: number, between: Buffer, content: Buffer): Buffer => {
  const head: Array<number> = []
  let byte = (type << 4) | (size & 15)
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    head.push(byte | 0x80)
    byte = rest & 0x7f
  }
  return Buffer.concat([Buffer.from([...head, byte]), between, zlib.deflateSync(content)])
}

/** Writes a pack of such entries into a repository, without verification. */
const place = (directory: string, objects: Readonly<Record<string, Buffer>>) => {
  const oids = Object.keys(objects).sort()
  const head = Buffer.alloc(12)
  head.write("PACK")
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(oids.length, 8)
  const fan = Buffer.alloc(1024)
  const offsets = Buffer.alloc(4 * oids.length)
  let at = head.length
  for (const [place, oid] of oids.entries()) {
    offsets.writeUInt32BE(at, place * 4)
    at += objects[oid]!.length
    for (let first = Number.parseInt(oid.slice(0, 2), 16); first < 256; first++) {
      fan.writeUInt32BE(place + 1, first * 4)
    }
  }
  const body = Buffer.concat([head, ...oids.map((oid) => objects[oid]!)])
  const names = Buffer.from(oids.join(""), "hex")
  const index = Buffer.concat([
    Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]),
    fan,
    names,
    Buffer.alloc(4 * oids.length),
    offsets,
    sha1(body)
  ])
  const stem = `${directory}/objects/pack/pack-${sha1(body).toString("hex")}`
  fs.writeFileSync(`${stem}.pack`, Buffer.concat([body, sha1(body)]))
  fs.writeFileSync(`${stem}.idx`, Buffer.concat([index, sha1(index)]))
}

const [one, two] = ["1".repeat(40), "2".repeat(40)] as [Oid, Oid]
const none = Buffer.alloc(0)

describe("a corrupt pack is reported as corruption", () => {
  it.scopedLive("if the size of an object is impossible", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const content = Buffer.from("small")
      place(repository.directory, {
        [one]: packed(3, 2 ** 50, none, content),
        [two]: packed(3, 3 * 2 ** 30, none, content)
      })
      for (const oid of [one, two]) {
        assert.strictEqual((yield* Effect.flip(repository.object(oid))).reason, "Corrupt")
      }
    })
  )

  it.scopedLive("if two deltas are based on each other", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const delta = Buffer.from([5, 5, 5, ...Buffer.from("small")])
      place(repository.directory, {
        [one]: packed(7, delta.length, Buffer.from(two, "hex"), delta),
        [two]: packed(7, delta.length, Buffer.from(one, "hex"), delta)
      })
      assert.strictEqual((yield* Effect.flip(repository.object(one))).reason, "Corrupt")
      assert.strictEqual((yield* Effect.flip(repository.objectInfo(one))).reason, "Corrupt")
    })
  )

  it("if a delta exceeds its base, its own end or its result", () => {
    const deltas = {
      "beyond the base": [10, 20, 0x91, 5, 20],
      "beyond the object, by inserting": [10, 3, 5, 1, 2, 3, 4, 5],
      "beyond the object, by copying": [10, 3, 0x90, 10],
      "beyond its own end": [10, 5, 5, 1, 2],
      "cut in an instruction": [10, 3, 0x91],
      "cut in a size": [10, 0x85],
      "no instruction": [10, 5, 0, 5, 1, 2, 3, 4, 5],
      "larger than it can be": [10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 1]
    }
    for (const [what, delta] of Object.entries(deltas)) {
      assert.throws(() => applyDelta(Buffer.from("0123456789"), Buffer.from(delta)), EngineError, "", what)
    }
    assert.strictEqual(
      Buffer.from(
        applyDelta(Buffer.from("0123456789"), Buffer.from([10, 4, 0x91, 8, 2, 2, 65, 66]))
      ).toString(),
      "89AB"
    )
  })
})

it.scopedLive("an intact copy of an object is used if another copy is damaged, as by Git", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false })
    const { directory } = repository
    const content = randomBytes(2_000)
    yield* write(repository, [put("a", content)])
    const oid = git(directory, "rev-parse", "main:a").trim() as Oid
    const [pack] = fs.readdirSync(`${directory}/objects/pack`).filter((name) => name.endsWith(".pack"))
    const file = `${directory}/objects/pack/${pack}`
    const bytes = fs.readFileSync(file)
    fs.chmodSync(file, 0o644)
    fs.writeFileSync(
      file,
      bytes.map((byte, at) => (at > 500 && at < 1_500 ? byte ^ 0x55 : byte))
    )
    assert.strictEqual((yield* Effect.flip(repository.object(oid))).reason, "Corrupt")
    yield* repository.writeObject("blob", content)
    const found = Option.getOrThrow(yield* repository.object(oid))
    assert.isTrue(content.equals(found.content))
  })
)

it.scopedLive("a branch with a missing commit is corrupt, not absent", () =>
  Effect.gen(function* () {
    const repository = yield* engine()
    yield* write(repository, [put("a", "1")])
    fs.writeFileSync(`${repository.directory}/refs/heads/broken`, `${one}\n`)
    assert.strictEqual((yield* Effect.flip(repository.resolve("broken"))).reason, "Corrupt")
    assert.isTrue(Option.isNone(yield* repository.resolve(one)))
  })
)

it.scopedLive("a damaged object is intact after it is written again", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false })
    for (const size of [1_000, 200_000]) {
      const content = randomBytes(size)
      const streamed = repository.writeBlob(size, Stream.make(new Uint8Array(content)))
      for (const write of [repository.writeObject("blob", content), streamed]) {
        const oid = yield* repository.writeObject("blob", content)
        const file = `${repository.directory}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`
        fs.chmodSync(file, 0o644)
        fs.truncateSync(file, size / 2)
        assert.strictEqual((yield* Effect.flip(repository.object(oid))).reason, "Corrupt")
        assert.strictEqual(yield* write, oid)
        const found = Option.getOrThrow(yield* repository.object(oid))
        assert.isTrue(content.equals(found.content))
      }
    }
  })
)

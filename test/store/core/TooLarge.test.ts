import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import * as zlib from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Option, Stream } from "effect"
import { maxDocumentBytes, maxDocumentValues } from "../../../src/domain/json/JsonText.js"
import { maxWholeBytes, TooLargeObject } from "../../../src/git/disk/files/EngineError.js"
import { inflate } from "../../../src/git/disk/packs/Deflate.js"
import { applyDelta } from "../../../src/git/disk/packs/Delta.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../src/store/Store.js"
import { foreignCommit } from "./ForeignCommit.js"
import { connect, directory, remotes } from "./Remotes.js"

/** A size in the notation of deltas. */
const sizeBytes = (size: number): Array<number> =>
  size < 128 ? [size] : [(size % 128) | 0x80, ...sizeBytes(Math.floor(size / 128))]

describe("an object that is too large for the memory", () => {
  it("is refused before it is inflated or built from a delta", () => {
    const tooLarge = maxWholeBytes + 1
    assert.throws(() => inflate(randomBytes(tooLarge / 1000), 0, tooLarge), TooLargeObject)
    const base = new Uint8Array(65_536)
    const copyBase = [0x80]
    const copies = Array.from({ length: maxWholeBytes / base.length + 1 }, () => copyBase).flat()
    const delta = Uint8Array.from([
      ...sizeBytes(base.length),
      ...sizeBytes(maxWholeBytes + base.length),
      ...copies
    ])
    assert.throws(() => applyDelta(base, delta), TooLargeObject)
  })

  it.scopedLive("fails the reads of its file, and nothing else", () =>
    Effect.gen(function* () {
      const place = yield* directory
      const repository = path.join(place, "local", "store.git")
      fs.mkdirSync(repository, { recursive: true })
      const git = (args: ReadonlyArray<string>, input?: string | Buffer) =>
        execFileSync("git", args, { cwd: repository, ...(input === undefined ? {} : { input }) })
          .toString()
          .trim()
      git(["init", "-q", "--bare", "-b", "main"])
      // The file of a loose object tells its size, and no read has to look at its other bytes.
      const huge = "1".repeat(40)
      const file = path.join(repository, "objects", huge.slice(0, 2), huge.slice(2))
      fs.mkdirSync(path.dirname(file), { recursive: true })
      const content = Buffer.concat([Buffer.from("blob 3000000000\0"), randomBytes(3_000_000)])
      fs.writeFileSync(file, zlib.deflateSync(content))
      const small = git(["hash-object", "-w", "--stdin"], '{"_id": "a"}')
      const people = git(["mktree"], `100644 blob ${small}\ta.json\n100644 blob ${huge}\thuge.json\n`)
      const data = git(["mktree"], `040000 tree ${people}\tpeople\n`)
      const root = git(["mktree"], `040000 tree ${data}\tdata\n`)
      const author = ["-c", "user.name=A", "-c", "user.email=a@b"]
      git(["update-ref", "refs/heads/main", git([...author, "commit-tree", root, "-m", "huge"])])

      const remote = yield* LocalGit.scoped({ directory: place, durability: "none", maintenance: false })
      const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
      const collection = store.collection("people")
      const error = yield* Effect.flip(collection.get("huge"))
      assert.strictEqual(error._tag, "RemoteError")
      assert.include(error.message, `Object ${huge} has 3000000000 bytes`)
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(collection.all())))._tag, "RemoteError")
      assert.deepStrictEqual(yield* collection.list(), ["a", "huge"])
      assert.isTrue(Option.isSome(yield* collection.get("a")))
      yield* collection.insert({ n: 1 }, { id: "b" })
    })
  )
})

describe.each(remotes)("a document that is too large, on %s", (_name, layer) => {
  it.scopedLive("is not written, and one of another program is unreadable until it is replaced", () =>
    Effect.gen(function* () {
      const remote = yield* connect(layer)
      const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
      const collection = store.collection("people")
      const text = "x".repeat(maxDocumentBytes)
      const refused = yield* Effect.flip(collection.insert({ text }, { id: "a" }))
      assert.strictEqual(refused._tag, "ValidationError")
      assert.include(refused.message, "exceeds 100 MiB or 5 million values")
      const values = Array.from<number>({ length: maxDocumentValues }).fill(1)
      const many = yield* Effect.flip(collection.insert({ values }, { id: "a" }))
      assert.include(many.message, "exceeds 100 MiB or 5 million values")
      for (const document of [{ text }, { values }]) {
        const content = new TextEncoder().encode(JSON.stringify(document))
        yield* foreignCommit(remote, { _tag: "Put", path: "data/people/a.json", content })
        const unreadable = yield* Effect.flip(collection.get("a"))
        assert.strictEqual(unreadable._tag, "ValidationError")
        assert.match(unreadable.message, /exceeds 100 MiB or 5 million values/)
        const all = yield* Stream.runCollect(collection.all({ onInvalid: "skip" }))
        assert.isTrue(Chunk.isEmpty(all))
      }
      yield* store.batch({}, (batch) => batch.put("people", "a", { n: 1 }))
      assert.strictEqual(Option.getOrThrow(yield* collection.get("a"))["n"], 1)
    })
  )
})

import * as crypto from "node:crypto"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Chunk, Effect, FastCheck, Option, Stream, TestClock } from "effect"
import isomorphic from "isomorphic-git"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import type { GitRepository, ObjectType } from "../../../src/git/disk/port/GitRepository.js"
import type { Change } from "../../../src/store/remote/GitRemote.js"
import { assertSound, engine, git, put, remove, write } from "./support/temporary.js"

/** Compares every object of the repository as read by both oracles and by the engine. */
const compareAll = (repository: GitRepository) =>
  Effect.gen(function* () {
    const { directory } = repository
    const lines = git(directory, "cat-file", "--batch-all-objects", "--batch-check").trim().split("\n")
    for (const line of lines) {
      const [oid = "", type = "", size = ""] = line.split(" ")
      const ours = Option.getOrThrow(yield* repository.object(oid as Oid))
      const info = Option.getOrThrow(yield* repository.objectInfo(oid as Oid))
      assert.deepStrictEqual(info, { type: type as ObjectType, size: Number(size) })
      assert.strictEqual(ours.type, type)
      const theirs = yield* Effect.promise(() =>
        isomorphic.readObject({ fs, gitdir: directory, oid, format: "content", cache: {} })
      )
      assert.strictEqual(theirs.type, type)
      assert.isTrue(Buffer.from(theirs.object as Uint8Array).equals(ours.content), `${type} ${oid}`)
      const hashed = crypto.createHash("sha1").update(`${type} ${size}\0`).update(ours.content).digest("hex")
      assert.strictEqual(hashed, oid)
    }
    return lines.length
  })

describe("objects", () => {
  it.scopedLive(
    "written objects are read by stock Git and by isomorphic-git, before and after repacking",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine()
        const documents = Array.from({ length: 60 }, (_, i) =>
          put(`data/users/${i}.json`, `${JSON.stringify({ i, text: "é".repeat(i * 40) })}\n`)
        )
        yield* write(repository, documents)
        yield* Effect.forEach(
          documents.slice(0, 30),
          (change) => write(repository, [{ ...change, path: `${change.path}.copy` }]),
          {
            concurrency: "unbounded"
          }
        )
        yield* write(repository, [
          put("empty", ""),
          put("large", crypto.randomBytes(300_000)),
          put("a b/ü/😀", "x")
        ])
        yield* repository.writeObject("blob", Buffer.from("alone"))
        yield* repository.writeObject("blob", Buffer.from("y".repeat(200_000)))
        assert.isAbove(yield* compareAll(repository), 150)
        assertSound(repository.directory)
        git(repository.directory, "gc", "-q", "--aggressive")
        assert.isAbove(yield* compareAll(repository), 150)
        assertSound(repository.directory)
      }),
    60_000
  )

  it.scopedLive("trees of one flush are deltas, in chains of fifty at most", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      yield* write(
        repository,
        Array.from({ length: 2_000 }, (_, i) => put(`data/${i}`, `${i}`))
      )
      yield* Effect.forEach(Arr.range(1, 130), (i) => write(repository, [put(`data/new-${i}`, `${i}`)]), {
        concurrency: "unbounded"
      })
      const packs = fs
        .readdirSync(`${repository.directory}/objects/pack`)
        .filter((name) => name.endsWith(".idx"))
      assert.isBelow(packs.length, 10)
      const said = packs
        .map((name) => git(repository.directory, "verify-pack", "-v", `objects/pack/${name}`))
        .join("")
      const depths = [...said.matchAll(/^\w{40} tree +\d+ \d+ \d+ (\d+) \w{40}$/gm)].map(([, depth]) =>
        Number(depth)
      )
      assert.isAbove(depths.length, 60)
      assert.strictEqual(Math.max(...depths) <= 50, true)
      assert.strictEqual(git(repository.directory, "rev-list", "--count", "main").trim(), "131")
      assertSound(repository.directory)
    })
  )

  it.scopedLive("a commit in another encoding is read as by git log", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { tree } = yield* write(repository, [put("a", "1")])
      for (const [encoding, bytes, text] of [
        ["ISO-8859-1", "Ren\xe9e", "Renée"],
        ["windows-1251", "\xcf\xf0\xe8", "При"],
        ["unheard-of", "plain", "plain"]
      ] as const) {
        const commit = `tree ${tree}\nauthor ${bytes} <a@b> 1 +0000\ncommitter ${bytes} <a@b> 1 +0000\nencoding ${encoding}\n\n${bytes}\n`
        const oid = yield* repository.writeObject("commit", Buffer.from(commit, "latin1"))
        const read = Option.getOrThrow(yield* repository.commit(oid))
        assert.deepStrictEqual([read.author.name, read.message], [text, text])
        const logged = yield* Stream.runCollect(repository.log(oid))
        assert.deepStrictEqual(Chunk.toReadonlyArray(logged), [read])
      }
    })
  )

  it.scopedLive("an object that only stock Git knows (of an alternate) is found", () =>
    Effect.gen(function* () {
      const lender = yield* engine()
      const { commit } = yield* write(lender, [put("borrowed/file", "lent")])
      const repository = yield* engine()
      fs.writeFileSync(`${repository.directory}/objects/info/alternates`, `${lender.directory}/objects\n`)
      const entry = Option.getOrThrow(yield* repository.lookup(commit, "borrowed/file"))
      const blob = Option.getOrThrow(yield* repository.object(entry.oid))
      assert.strictEqual(Buffer.from(blob.content).toString(), "lent")
      assert.isTrue(Option.isNone(yield* repository.object("1".repeat(40) as Oid)))
    })
  )

  it.scopedLive("returned arrays are copies", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { blobs } = yield* write(repository, [put("a", "content")])
      const oid = blobs.get("a")!
      for (let i = 0; i < 2; i++) {
        const blob = Option.getOrThrow(yield* repository.object(oid))
        assert.strictEqual(Buffer.from(blob.content).toString(), "content")
        blob.content.fill(0)
        const [streamed] = Chunk.toReadonlyArray(yield* Stream.runCollect(repository.blobs([oid])))
        assert.strictEqual(Buffer.from(streamed!.content).toString(), "content")
        streamed!.content.fill(0)
      }
    })
  )
})

describe("trees", () => {
  const names = FastCheck.constantFrom("a", "a.b", "a-b", "a0", "b", "ab", "ü", "c", "A")
  const paths = FastCheck.array(names, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("/"))
  const step = FastCheck.dictionary(paths, FastCheck.option(FastCheck.constantFrom("1", "2", "3")), {
    maxKeys: 8
  })

  it.scopedLive(
    "a random program of changes gives the trees that stock Git would write",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine({ durability: "none", maintenance: false })
        const runs = FastCheck.sample(FastCheck.array(step, { maxLength: 6 }), { numRuns: 40, seed: 7 })
        for (const [run, program] of runs.entries()) {
          const model = new Map<string, string>()
          for (const changes of program) {
            const wanted: Array<Change> = []
            for (const [file, content] of Object.entries(changes)) {
              const clash = [...model.keys(), ...wanted.map(({ path }) => path)].some(
                (other) => other.startsWith(`${file}/`) || file.startsWith(`${other}/`)
              )
              if (clash || (content === null && !model.has(file))) continue
              wanted.push(content === null ? remove(file) : put(file, content))
            }
            for (const change of wanted) {
              if (change._tag === "Put") model.set(change.path, Buffer.from(change.content).toString())
              else model.delete(change.path)
            }
            const made = yield* write(repository, wanted, { branch: `run-${run}` })
            const listed = git(
              repository.directory,
              "-c",
              "core.quotePath=false",
              "ls-tree",
              "-r",
              made.commit
            )
            const expected = [...model].map(([file, content]) => {
              const oid = crypto.createHash("sha1").update(`blob ${content.length}\0${content}`).digest("hex")
              return `100644 blob ${oid}\t${file}`
            })
            const lines = listed.split("\n").filter((line) => line !== "")
            assert.deepStrictEqual([...lines].sort(), expected.sort())
            const read = Option.getOrThrow(yield* repository.tree(made.commit, "", { recursive: true }))
            assert.deepStrictEqual(
              read.entries.map((entry) => `${entry.mode} ${entry.kind} ${entry.oid}\t${entry.path}`),
              lines
            )
          }
        }
        assertSound(repository.directory)
      }),
    60_000
  )

  it.scopedLive("diff equals `git diff-tree`", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ durability: "none", maintenance: false })
      const { directory } = repository
      const first = yield* write(repository, [
        put("a", "1"),
        put("a.b/c", "1"),
        put("d/e/f", "1"),
        put("d/g", "1"),
        put("z", "1")
      ])
      const second = yield* write(repository, [
        remove("a"),
        put("a/b", "2"),
        remove("d/e/f"),
        put("d/e.f", "3"),
        put("z", "2")
      ])
      const expected = git(directory, "diff-tree", "-r", "--no-renames", first.tree, second.tree)
        .trim()
        .split("\n")
        .map((line) => {
          const [, , before, after, , file] = line.split(/[ \t]/)
          const some = (oid = "") => (/^0+$/.test(oid) ? Option.none<string>() : Option.some(oid))
          return { path: file, before: some(before), after: some(after) }
        })
      const byPath = (
        a: { readonly path?: string | undefined },
        b: { readonly path?: string | undefined }
      ) => ((a.path ?? "") < (b.path ?? "") ? -1 : 1)
      const ours = yield* repository.diff(Option.some(first.commit), second.commit)
      assert.deepStrictEqual([...ours].sort(byPath), expected.sort(byPath) as never)
      const under = yield* repository.diff(Option.some(first.commit), second.commit, "d")
      assert.deepStrictEqual(
        under.map(({ path }) => path),
        ["d/e.f", "d/e/f"]
      )
    })
  )
})

it.scoped("commits are dated by the clock, and a given author is kept", () =>
  Effect.gen(function* () {
    const repository = yield* engine()
    yield* TestClock.setTime(Date.UTC(2031, 1, 3, 4, 5, 6))
    const { committed } = yield* repository.commitNext("main", () =>
      Effect.succeed({
        commit: Option.some({
          message: "two\n\nlines",
          author: { name: "Ada", email: "ada@example.org" },
          changes: [put("a", "1")]
        }),
        result: undefined
      })
    )
    const made = Option.getOrThrow(committed)
    const said = git(repository.directory, "log", "-1", "--format=%an <%ae> %aI %cn %B", made.commit).trim()
    assert.strictEqual(said, "Ada <ada@example.org> 2031-02-03T04:05:06+00:00 Ada two\n\nlines")
    const info = Option.getOrThrow(yield* repository.commit(made.commit))
    assert.strictEqual(info.message, "two\n\nlines")
    const [logged] = Chunk.toReadonlyArray(yield* Stream.runCollect(repository.log(made.commit)))
    assert.deepStrictEqual(logged, info)
    const plain = yield* write(repository, [put("b", "1")])
    assert.strictEqual(
      git(repository.directory, "log", "-1", "--format=%cn <%ce>", plain.commit).trim(),
      "Chainstore <chainstore@localhost>"
    )
  })
)

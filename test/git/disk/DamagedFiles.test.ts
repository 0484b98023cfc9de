import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Option, Stream } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import type { RemoteFailure } from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import { isWhole } from "../../support/vitest/caseSelection.js"
import { git, put, temporary, write } from "./support/temporary.js"

/** Pseudo-random bytes, the same in every run. */
const garbage = (size: number, seed: string): Buffer => {
  const pieces: Array<Buffer> = []
  for (let n = 0; n * 20 < size; n++) pieces.push(createHash("sha1").update(`${seed} ${n}`).digest())
  return Buffer.concat(pieces).subarray(0, size)
}

/** The kinds of damage. The seed is the name of the file. */
const damages: Readonly<Record<string, (bytes: Buffer, seed: string) => Buffer>> = {
  "cut in half": (bytes) => bytes.subarray(0, bytes.length >> 1),
  "cut by a byte": (bytes) => bytes.subarray(0, Math.max(0, bytes.length - 1)),
  emptied: () => Buffer.alloc(0),
  "filled with zeros": (bytes) => Buffer.alloc(bytes.length),
  "filled with garbage": (bytes, seed) => garbage(bytes.length, seed),
  "filled with garbage in the middle": (bytes, seed) => {
    const from = Math.floor(bytes.length * 0.4)
    const size = Math.ceil(bytes.length * 0.3)
    return Buffer.concat([
      bytes.subarray(0, from),
      garbage(size, seed).subarray(0, bytes.length - from),
      bytes.subarray(from + size)
    ])
  }
}

/** Files that Git derives from packs and history, and that it works without. */
const derived = /\/(multi-pack-index.*|.*\.(bitmap|rev)|commit-graph.*|graph-.*)$/

/** A repository with every kind of file that Git and the engine write. */
const specimen = Effect.gen(function* () {
  const root = yield* temporary
  const directory = path.join(root, "whole.git")
  const lender = path.join(root, "lender.git")
  yield* Effect.scoped(
    Effect.gen(function* () {
      const repository = yield* Engine.open({ directory: lender, create: true, maintenance: false })
      yield* write(repository, [put("data/0", "lent")])
    })
  )
  git(root, "clone", "-q", "--bare", "--shared", "lender.git", "whole.git")
  for (const unread of ["hooks", "description"])
    fs.rmSync(path.join(directory, unread), { recursive: true, force: true })
  yield* Effect.scoped(
    Effect.gen(function* () {
      const repository = yield* Engine.open({ directory, maintenance: false })
      for (let n = 1; n < 5; n++) yield* write(repository, [put(`data/${n}`, `document ${n}`)])
      git(directory, "-c", "pack.writeReverseIndex=true", "repack", "-q", "-a", "-d", "-l")
      for (let n = 5; n < 8; n++) yield* write(repository, [put(`data/${n}`, `document ${n}`)])
      git(directory, "-c", "core.multiPackIndex=true", "multi-pack-index", "write")
      git(directory, "commit-graph", "write", "--reachable", "--changed-paths", "--split")
      git(directory, "branch", "packed", "main~2")
      git(directory, "branch", "other", "main~1")
      git(directory, "tag", "-a", "-m", "a tag", "v1", "main~1")
      git(directory, "pack-refs", "--all")
      git(directory, "branch", "loose", "main~1")
      git(directory, "update-server-info")
      fs.writeFileSync(path.join(directory, "shallow"), git(directory, "rev-list", "--max-parents=0", "main"))
      yield* repository.writeObject("blob", Buffer.from("a loose object"))
    })
  )
  return directory
})

const files = (directory: string): ReadonlyArray<string> =>
  fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .sort()

type Answers = Readonly<Record<string, Either.Either<string, RemoteFailure>>>

const text = (content: Uint8Array) => Buffer.from(content).toString()
const json = (value: unknown) => JSON.stringify(value)

/** The result or the error of every read of the repository. */
const ask = (repository: GitRepository, head: Oid, loose: Oid): Effect.Effect<Answers> => {
  const content = (at: string) =>
    Effect.map(
      LocalGit.fromRepository(repository).file(head, at),
      Option.match({ onNone: () => "no file", onSome: (found) => text(found.content) })
    )
  const object = (oid: Oid) =>
    Effect.map(
      repository.object(oid),
      Option.match({ onNone: () => "no object", onSome: (found) => text(found.content) })
    )
  const questions: Record<string, Effect.Effect<unknown, RemoteFailure>> = {
    "the default branch": repository.defaultBranch,
    refs: repository.refs("refs/"),
    "a packed ref": repository.ref("refs/heads/main"),
    "a loose ref": repository.ref("refs/heads/loose"),
    "a tag": repository.resolve("v1"),
    "a branch": repository.resolve("main"),
    "a commit by its id": repository.resolve(head),
    "a commit by the beginning of its id": repository.resolve(head.slice(0, 12)),
    "the log of a path": Effect.map(Stream.runCollect(repository.log(head, { path: "data/2" })), (all) =>
      Chunk.toReadonlyArray(all).map(({ commit }) => commit)
    ),
    "a directory": Effect.map(
      repository.tree(head, "data"),
      Option.map(({ entries }) => entries)
    ),
    "a loose object": object(loose),
    "the lent document": content("data/0"),
    "an early document": content("data/2"),
    "a late document": content("data/7")
  }
  return Effect.forEach(Object.entries(questions), ([question, answer]) =>
    Effect.map(Effect.either(Effect.map(answer, json)), (either) => [question, either] as const)
  ).pipe(Effect.map((all) => Object.fromEntries(all)))
}

/** Pack indexes are read whole, or in parts like those of large packs. */
const readings = { whole: Number.POSITIVE_INFINITY, "in parts": 0 }

const opened = (directory: string, packIndex = readings.whole) =>
  Engine.open({ directory, maintenance: false, timeout: 300, caches: { packIndex } })

/** The reads with wrong results. An error is never wrong. */
const wrongIn = (before: Answers, now: Answers): ReadonlyArray<string> =>
  Object.entries(now).flatMap(([question, answer]) =>
    Either.isRight(answer) && answer.right !== Either.getOrThrow(before[question]!)
      ? [`${question}: ${answer.right}`]
      : []
  )

describe("a repository with one damaged file", () => {
  it.scopedLive(
    "fails or returns its content, never appears empty, and is never overwritten",
    () =>
      Effect.gen(function* () {
        const whole = yield* specimen
        const head = git(whole, "rev-parse", "main").trim() as Oid
        const refs = git(whole, "for-each-ref")
        const looseOid = createHash("sha1").update("blob 14\0a loose object").digest("hex") as Oid
        const before = yield* Effect.scoped(
          Effect.flatMap(opened(whole), (repository) => ask(repository, head, looseOid))
        )
        for (const [question, answer] of Object.entries(before)) {
          assert.isTrue(Either.isRight(answer), `${question}: ${json(answer)}`)
        }
        const wrong: Array<string> = []
        const damaged = path.join(path.dirname(whole), "damaged.git")
        const place = path.join(damaged, "chainstore")
        let trial = 0
        assert.isAtLeast(files(whole).filter((file) => derived.test(file)).length, 4)
        for (const file of files(whole)) {
          const bytes = fs.readFileSync(path.join(whole, file))
          const trials = Object.entries(damages).flatMap(([name, damage]) =>
            Object.entries(readings).map(([reading, packIndex]) => ({ name, damage, reading, packIndex }))
          )
          for (const { damage, name, packIndex, reading } of trials) {
            if (packIndex === 0 && !file.endsWith(".idx")) continue
            const isMended = file.endsWith(".idx") && name === "filled with garbage"
            if (!isWhole && !isMended && trial++ % 3 > 0) continue
            const which = `${file} ${name}, indexes read ${reading}`
            const now = damage(bytes, file)
            if (now.equals(bytes)) continue
            fs.rmSync(damaged, { recursive: true, force: true })
            fs.cpSync(whole, damaged, { recursive: true })
            fs.rmSync(place, { recursive: true, force: true })
            fs.rmSync(path.join(damaged, file))
            fs.writeFileSync(path.join(damaged, file), now)
            yield* Effect.scoped(
              Effect.gen(function* () {
                const repository = yield* Effect.either(opened(damaged, packIndex))
                if (Either.isLeft(repository)) return
                const answers = yield* ask(repository.right, head, looseOid)
                for (const question of wrongIn(before, answers)) wrong.push(`${which}: ${question}`)
                const broken = (of: Answers) =>
                  Object.entries(of).flatMap(([question, answer]) =>
                    Either.isLeft(answer) ? [`${which}: ${question}: ${answer.left.message}`] : []
                  )
                if (derived.test(file)) wrong.push(...broken(answers))
                if (isMended) {
                  yield* repository.right.maintain
                  const mended = yield* ask(repository.right, head, looseOid)
                  wrong.push(...broken(mended), ...wrongIn(before, mended))
                  const { code, message } = (yield* repository.right.health)[0] ?? { code: "", message: "" }
                  if (code !== "repaired") wrong.push(`${which}: doctor says ${code} ${message}`)
                }
                const written = yield* Effect.either(write(repository.right, [put("data/new", "new")]))
                if (Either.isRight(written)) {
                  const { commit } = written.right
                  const { parents } = Option.getOrThrow(yield* repository.right.commit(commit))
                  if (parents[0] !== head) wrong.push(`${which}: written on ${parents[0] ?? "nothing"}`)
                }
                const other = Option.fromNullable(
                  /^(\w+) commit\trefs\/heads\/other$/m.exec(refs)?.[1] as Oid | undefined
                )
                const deleted = yield* Effect.either(
                  repository.right.updateRef("refs/heads/other", other, Option.none())
                )
                if (Either.isRight(deleted)) {
                  const left = yield* Effect.either(repository.right.refs("refs/heads/"))
                  if (Either.isRight(left)) {
                    const names = left.right.map(({ name }) => name.slice("refs/heads/".length))
                    if (names.join() !== "loose,main,packed") wrong.push(`${which}: left ${names.join()}`)
                  }
                }
              })
            )
          }
        }
        assert.deepStrictEqual(wrong, [])
      }),
    120_000
  )
})

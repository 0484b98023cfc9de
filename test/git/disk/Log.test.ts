import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, FastCheck as fc, Option, Stream } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import { engine } from "./support/temporary.js"

const paths = ["a", "d/b", "d/e/c"]

/** Runs an effect while no program can be started. */
const withoutGit = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const path = process.env["PATH"]
      process.env["PATH"] = "/nowhere"
      return path
    }),
    () => effect,
    (path) =>
      Effect.sync(() => {
        process.env["PATH"] = path
      })
  )

/** Commits `0` to `count - 1` on the branch main: the first one writes all files, each further one the file of its number. */
const fastImport = (directory: string, count: number, files: number) => {
  const file = (n: number, content: string) => `M 100644 inline d/${n}\ndata ${content.length}\n${content}\n`
  const commits = Array.from({ length: count }, (_, n) => {
    const head = `commit refs/heads/main\ncommitter A <a@b> ${1_700_000_000 + n} +0000\ndata ${`${n}`.length}\n${n}\n`
    return n === 0
      ? head + Array.from({ length: files }, (_, at) => file(at, "0")).join("")
      : head + file(n % files, `${n}`)
  })
  execFileSync("git", ["fast-import", "--quiet"], { cwd: directory, input: commits.join("") })
}

/** Commits with their parents, as distances back, the errors of their clocks, and the files that they have. */
const histories = fc.array(
  fc.record({
    parents: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 3 }),
    skew: fc.integer({ min: -30, max: 30 }),
    files: fc.tuple(...paths.map(() => fc.nat({ max: 2 })))
  }),
  { minLength: 8, maxLength: 14 }
)

describe("the log of a short history", () => {
  it.scopedLive("is that of stock Git, for every path, with merges and with any clocks", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", args, { cwd: repository.directory, encoding: "utf8" })
      let simplified = 0
      for (const [round, history] of fc.sample(histories, { numRuns: 5, seed: 7 }).entries()) {
        const made: Array<Oid> = []
        for (const [index, { files, parents, skew }] of history.entries()) {
          const changes = []
          for (const [at, content] of files.entries()) {
            if (content === 0) continue
            const oid = yield* repository.writeObject("blob", Buffer.from(`${content}`))
            changes.push({ path: paths[at]!, mode: "100644" as const, oid: Option.some(oid) })
          }
          const person = {
            name: "P",
            email: "p@example.org",
            seconds: 1_700_000_000 + index * 10 + skew,
            offset: 0
          }
          made.push(
            yield* repository.writeCommit({
              tree: yield* repository.writeTree(Option.none(), changes),
              parents: [...new Set(parents.flatMap((back) => made[made.length - 1 - back] ?? []))],
              author: person,
              committer: person,
              message: `${round}.${index}`
            })
          )
        }
        const tip = made.at(-1)!
        for (const path of [undefined, ...paths, "d", "missing"]) {
          for (const { limit, skip } of [{}, { limit: 2, skip: 2 }] as ReadonlyArray<{
            readonly limit?: number
            readonly skip?: number
          }>) {
            const stock = git(
              "log",
              "--format=%H",
              ...(limit === undefined ? [] : [`--max-count=${limit}`]),
              ...(skip === undefined ? [] : [`--skip=${skip}`]),
              tip,
              "--",
              ...(path === undefined ? [] : [path])
            )
            const found = yield* Stream.runCollect(repository.log(tip, { path, limit, skip }))
            assert.deepStrictEqual(
              Chunk.toReadonlyArray(found).map(({ commit }) => commit),
              stock.split("\n").filter((line) => line !== "") as Array<Oid>,
              `round ${round}, path ${path}`
            )
            if (path !== undefined && found.length > 0 && found.length < made.length) simplified++
          }
        }
      }
      assert.isAbove(simplified, 0, "some commits change no path")
    })
  )

  it.scopedLive("needs no Git process", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      for (const content of ["1", "2"]) {
        yield* repository.commitNext("main", () =>
          Effect.succeed({
            commit: Option.some({
              message: content,
              changes: [{ _tag: "Put", path: "a", content: Buffer.from(content) }]
            }),
            result: undefined
          })
        )
      }
      const head = Option.getOrThrow(yield* repository.ref("refs/heads/main"))
      const found = yield* withoutGit(Stream.runCollect(repository.log(head, { path: "a" })))
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(found).map(({ message }) => message),
        ["2", "1"]
      )
    })
  )

  it.scopedLive("looks for no commit beyond its limit", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      fastImport(repository.directory, 300, 400)
      const head = Option.getOrThrow(yield* repository.ref("refs/heads/main"))
      const newest = yield* withoutGit(Stream.runCollect(repository.log(head, { path: "d/299", limit: 1 })))
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(newest).map(({ message }) => message),
        ["299"]
      )
      const none = yield* withoutGit(Stream.runCollect(repository.log(head, { path: "d/299", limit: 0 })))
      assert.lengthOf(none, 0)
    })
  )

  it.scopedLive(
    "is Git's where it would parse many bytes of directories, which nothing could interrupt",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        fastImport(repository.directory, 100, 5_000)
        const head = Option.getOrThrow(yield* repository.ref("refs/heads/main"))
        const log = Stream.runCollect(repository.log(head, { path: "d/4000", limit: 20 }))
        assert.strictEqual((yield* Effect.exit(withoutGit(log)))._tag, "Failure")
        assert.deepStrictEqual(
          Chunk.toReadonlyArray(yield* log).map(({ message }) => message),
          ["0"]
        )
      })
  )
})

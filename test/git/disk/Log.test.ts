import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, FastCheck as fc, Option, Stream } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import { engine } from "./support/temporary.js"

const paths = ["a", "d/b", "d/e/c"]

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
      const path = process.env["PATH"]
      process.env["PATH"] = "/nowhere"
      const found = yield* Effect.ensuring(
        Stream.runCollect(repository.log(head, { path: "a" })),
        Effect.sync(() => {
          process.env["PATH"] = path
        })
      )
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(found).map(({ message }) => message),
        ["2", "1"]
      )
    })
  )
})

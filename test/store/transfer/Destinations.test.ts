import { execFileSync } from "node:child_process"
import {
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Chunk, Deferred, Effect, Exit, Fiber, Layer, Stream } from "effect"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import { Store } from "../../../src/store/Store.js"
import { fromCsv } from "../../../src/store/transfer/FromCsv.js"

const opened = () => Layer.provide(Store.layer({}), Memory.layer())
const withStore = <A, E, R>(body: Effect.Effect<A, E, R | Store>) => Effect.provide(body, opened())
const collect = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)
const scratch = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-review-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

describe("destinations", () => {
  const seeded = Effect.gen(function* () {
    const store = yield* Store
    const things = store.collection("things")
    yield* things.importRecords(Array.from({ length: 20 }, (_, n) => ({ _id: `r${n}`, n })))
    return things
  })

  it.scopedLive("an export that ended well is not written into by another export to the same path", () =>
    withStore(
      Effect.gen(function* () {
        const directory = yield* scratch
        const file = join(directory, "out.ndjson")
        const store = yield* Store
        const [left, right] = [store.collection("left"), store.collection("right")]
        const rows = (side: string) =>
          Array.from({ length: 3000 }, (_, n) => ({ _id: `${side}${n}`, side: side.repeat(100) }))
        yield* left.importRecords(rows("l"), { chunkSize: 3000 })
        yield* right.importRecords(rows("r"), { chunkSize: 3000 })
        const started = yield* Deferred.make<void>()
        const goOn = yield* Deferred.make<void>()
        const slow = yield* Effect.fork(
          left.exportText(file, "ndjson", {
            onProgress: ({ documents }) =>
              documents > 1000
                ? Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(goOn))
                : Effect.void
          })
        )
        yield* Deferred.await(started)
        assert.strictEqual(yield* right.exportText(file, "ndjson"), 3000)
        yield* Deferred.succeed(goOn, undefined)
        yield* Fiber.await(slow)
        const lines = readFileSync(file, "utf8")
          .split("\n")
          .filter((line) => line !== "")
        const sides = new Set(lines.map((line) => /"side":"(.)/.exec(line)?.[1]))
        assert.strictEqual(sides.size, 1, "the finished file holds lines of both exports")
      })
    ).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("a file called NAME.partial that was there before survives an export to NAME", () =>
    withStore(
      Effect.gen(function* () {
        const directory = yield* scratch
        const things = yield* seeded
        writeFileSync(join(directory, "a.csv.partial"), "mine")
        yield* things.exportText(join(directory, "a.csv"), "csv")
        assert.isTrue(existsSync(join(directory, "a.csv.partial")), "a file of the user is gone")
      })
    ).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("an export to a symbolic link writes the file that it points to", () =>
    withStore(
      Effect.gen(function* () {
        const directory = yield* scratch
        const things = yield* seeded
        writeFileSync(join(directory, "real.csv"), "old")
        symlinkSync(join(directory, "real.csv"), join(directory, "latest.csv"))
        yield* things.exportText(join(directory, "latest.csv"), "csv")
        assert.isTrue(
          lstatSync(join(directory, "latest.csv")).isSymbolicLink(),
          "the link was replaced by a file"
        )
        assert.include(readFileSync(join(directory, "real.csv"), "utf8"), "r19")
      })
    ).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("an export through a symbolic link to a missing file creates that file", () =>
    withStore(
      Effect.gen(function* () {
        const directory = yield* scratch
        const things = yield* seeded
        mkdirSync(join(directory, "sub"))
        const link = (target: string, name: string) => symlinkSync(target, join(directory, name))
        link("sub/hop", "relative")
        link(join(directory, "sub", "b.csv"), "absolute")
        link("a.csv", "sub/hop")
        link("nowhere/c.csv", "lost")
        link("loop", "loop")
        for (const [name, target] of [
          ["relative", "sub/a.csv"],
          ["absolute", "sub/b.csv"]
        ] as const) {
          yield* things.exportText(join(directory, name), "csv")
          assert.isTrue(lstatSync(join(directory, name)).isSymbolicLink(), name)
          assert.include(readFileSync(join(directory, target), "utf8"), "r19")
        }
        for (const name of ["lost", "loop"]) {
          const failed = yield* Effect.flip(things.exportText(join(directory, name), "csv"))
          assert.strictEqual(failed._tag, "DestinationError")
          assert.isTrue(lstatSync(join(directory, name)).isSymbolicLink(), name)
        }
        assert.deepStrictEqual(readdirSync(directory).sort(), ["absolute", "loop", "lost", "relative", "sub"])
        assert.deepStrictEqual(readdirSync(join(directory, "sub")).sort(), ["a.csv", "b.csv", "hop"])
      })
    ).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("an export to a named pipe is read at its other end, and the pipe stays", () =>
    withStore(
      Effect.gen(function* () {
        const directory = yield* scratch
        const things = yield* seeded
        const pipe = join(directory, "pipe")
        execFileSync("mkfifo", [pipe])
        const reader = yield* Effect.fork(Effect.promise(() => readFile(pipe, "utf8")))
        assert.strictEqual(yield* things.exportText(pipe, "csv"), 20)
        assert.include(yield* Fiber.join(reader), "r19,")
        assert.isTrue(lstatSync(pipe).isFIFO())
      })
    ).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("a file that is replaced keeps its rights", () =>
    withStore(
      Effect.gen(function* () {
        const directory = yield* scratch
        const things = yield* seeded
        const file = join(directory, "a.csv")
        writeFileSync(file, "old", { mode: 0o600 })
        let readable = 0
        let unfinished = 0
        const onProgress = () =>
          Effect.sync(() => {
            const others = readdirSync(directory).filter((name) => name !== "a.csv")
            unfinished += others.length
            readable |=
              others.reduce((modes, name) => modes | lstatSync(join(directory, name)).mode, 0) & 0o077
          })
        yield* things.exportText(file, "csv", { onProgress })
        assert.isAbove(unfinished, 0)
        assert.strictEqual(readable, 0, "others could read the file while it was written")
        assert.strictEqual(lstatSync(file).mode & 0o777, 0o600)
      })
    ).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("guardFormulas guards the header too", () =>
    withStore(
      Effect.gen(function* () {
        const directory = yield* scratch
        const things = (yield* Store).collection("things")
        yield* things.insert({ '=HYPERLINK("http://evil","x")': 1 }, { id: "a" })
        yield* things.exportText(join(directory, "a.csv"), "csv", { guardFormulas: true })
        const header = readFileSync(join(directory, "a.csv"), "utf8").split("\r\n")[0]!
        assert.notMatch(header, /(^|,)"?=/)
      })
    ).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("a CSV of one column keeps rows whose cell is empty when it is read again", () =>
    withStore(
      Effect.gen(function* () {
        const directory = yield* scratch
        const file = join(directory, "a.csv")
        const things = (yield* Store).collection("things")
        yield* things.importRecords([
          { _id: "a", note: "x" },
          { _id: "b", note: "" },
          { _id: "c", note: "z" }
        ])
        const count = yield* things.exportText(file, "csv", { columns: ["note"] })
        const again = yield* collect(fromCsv(createReadStream(file)))
        assert.strictEqual(again.length, count)
      })
    ).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("a limit that is no whole number is a typed error", () =>
    withStore(
      Effect.gen(function* () {
        const directory = yield* scratch
        const things = yield* seeded
        for (const limit of [1.5]) {
          const exit = yield* Effect.exit(things.exportText(join(directory, "a.csv"), "csv", { limit }))
          assert.isTrue(
            Exit.isFailure(exit) && Cause.isFailType(exit.cause),
            `limit ${limit}: ${JSON.stringify(exit)}`
          )
        }
      })
    ).pipe(Effect.provide(NodeContext.layer))
  )
})

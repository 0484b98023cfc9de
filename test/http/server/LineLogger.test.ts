import { execFileSync } from "node:child_process"
import { closeSync, constants, mkdtempSync, openSync, readSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { AccessEntry, LineLogger } from "chainstore/http"
import { Effect } from "effect"

/** A pipe that accepts what fits and then fails with EAGAIN, as standard output does with a slow reader. */
const pipe = Effect.acquireRelease(
  Effect.sync(() => {
    const path = join(mkdtempSync(join(tmpdir(), "pipe-")), "log")
    execFileSync("mkfifo", [path])
    return openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  }),
  (descriptor) => Effect.sync(() => closeSync(descriptor))
)

const available = (descriptor: number): Buffer => {
  const parts: Array<Buffer> = []
  for (;;) {
    const part = Buffer.alloc(65_536)
    try {
      parts.push(part.subarray(0, readSync(descriptor, part)))
    } catch {
      return Buffer.concat(parts)
    }
  }
}

const entry = (path: string) => new AccessEntry("id-1", "GET", path, 200, 1.5, 7, "127.0.0.1")

it.scopedLive("a reader that is slow gets every line as it was", () =>
  Effect.gen(function* () {
    const descriptor = yield* pipe
    const path = `/${"é€😀".repeat(100)}`
    const lines = 400
    let text = ""
    yield* Effect.gen(function* () {
      for (let line = 0; line < lines; line++) yield* Effect.log(entry(path))
      while (text.split("\n").length <= lines) {
        text += available(descriptor).toString("latin1")
        yield* Effect.sleep("3 millis")
      }
    }).pipe(Effect.provide(LineLogger.layer(descriptor)))
    const read = Buffer.from(text, "latin1").toString("utf8").trimEnd().split("\n")
    assert.lengthOf(read, lines)
    for (const line of read) assert.strictEqual(JSON.parse(line).path, path)
  })
)

it.scopedLive("a blocked reader costs no time and bounded memory, and gets the number of lost lines", () =>
  Effect.gen(function* () {
    const descriptor = yield* pipe
    let text = ""
    yield* Effect.gen(function* () {
      const line = Effect.log(entry(`/${"x".repeat(900)}`))
      const before = process.memoryUsage().heapUsed
      const started = performance.now()
      for (let count = 0; count < 6_000; count++) yield* line
      assert.isBelow(performance.now() - started, 2000)
      assert.isBelow(process.memoryUsage().heapUsed - before, 64 * 1024 * 1024)
      while (!text.includes("lines were dropped")) {
        text += available(descriptor).toString()
        yield* Effect.sleep("3 millis")
      }
    }).pipe(Effect.provide(LineLogger.layer(descriptor)))
    for (const one of text.trimEnd().split("\n").slice(0, -1)) JSON.parse(one)
  })
)

it.scopedLive("values that JSON cannot represent are logged, and do not end the logging program", () =>
  Effect.gen(function* () {
    const descriptor = yield* pipe
    const cycle: { [key: string]: unknown } = { n: 1 }
    cycle["again"] = [cycle]
    const shared = { n: 2 }
    const hostile = {
      toJSON: () => {
        throw new Error("not today")
      }
    }
    const given = [{ size: 1n }, cycle, hostile, [shared, shared]]
    yield* Effect.forEach(given, (value) =>
      Effect.annotateLogs(Effect.log("told", value), "given", value)
    ).pipe(Effect.provide(LineLogger.layer(descriptor)))
    const lines = available(descriptor)
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.lengthOf(lines, given.length)
    for (const { level, message } of lines) assert.deepStrictEqual([level, message[0]], ["INFO", "told"])
    assert.deepStrictEqual(lines[0].message[1], { size: "1" })
    assert.deepStrictEqual(lines[3].message[1], [shared, shared])
  })
)

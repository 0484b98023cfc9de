import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { bundled } from "../support/bundled.js"

const root = fileURLToPath(new URL("../..", import.meta.url))
const program = new URL("../../src/layers/bin/chainstore.ts", import.meta.url)

/** A command in a process of its own, over repositories in a directory of its own. */
const running = (
  [input, output]: readonly [input: "pipe" | number, output: "pipe" | number],
  ...line: ReadonlyArray<string>
) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const directory = mkdtempSync(join(tmpdir(), "chainstore-process-"))
        const start = [bundled(program), ...line, "--directory", directory]
        const child = spawn(process.execPath, start, {
          cwd: root,
          env: { PATH: process.env["PATH"] },
          stdio: [input, output, "pipe"]
        })
        return { child, directory }
      }),
      ({ child, directory }) =>
        Effect.sync(() => {
          child.kill("SIGKILL")
          rmSync(directory, { recursive: true, force: true })
        })
    ),
    ({ child, directory }) => ({ child, directory, end: ended(child) })
  )

const importLine = ["import", "things", "-", "--format", "ndjson"]

/** An import from standard input. */
const importing = (...options: ReadonlyArray<string>) => running(["pipe", "pipe"], ...importLine, ...options)

const textOf = (stream: Readable | null) => {
  const said = { text: "" }
  stream?.setEncoding("utf8").on("data", (text: string) => {
    said.text += text
  })
  return said
}

const ended = (child: ChildProcess) => {
  const [out, err] = [textOf(child.stdout), textOf(child.stderr)]
  return new Promise<{
    readonly code: number | null
    readonly signal: string | null
    readonly out: string
    readonly err: string
  }>((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal, out: out.text, err: err.text }))
  )
}

describe.concurrent("an import from standard input, as a process", () => {
  it.scopedLive("that is to be read twice is done or refused, not left out", () =>
    Effect.gen(function* () {
      const { child, end } = yield* importing("--validate", "first")
      child.stdin!.end('{"_id":"a"}\n{"_id":"b"}\n')
      const { code, out } = yield* Effect.promise(() => end)
      if (code === 0) assert.strictEqual(JSON.parse(out).records, 2, out)
      else assert.strictEqual(code, 2)
    })
  )

  it.scopedLive("ends with 130 on SIGINT while it waits", () =>
    Effect.gen(function* () {
      const { child, end } = yield* importing()
      child.stdin!.write('{"_id":"a"}\n')
      yield* Effect.promise(() => new Promise((resolve) => child.stderr!.once("data", resolve)))
      child.kill("SIGINT")
      const { code, signal } = yield* Effect.promise(() => end)
      assert.deepStrictEqual([code, signal], [130, null])
    })
  )

  it.scopedLive("continues if its messages are not read", () =>
    Effect.gen(function* () {
      const { child, end } = yield* importing()
      child.stderr!.destroy()
      child.stdin!.end('{"_id":"a"}\n')
      const { code, out } = yield* Effect.promise(() => end)
      assert.deepStrictEqual([code, JSON.parse(out).records], [0, 1])
    })
  )

  it.scopedLive.skipIf(!existsSync("/dev/full"))("names the reason if its report cannot be written", () =>
    Effect.gen(function* () {
      const full = openSync("/dev/full", "w")
      const { child, end } = yield* running(["pipe", full], ...importLine)
      closeSync(full)
      child.stdin!.end('{"_id":"a"}\n')
      const { code, err } = yield* Effect.promise(() => end)
      assert.strictEqual(code, 9)
      assert.match(err, /DestinationError: cannot write to standard output: ENOSPC/)
    })
  )

  it.scopedLive("fails if standard input is a directory", () =>
    Effect.gen(function* () {
      const folder = openSync(root, "r")
      const { directory, end } = yield* running([folder, "pipe"], ...importLine)
      closeSync(folder)
      const { code, err, out } = yield* Effect.promise(() => end)
      assert.strictEqual(code, 9, out)
      assert.match(err, /SourceError: standard input cannot be read: it is a directory/)
      assert.deepStrictEqual(readdirSync(directory), [])
    })
  )
})

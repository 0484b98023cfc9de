import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, existsSync, mkdtempSync, openSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** An import from standard input in a process of its own, over repositories in a directory of its own. */
const importing = (...options: ReadonlyArray<string>) => importingTo("pipe", ...options)

const importingTo = (output: "pipe" | number, ...options: ReadonlyArray<string>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const directory = mkdtempSync(join(tmpdir(), "chainstore-process-"))
        const line = ["import", "things", "-", "--format", "ndjson", "--directory", directory, ...options]
        const child = spawn(process.execPath, ["--import", "tsx", "src/layers/bin/chainstore.ts", ...line], {
          cwd: root,
          env: { PATH: process.env["PATH"] },
          stdio: ["pipe", output, "pipe"]
        })
        return { child, directory }
      }),
      ({ child, directory }) =>
        Effect.sync(() => {
          child.kill("SIGKILL")
          rmSync(directory, { recursive: true, force: true })
        })
    ),
    ({ child }) => ({ child, end: ended(child) })
  )

const ended = (child: ChildProcess) => {
  let out = ""
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    out += text
  })
  return new Promise<{ readonly code: number | null; readonly signal: string | null; readonly out: string }>(
    (resolve) => child.once("close", (code, signal) => resolve({ code, signal, out }))
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
      const { child, end } = yield* importingTo(full)
      closeSync(full)
      let err = ""
      child.stderr!.setEncoding("utf8").on("data", (text: string) => {
        err += text
      })
      child.stdin!.end('{"_id":"a"}\n')
      const { code } = yield* Effect.promise(() => end)
      assert.strictEqual(code, 9)
      assert.match(err, /DestinationError: cannot write to standard output: ENOSPC/)
    })
  )
})

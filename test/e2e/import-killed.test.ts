import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { vi } from "vitest"
import { bundled } from "../support/bundled.js"

vi.setConfig({ testTimeout: 180_000 })

const program = new URL("../../src/layers/bin/chainstore.ts", import.meta.url)

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-process-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** The real command line in a process of its own, which is sent a signal once `when` holds. */
const chainstore = (
  line: ReadonlyArray<string>,
  stop?: { readonly signal: NodeJS.Signals; readonly when: (err: string) => boolean }
) =>
  Effect.async<Ended>((resume) => {
    const child = spawn(process.execPath, [bundled(program), ...line], {
      env: { PATH: process.env["PATH"] },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let out = ""
    let err = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text
    })
    const timer = setInterval(() => {
      if (stop?.when(err) === true) {
        clearInterval(timer)
        child.kill(stop.signal)
      }
    }, 10)
    child.once("close", (code, signal) => {
      clearInterval(timer)
      resume(Effect.succeed({ code, signal, out, err }))
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const count = 900
const chunk = 10
const git = (repository: string, ...rest: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", repository, ...rest], { encoding: "utf8" }).trim()

/** Commits of a repository that may not have begun. */
const commits = (repository: string) => {
  try {
    return Number(
      execFileSync("git", ["-C", repository, "rev-list", "--count", "main"], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"]
      })
    )
  } catch {
    return 0
  }
}

describe("an import in a process of its own", () => {
  for (const signal of ["SIGKILL", "SIGINT"] as const) {
    it.scopedLive(
      `resumes after ${signal} with the id that it printed at its start, and doubles nothing`,
      () =>
        Effect.gen(function* () {
          const place = yield* directory
          const repository = join(place, "local/demo.git")
          const file = join(place, "rows.ndjson")
          writeFileSync(file, Array.from({ length: count }, (_, n) => JSON.stringify({ n })).join("\n"))
          const line = ["import", "things", file, "--chunk-size", String(chunk), "--directory", place]
          const ended = yield* chainstore(line, { signal, when: () => commits(repository) >= 5 })
          if (signal === "SIGINT") {
            assert.strictEqual(ended.code, 130, ended.err)
            assert.include(ended.err, "Interrupted: at least")
          } else assert.strictEqual(ended.signal, "SIGKILL")
          const importId = /--import-id ([0-9A-Z]{26})/.exec(ended.err)?.[1] ?? ""
          assert.isNotEmpty(importId, ended.err)
          const done = commits(repository)
          assert.isBelow(done, count / chunk)
          const files = git(repository, "ls-tree", "-r", "--name-only", "main", "data/things/").split("\n")
          assert.strictEqual(files.length, done * chunk)

          const again = yield* chainstore([...line, "--import-id", importId])
          assert.strictEqual(again.code, 0, again.err)
          const report = JSON.parse(again.out)
          assert.deepInclude(report, {
            importId,
            records: count,
            inserted: count - done * chunk,
            unchanged: done * chunk,
            replaced: 0
          })
          assert.strictEqual(commits(repository), count / chunk)
          const read = yield* chainstore(["export", "things", "--format", "ndjson", "--directory", place])
          const rows: ReadonlyArray<{ n: number; _rev: number }> = read.out
            .trim()
            .split("\n")
            .map((text) => JSON.parse(text))
          assert.deepStrictEqual(
            rows.map((row) => [row.n, row._rev]),
            Array.from({ length: count }, (_, n) => [n, 1])
          )
          git(repository, "fsck", "--strict")
        })
    )
  }
})

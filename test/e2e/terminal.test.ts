import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { bundled } from "../support/bundled.js"

const root = fileURLToPath(new URL("../..", import.meta.url))
const program = new URL("../../src/layers/bin/chainstore.ts", import.meta.url)
const harness = fileURLToPath(new URL("./terminal.py", import.meta.url))
const hasPython = spawnSync("python3", ["-c", "import pty, termios"]).status === 0

interface Session {
  readonly shown: string
  readonly code: number
  readonly typed: boolean
  readonly echoes: boolean
  readonly same: boolean
}

/** The real command line in a pseudo terminal; each step waits for a text on the screen, then types. */
const session = (
  line: ReadonlyArray<string>,
  steps: ReadonlyArray<{ readonly wait: string; readonly type: string; readonly pause?: number }>
): Promise<Session> =>
  new Promise((resolve, reject) => {
    const told = {
      argv: [process.execPath, bundled(program), ...line],
      cwd: root,
      env: { PATH: process.env["PATH"], TERM: "xterm" },
      steps,
      seconds: 45
    }
    const child = spawn("python3", [harness, JSON.stringify(told)], { stdio: ["ignore", "pipe", "inherit"] })
    let out = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text
    })
    child.once("close", (code) =>
      code === 0 ? resolve(JSON.parse(out)) : reject(new Error(`it ended with ${code}`))
    )
  })

const nowhere = ["--token", "--api-url", "http://127.0.0.1:1", "--repo", "o/n"]
const secret = "ghp_nobody-may-see-this"
const [hide, show] = ["\u001b[?25l", "\u001b[?25h"]

describe.skipIf(!hasPython)("in a terminal", () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "chainstore-terminal-"))
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const sane = (ended: Session) => {
    assert.isTrue(ended.typed, ended.shown)
    assert.isTrue(ended.echoes, "the terminal echoes again")
    assert.isTrue(ended.same, "the terminal is as it was")
    assert.isAtLeast(ended.shown.lastIndexOf(show), ended.shown.lastIndexOf(hide), "the cursor is visible")
  }

  it("the prompted token is not shown, neither during nor after the input", async () => {
    const ended = await session(
      ["get", "a", "x", ...nowhere],
      [{ wait: "Token", type: `${secret}\r`, pause: 0.2 }]
    )
    sane(ended)
    assert.strictEqual(ended.code, 7, ended.shown)
    assert.include(ended.shown, "RemoteError")
    for (const part of [secret, secret.slice(0, 8), secret.slice(-6)]) assert.notInclude(ended.shown, part)
  }, 60_000)

  it("Ctrl-C at the question for the token leaves the terminal as it was", async () => {
    const ended = await session(
      ["get", "a", "x", ...nowhere],
      [{ wait: "Token", type: "ghp_half\u0003", pause: 0.2 }]
    )
    sane(ended)
    assert.strictEqual(ended.code, 130, ended.shown)
    assert.notInclude(ended.shown, "ghp_half")
  }, 60_000)

  it("Ctrl-C in a long import ends it between commits and leaves the terminal as it was", async () => {
    const file = join(directory, "rows.ndjson")
    writeFileSync(file, Array.from({ length: 30_000 }, (_, n) => `{"n":${n}}`).join("\n"))
    const ended = await session(
      ["import", "things", file, "--chunk-size", "10", "--directory", directory],
      [{ wait: "/s", type: "\u0003" }]
    )
    sane(ended)
    assert.strictEqual(ended.code, 130, ended.shown.slice(-500))
    assert.match(ended.shown, /Interrupted: at least \d+ records are committed/)
    assert.isTrue(
      ended.shown.trimEnd().endsWith("resumes it."),
      "nothing of the progress is left on the last line"
    )
  }, 60_000)
})

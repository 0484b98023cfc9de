import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { assert, beforeAll, it } from "@effect/vitest"
import { bundledAll } from "../support/bundled.js"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** The lines after `Output:` in the comment that an example begins with. */
const promised = (source: string): string => {
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(source)?.[1] ?? ""
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\* ?/, ""))
  const start = lines.indexOf("Output:")
  return start === -1
    ? ""
    : lines
        .slice(start + 1)
        .join("\n")
        .trim()
}

/** What is loaded before an example: one that has a host of its own has its answers judged. */
const preloaded: Readonly<Record<string, string>> = {
  "host-in-tests.ts": "./test/support/host/checkFetch.ts"
}

const printed = (file: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const judge = preloaded[file]
    const program =
      judge === undefined
        ? [bundles.get(file)!]
        : ["--import", "tsx", "--import", judge, join("examples", file)]
    const env = { PATH: process.env["PATH"], HOME: mkdtempSync(join(tmpdir(), "example-")) }
    execFile(process.execPath, program, { cwd: root, env, timeout: 60_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.trim())
      else reject(new Error(`${file}: ${error.message}\n${stdout}${stderr}`))
    })
  })

const examples = readdirSync(join(root, "examples")).filter((file) => file.endsWith(".ts"))
/** Tests among the examples are run by vitest, in the same tier. */
const programs = examples.filter((file) => !file.endsWith(".test.ts"))
const bundles = new Map<string, string>()

beforeAll(() => {
  const files = bundledAll(programs.map((file) => pathToFileURL(join(root, "examples", file))))
  for (const [i, file] of programs.entries()) bundles.set(file, files[i]!)
})

it.each(examples)("%s needs no cast, no any and no unknown", (file) => {
  const code = readFileSync(join(root, "examples", file), "utf8")
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "")
    .replace(/"[^"\n]*"|`[^`]*`/g, '""')
  assert.notMatch(code, /(?<!\* )\bas (?!const\b)|\bany\b|\bunknown\b|@ts-|!\./)
})

it("there are examples", () => assert.isAtLeast(examples.length, 2))

it.each(programs)(
  "%s prints what its comment promises",
  async (file) => {
    const output = promised(readFileSync(join(root, "examples", file), "utf8"))
    assert.notStrictEqual(
      output,
      "",
      "an example says what it prints, after a line `Output:` in its first comment"
    )
    assert.strictEqual(await printed(file), output)
  },
  90_000
)

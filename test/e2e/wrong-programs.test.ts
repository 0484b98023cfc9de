import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const lines = readFileSync(new URL("wrong-programs/programs.ts", import.meta.url), "utf8").split("\n")

/** What the compiler says, by the number of the line. */
const messages = () => {
  const compiler = `${root}node_modules/typescript/bin/tsc`
  const { stdout } = spawnSync(
    process.execPath,
    [compiler, "-p", `${root}test/e2e/wrong-programs`, "--pretty", "false"],
    {
      encoding: "utf8"
    }
  )
  const found = new Map<number, Array<string>>()
  let last: Array<string> = []
  for (const line of stdout.split("\n")) {
    const [, at, message] =
      /^test\/e2e\/wrong-programs\/programs\.ts\((\d+),\d+\): error TS\d+: (.*)/.exec(line) ?? []
    if (at !== undefined && message !== undefined) {
      last = found.get(Number(at)) ?? []
      found.set(Number(at), last)
      last.push(message)
    } else if (line.startsWith(" ")) last.push(line.trim())
    else assert.match(line, /^$|: suggestion /)
  }
  return found
}

it("the message about a wrong program begins with what is wrong", { timeout: 120_000 }, () => {
  const found = messages()
  const programs = lines.flatMap((line, index) => (/^export const /.test(line) ? [index + 1] : []))
  assert.isAtLeast(programs.length, 15)
  assert.sameMembers([...found.keys()], programs)
  for (const at of programs) {
    const [, told = ""] = /^\/\/ (.*)/.exec(lines[at - 2] ?? "") ?? []
    assert.notStrictEqual(told, "")
    assert.strictEqual(found.get(at)?.[0]?.slice(0, told.length), told)
  }
})

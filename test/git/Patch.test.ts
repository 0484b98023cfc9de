import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { applyPatch, parsePatch, reversed } from "../../src/git/Patch.js"

const line = FastCheck.constantFrom(
  "a",
  "b",
  "",
  "@@ -1 +1 @@",
  "-- c",
  "++ d",
  "\\ e",
  "diff --git a b",
  "f\r",
  "é"
)
const text = FastCheck.tuple(FastCheck.array(line, { maxLength: 25 }), FastCheck.boolean()).map(
  ([lines, ends]) => lines.join("\n") + (ends && lines.length > 0 ? "\n" : "")
)
/** Two versions with much in common. */
const pair = FastCheck.tuple(text, text, text, text).map(
  ([start, one, other, end]) => [start + one + end, start + other + end] as const
)

describe("a patch of Git's", () => {
  it("makes each of two versions of the other, and of no third one", () => {
    const directory = mkdtempSync(join(tmpdir(), "git-patch-"))
    try {
      const pairs = FastCheck.sample(pair, { numRuns: 300, seed: 11 }).filter(([a, b]) => a !== b)
      for (const side of ["a", "b"]) mkdirSync(join(directory, side))
      for (const [index, [a, b]] of pairs.entries()) {
        writeFileSync(join(directory, "a", `${1000 + index}`), a)
        writeFileSync(join(directory, "b", `${1000 + index}`), b)
      }
      const asked = ["diff", "--no-index", "--no-color", "--no-renames", "a", "b"]
      const { stdout } = spawnSync("git", asked, { cwd: directory, encoding: "utf8" })
      const patches = `\n${stdout}`.split("\ndiff --git ").slice(1)
      assert.strictEqual(patches.length, pairs.length)
      for (const [index, [a, b]] of pairs.entries()) {
        const patch = patches[index]!
        const hunks = parsePatch(patch.slice(patch.indexOf("\n@@ ") + 1))
        assert.isDefined(hunks)
        assert.strictEqual(applyPatch(a, hunks), b)
        assert.strictEqual(applyPatch(b, reversed(hunks)), a)
        assert.notStrictEqual(applyPatch(`another\n${a}`, hunks), b)
      }
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it("is distinguished from invalid text", () => {
    for (const none of ["", "text", "@@ -1 +1 @@\nno mark", "@@ -x +1 @@\n-a\n+b", "-a\n+b"]) {
      assert.isUndefined(parsePatch(none), none)
    }
    assert.isUndefined(applyPatch("a\n", [{ before: 7, old: ["a\n"], new: [] }]))
    assert.isUndefined(applyPatch("a\n", [{ before: 0, old: ["b\n"], new: [] }]))
  })
})

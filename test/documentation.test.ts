import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

const root = fileURLToPath(new URL("..", import.meta.url))

const pages = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name))
]

const text = (page: string) => readFileSync(join(root, page), "utf8")

/** The anchors of a page's headings, as GitHub makes them. */
const anchors = (page: string) =>
  new Set(
    [...text(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replace(/\s/g, "-")
    )
  )

describe("the documentation", () => {
  it("shows plain JavaScript that the oldest Node we run on can read", () => {
    const blocks = pages.flatMap((page) =>
      [...text(page).matchAll(/```js\n([\s\S]*?)```/g)].map(([, source = ""]) => ({ page, source }))
    )
    assert.isAtLeast(blocks.length, 2)
    for (const { page, source } of blocks) {
      const input = source.replaceAll(/\.\.\./g, "")
      try {
        execFileSync(process.execPath, ["--check", "--input-type=module", "-"], { input, stdio: "pipe" })
      } catch (error) {
        assert.fail(`${page}: ${(error as { stderr?: Buffer }).stderr}`)
      }
    }
  })

  it("links only to existing files", () => {
    const missing = pages.flatMap((page) =>
      [...text(page).matchAll(/\]\(([^)#\s]+)(#[^)]*)?\)/g)]
        .map(([, target = ""]) => target)
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => !existsSync(join(root, page, "..", target)))
        .map((target) => `${page} -> ${target}`)
    )
    assert.deepStrictEqual(missing, [])
  })

  it("links only to existing headings", () => {
    const links = pages.flatMap((page) =>
      [...text(page).matchAll(/\]\(([^)#\s]*)#([^)]+)\)/g)]
        .map(([, target = "", anchor = ""]) => ({
          page,
          anchor,
          target: target === "" ? page : join(page, "..", target)
        }))
        .filter(({ target }) => existsSync(join(root, target)))
    )
    assert.isAtLeast(links.length, 30)
    assert.deepStrictEqual(
      links.filter(({ anchor, target }) => !anchors(target).has(anchor)),
      []
    )
  })

  it("names only existing files", () => {
    const missing = pages.flatMap((page) =>
      [...text(page).matchAll(/`((?:test|bench|examples|src|docs)\/[\w./-]+\.(?:tsx?|sh))`/g)]
        .map(([, path = ""]) => path)
        .filter((path) => !existsSync(join(root, path)))
        .map((path) => `${page}: ${path}`)
    )
    assert.deepStrictEqual(missing, [])
  })
})

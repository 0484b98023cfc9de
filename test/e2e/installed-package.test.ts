import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { ended, manifest, Project, pack, unpack } from "../support/package/Project.js"

const packed = mkdtempSync(join(tmpdir(), "packed-"))
let tarball: string

beforeAll(async () => {
  tarball = await pack(packed)
})
afterAll(() => rmSync(packed, { recursive: true, force: true }))

/** The lowest versions that the ranges of our peers allow, or those that we develop with. */
const peers = (which: "lowest" | "newest") =>
  Object.entries(manifest.peerDependencies)
    .filter(([name]) => name === "effect" || name === "@effect/platform")
    .map(([name, range]) => {
      const version = which === "newest" ? manifest.devDependencies[name] : /\d+\.\d+\.\d+/.exec(range)?.[0]
      return `${name}@${version}`
    })

describe("the packed package", () => {
  let unpacked: string
  let files: ReadonlyArray<string>

  beforeAll(async () => {
    unpacked = await unpack(tarball, packed)
    files = readdirSync(unpacked, { recursive: true, encoding: "utf8" })
  })

  it("has the source of every line that its maps lead to", () => {
    const maps = files.filter((file) => file.endsWith(".map"))
    assert.isAbove(maps.length, 500)
    const lost = maps.flatMap((file) => {
      const { sources } = JSON.parse(readFileSync(join(unpacked, file), "utf8"))
      return sources.filter((source: string) => !existsSync(join(unpacked, file, "..", source)))
    })
    assert.deepStrictEqual(lost, [])
  })

  it("has every page and picture that its pages point at", () => {
    const pages = files.filter((file) => /^(docs\/)?[^/]+\.md$/.test(file))
    assert.includeMembers(pages, ["README.md", "docs/store.md"])
    const lost = pages.flatMap((page) =>
      [...readFileSync(join(unpacked, page), "utf8").matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, target = ""]) => target)
        .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(unpacked, page, "..", target)))
        .map((target) => `${page} -> ${target}`)
    )
    assert.deepStrictEqual(lost, [])
  })

  it("says its version before it loads anything that it depends on", async () => {
    // No dependency is installed here.
    const said = await ended(process.execPath, ["dist/layers/bin/chainstore.js", "--version"], unpacked)
    assert.deepStrictEqual(said, { code: 0, out: `${manifest.version}\n`, errors: "" })
  })
})

/** The oldest compiler that Effect allows, the last one in JavaScript, and the one that we develop with. */
const compilers = {
  oldest: "oldest@npm:typescript@5.4.5",
  last: "last@npm:typescript@5.9.3",
  own: `own@npm:typescript@${manifest.devDependencies["typescript"]}`
}
const plain = "es2022,esnext.disposable"
const browser = `${plain},dom,dom.iterable`

describe.each([
  { which: "lowest", checks: { oldest: plain, own: browser } },
  { which: "newest", checks: { last: browser } }
] as const)("the package beside the $which Effect that it allows", ({ checks, which }) => {
  let project: Project

  beforeAll(async () => {
    project = new Project()
    // What is there already comes first, as in a project that has begun without us.
    const names = Object.keys(checks) as Array<keyof typeof compilers>
    const types = `@types/node@${manifest.devDependencies["@types/node"]}`
    await project.install(...peers(which), types, ...names.map((name) => compilers[name]))
    await project.install(tarball)
    project.copy("consumer.ts")
  })
  afterAll(() => project.remove())

  it("shares that copy of Effect", () => {
    for (const name of ["effect", "@effect/platform"])
      assert.deepStrictEqual(project.copiesOf(name), [`node_modules/${name}/package.json`])
  })

  it.each(Object.entries(checks))(
    "has no error in its declarations: compiler %s, %s",
    async (compiler, lib) => {
      assert.deepStrictEqual(await project.compile(compiler, "consumer.ts", lib), [])
    }
  )

  it("runs, and warns of nothing", async () => {
    const { code, errors, out } = await project.node("--enable-source-maps", "consumer.js")
    const expected = "Ada, revision 2, one of 1\n8 modules\n"
    assert.deepStrictEqual({ code, errors, out }, { code: 0, errors: "", out: expected })
  })
})

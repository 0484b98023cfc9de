import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { build, createLogger, type Logger } from "vite"
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

  it("gives the licence of every package that it contains", () => {
    const sections = (file: string) =>
      readFileSync(join(unpacked, file), "utf8")
        .split(/^## /m)
        .slice(1)
        .map((section) => {
          const [title = "", ...text] = section.split("\n")
          return { name: title.split(" ")[0]!, text: text.join("\n") }
        })
    const [own, ofConsole] = ["dist/THIRD-PARTY.md", "dist/console/THIRD-PARTY.md"].map(sections)
    for (const { name, text } of [...own!, ...ofConsole!]) assert.match(text, /copyright/i, name)
    // What no longer is among the dependencies is in the bundles.
    const bundled = ["@effect/cli", "@effect/opentelemetry", "@effect/platform-node", "effect", "graphql"]
    assert.includeMembers(own!.map(({ name }) => name), [...bundled, "cli-table3", "string-width"]) // biome-ignore format: one line
    assert.includeMembers(ofConsole!.map(({ name }) => name), ["preact", "@fontsource-variable/inter"]) // biome-ignore format: one line
  })

  it("imports only packages that it depends on or contains", () => {
    const declared = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)]
    const library = files.filter((file) => /^dist\/(?!bin\/|console\/).*\.js$/.test(file))
    assert.isAbove(library.length, 400)
    const undeclared = library.flatMap((file) =>
      [
        ...readFileSync(join(unpacked, file), "utf8").matchAll(
          /^(?:import|export)\b(?:[^"\n=]* from)? ?"([^"\n]+)"/gm
        )
      ]
        .map(([, target = ""]) => target)
        .filter((target) => !/^(\.|node:)/.test(target))
        .map((target) => /^(@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? target)
        .filter((name) => !declared.includes(name))
        .map((name) => `${file} imports ${name}`)
    )
    assert.deepStrictEqual(undeclared, [])
  })

  it("says its version before it loads anything that it depends on", async () => {
    // No dependency is installed here.
    const said = await ended(process.execPath, ["dist/bin/chainstore.js", "--version"], unpacked)
    assert.deepStrictEqual(said, { code: 0, out: `${manifest.version}\n`, errors: "" })
  })
})

const programs = ["consumer.ts", "embedding.ts"]

it("every entry of the package is imported by the program of a consumer", () => {
  const consumer = readFileSync(new URL("../support/package/consumer.ts", import.meta.url), "utf8")
  const entries = Object.keys(manifest.exports).filter((entry) => entry !== "./package.json")
  assert.deepStrictEqual(
    entries.filter((entry) => !consumer.includes(`from "chainstore${entry.slice(1)}"`)),
    []
  )
})

/** The oldest compiler that Effect allows, the last one in JavaScript, and the one that we develop with. */
const compilers = {
  oldest: "oldest@npm:typescript@5.4.5",
  last: "last@npm:typescript@5.9.3",
  own: `own@npm:typescript@${manifest.devDependencies["typescript"]}`
}
const plain = "es2022,esnext.disposable"
const browser = `${plain},dom,dom.iterable`

const [, sizes = ""] = readFileSync(new URL("../../docs/dependencies.md", import.meta.url), "utf8").split(
  "## What an installation adds"
)

/** The numbers that the documentation gives of this. */
const documented = (name: string): ReadonlyArray<number> => {
  const row = sizes.split("\n").find((line) => line.replaceAll("`", "").startsWith(`| ${name} |`)) ?? ""
  return row.split("|").slice(2).map(Number)
}

describe("the package in an empty project", () => {
  let project: Project

  beforeAll(async () => {
    project = new Project()
    await project.install(tarball)
  })
  afterAll(() => project.remove())

  const chainstore = (...line: ReadonlyArray<string>) => project.node("node_modules/.bin/chainstore", ...line)

  it("says its version in less than 200 ms", async () => {
    // Time of the processor: the other tests of this machine take it by turns.
    const telling = `data:text/javascript,process.on("exit",()=>{const{user,system}=process.cpuUsage();console.error((user+system)/1000)})`
    const times: Array<number> = []
    for (let run = 0; run < 5; run++) {
      const { errors, out } = await project.node(
        "--import",
        telling,
        "node_modules/.bin/chainstore",
        "--version"
      )
      times.push(Number(errors))
      assert.strictEqual(out, `${manifest.version}\n`)
    }
    assert.isBelow(Math.min(...times), 200)
  })

  it("writes and reads documents from the command line", async () => {
    project.write("ada.json", JSON.stringify({ name: "Ada" }))
    assert.include(await chainstore("put", "people", "ada", "ada.json"), { code: 0, errors: "" })
    const { code, out } = await chainstore("get", "people", "ada")
    assert.deepStrictEqual([code, JSON.parse(out).name], [0, "Ada"])
    const help = await ended("npx", ["--no-install", "chainstore", "--help"], project.directory)
    assert.include(help.out, "Usage: chainstore COMMAND")
  })

  it("is loaded by require as by import, once", async () => {
    project.write(
      "required.cjs",
      `const { Store } = require("chainstore/store")
       const { Chain, ChainBuilder } = require("chainstore/chain")
       const chain = ChainBuilder.make().use((name) => "hello " + name).build()
       import("chainstore/store").then((imported) => console.log(Chain.executeSync(chain, "Ada"), imported.Store === Store))`
    )
    const expected = { code: 0, errors: "", out: "hello Ada true\n" }
    assert.deepStrictEqual(await project.node("required.cjs"), expected)
  })

  it("becomes a page that Vite bundles, no larger than documented", async () => {
    project.copy("page.ts")
    project.write(
      "index.html",
      '<!doctype html><title></title><script type="module" src="./page.ts"></script>'
    )
    const problems: Array<string> = []
    const noticing = (text: string) => void problems.push(text)
    const logger: Logger = {
      ...createLogger("silent"),
      warn: noticing,
      warnOnce: noticing,
      error: noticing
    }
    const root = project.directory
    const target = "es2022"
    await build({ root, configFile: false, customLogger: logger, build: { target } })
    assert.deepStrictEqual(problems, [])
    const folder = join(root, "dist/assets")
    const inAll = readdirSync(folder).map((name) => gzipSync(readFileSync(join(folder, name))).length / 1000)
    const page = readFileSync(join(root, "dist/index.html"), "utf8")
    const atOnce = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(
      ([, path = ""]) => gzipSync(readFileSync(join(root, "dist", path))).length / 1000
    )
    const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((all, one) => all + one, 0)
    const [says = 0, saysInAll = 0] = documented("a page by Vite")
    assert.isAtMost(sum(atOnce), says * 1.05, "loaded at once")
    assert.isAtMost(sum(inAll), saysInAll * 1.05, "in all")
  })

  it("serves the API, the pages and what they load", async () => {
    const { stop, url } = await project.service("serve")
    try {
      const page = await (await fetch(url)).text()
      const assets = [...page.matchAll(/(?:src|href)="\.{0,2}(\/[^"]+\.(?:js|css))"/g)].map(
        ([, path]) => path
      )
      assert.isAbove(assets.length, 1)
      for (const path of ["/playground", "/docs", "/healthz", ...assets])
        assert.strictEqual((await fetch(url + path)).status, 200, path)
      const query = JSON.stringify({ query: "{ viewer { login } }" })
      const refused = await fetch(`${url}/api/graphql`, { method: "POST", body: query })
      assert.strictEqual(refused.status, 401)
    } finally {
      assert.strictEqual(await stop(), 0)
    }
  })

  it("serves the host alone", async () => {
    const { stop, url } = await project.service("host")
    try {
      assert.strictEqual((await fetch(`${url}/zen`)).status, 200)
    } finally {
      assert.strictEqual(await stop(), 0)
    }
  })
})

describe.each([
  { which: "lowest", checks: { oldest: plain, own: browser } },
  { which: "newest", checks: { last: browser } }
] as const)("the package beside the $which Effect that it allows", ({ checks, which }) => {
  let project: Project
  let before: ReadonlyMap<string, number>

  beforeAll(async () => {
    project = new Project()
    // What is there already comes first, as in a project that has begun without us.
    const names = Object.keys(checks) as Array<keyof typeof compilers>
    const types = `@types/node@${manifest.devDependencies["@types/node"]}`
    await project.install(...peers(which), types, ...names.map((name) => compilers[name]))
    before = project.packages()
    await project.install(tarball)
    for (const program of programs) project.copy(program)
  })
  afterAll(() => project.remove())

  it("adds to it the packages that the documentation lists, and no more bytes", () => {
    const added = [...project.packages()].filter(([name]) => !before.has(name))
    const names = ["chainstore", ...Object.keys(manifest.dependencies)]
    assert.sameMembers(added.map(([name]) => name), names) // biome-ignore format: one line
    for (const [name, bytes] of added) assert.isAtMost(bytes / 1e6, (documented(name)[0] ?? 0) * 1.05, name)
  })

  it("shares that copy of Effect", () => {
    for (const name of ["effect", "@effect/platform"])
      assert.deepStrictEqual(project.copiesOf(name), [`node_modules/${name}/package.json`])
  })

  it.each(Object.entries(checks))(
    "has no error in its declarations: compiler %s, %s",
    async (compiler, lib) => {
      assert.deepStrictEqual(await project.compile(compiler, lib, ...programs), [])
    }
  )

  it("runs, and warns of nothing", async () => {
    const outs = { "consumer.js": "Ada, revision 2, one of 1\n11 modules\n", "embedding.js": "200 404 200\n" }
    for (const [program, out] of Object.entries(outs)) {
      const ran = await project.node("--enable-source-maps", program)
      assert.deepStrictEqual(ran, { code: 0, errors: "", out })
    }
  })
})

/** Other runtimes, as packages that hold one program. */
const runtimes = {
  Bun: { program: "@oven/bun-linux-x64-baseline/bin/bun", version: "1.4.5", run: ["run"] },
  Deno: { program: "@deno/linux-x64-glibc/deno", version: "2.9.6", run: ["run", "--allow-all"] }
}

describe.skipIf(process.platform !== "linux" || process.arch !== "x64")(
  "the package on another runtime",
  () => {
    it.each(Object.entries(runtimes))(
      "%s runs the library, the command line and the service",
      async (_, { program, run, version }) => {
        const project = new Project()
        try {
          const [name] = /^@[^/]+\/[^/]+/.exec(program)!
          await project.install(tarball, `${name}@${version}`)
          project.copy("consumer.ts")
          const runtime = join(project.directory, "node_modules", program)
          const ran = (...line: ReadonlyArray<string>) => ended(runtime, [...run, ...line], project.directory)
          const library = await ran("consumer.ts")
          assert.deepStrictEqual(
            [library.code, library.out],
            [0, "Ada, revision 2, one of 1\n11 modules\n"],
            library.errors
          )
          const command = "node_modules/chainstore/dist/bin/chainstore.js"
          project.write("ada.json", JSON.stringify({ name: "Ada" }))
          assert.include(await ran(command, "put", "people", "ada", "ada.json"), { code: 0 })
          assert.strictEqual(JSON.parse((await ran(command, "get", "people", "ada")).out).name, "Ada")
          const { stop, url } = await project.service("serve", [runtime, ...run, command])
          assert.strictEqual((await fetch(`${url}/healthz`)).status, 200)
          assert.strictEqual(await stop(), 0)
        } finally {
          project.remove()
        }
      }
    )
  }
)

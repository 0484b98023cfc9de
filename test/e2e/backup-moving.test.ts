import { execFile } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { vi } from "vitest"
import { ConsoleService, layer as judgedService } from "../support/browser/ConsoleService.js"
import { port, serve } from "../support/service/ServiceProcess.js"

// Every command is a process that compiles the sources anew.
vi.setConfig({ testTimeout: 180_000 })

const root = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)

/** The commands of a page: every fenced block without a language, as they stand. */
const commandsOf = (page: string): ReadonlyArray<string> => {
  const text = readFileSync(join(root, "docs", page), "utf8")
  return Array.from(text.matchAll(/^```\n([\s\S]*?)^```/gm), ([, block]) => block!.trim())
}

/** An empty working directory, and a `chainstore` that runs from the source. */
const workplace = Effect.acquireRelease(
  Effect.sync(() => {
    const directory = mkdtempSync(join(tmpdir(), "chainstore-docs-"))
    mkdirSync(join(directory, "bin"))
    const program = join(directory, "bin/chainstore")
    writeFileSync(
      program,
      `#!/bin/sh\nexec "${process.execPath}" --import "file://${root}node_modules/tsx/dist/loader.mjs" "${root}src/layers/bin/chainstore.ts" "$@"\n`
    )
    chmodSync(program, 0o755)
    return directory
  }),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

const shell = (directory: string, script: string) =>
  Effect.promise(() =>
    run("sh", ["-euc", script], {
      cwd: directory,
      env: {
        PATH: `${join(directory, "bin")}:${process.env["PATH"]}`,
        HOME: directory,
        GIT_TERMINAL_PROMPT: "0"
      }
    })
  ).pipe(Effect.map(({ stdout }) => stdout.trim()))

/** What a page says, with the addresses of this test in place of its own. */
const substituted = (script: string, places: Readonly<Record<string, string>>) =>
  Object.entries(places).reduce((text, [from, to]) => text.replaceAll(from, to), script)

const service = Effect.gen(function* () {
  const directory = yield* workplace
  const running = yield* serve({ CHAINSTORE_DATA: join(directory, ".chainstore") })
  return { directory, address: `127.0.0.1:${yield* port(running)}` }
})

const ids = (directory: string, place: string) =>
  shell(directory, `chainstore export products --format ndjson ${place} | sha256sum`)

describe("the pages of backup and moving", () => {
  it.scopedLive("docs/backup.md: every command runs, and what is restored is what was backed up", () =>
    Effect.gen(function* () {
      const { address, directory } = yield* service
      const commands = commandsOf("backup.md")
      assert.strictEqual(commands.length, 6)
      const before = yield* ids(directory, "--directory .chainstore/repos")
      const [clone, remote, update, bundle, restored, push] = commands.map((script) =>
        substituted(script, { "127.0.0.1:3000": address })
      )
      yield* shell(directory, clone!)
      yield* shell(directory, remote!)
      yield* shell(directory, 'chainstore put products new --data \'{"name":"late"}\'')
      const after = yield* ids(directory, "--directory .chainstore/repos")
      assert.notStrictEqual(after, before)
      yield* shell(directory, update!)
      yield* shell(directory, bundle!)
      yield* shell(directory, restored!)
      assert.strictEqual(yield* ids(directory, "--directory restored --repo local/demo"), after)
      assert.strictEqual(yield* ids(directory, "--directory restored --repo local/bundled"), after)

      yield* shell(directory, "chainstore delete products new")
      yield* shell(directory, push!)
      assert.strictEqual(yield* ids(directory, "--directory .chainstore/repos"), after)
      const [old, whole] = yield* Effect.all([
        shell(directory, "git -C remote-backup.git rev-parse main"),
        shell(directory, "git -C demo-backup.git rev-list main")
      ])
      assert.include(whole, old)
    })
  )

  it.scopedLive("docs/moving.md: every command runs, and the documents are there on the other side", () =>
    Effect.gen(function* () {
      const here = yield* service
      const { port, token } = yield* Effect.provide(ConsoleService, yield* Layer.build(judgedService()))
      const there = `127.0.0.1:${port}`
      const places = {
        "https://x:TOKEN@github.com/": `http://x:${token}@${there}/`,
        "OWNER/NAME": "me/moved",
        "=TOKEN": `=${token}`,
        CHAINSTORE_REPO: `CHAINSTORE_API_URL=http://${there}/api/v3 CHAINSTORE_REPO`
      }
      const commands = commandsOf("moving.md")
      assert.strictEqual(commands.length, 4)
      const { CHAINSTORE_REPO, ...rest } = places
      const [push, look, back, layout] = commands.map((script) => {
        const text = substituted(script, rest)
        return text.replace(/^export CHAINSTORE_REPO/, `export ${CHAINSTORE_REPO}`)
      })
      const before = yield* ids(here.directory, "--directory .chainstore/repos")
      yield* shell(here.directory, push!)
      const counted = yield* shell(here.directory, look!)
      assert.include(counted, "these credentials may read and write")
      assert.match(counted, /"name": "products",\s+"documents": 200/)
      yield* shell(here.directory, back!)
      assert.strictEqual(yield* ids(here.directory, "--directory .chainstore/repos --repo me/moved"), before)

      yield* shell(here.directory, layout!)
      const count = (place: string) =>
        shell(
          here.directory,
          `chainstore query products --limit 1000 --columns _id,name ${place} | sha256sum`
        )
      assert.strictEqual(yield* count("--root data2"), yield* count(""))
    })
  )
})

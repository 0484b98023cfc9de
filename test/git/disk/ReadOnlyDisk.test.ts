import { execFile, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../src/store/Store.js"
import { bundled } from "../../support/bundled.js"
import { git, temporary } from "./support/temporary.js"

const reader = bundled(new URL("./support/reader.ts", import.meta.url))
const service = bundled(new URL("../../../src/layers/bin/serve.ts", import.meta.url))

/** Runs a script with a directory on a disk that is read-only, in a name space of its own. */
const command = (directory: string, ...script: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...["-rm", "sh", "-c", 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'],
  ...["sh", directory, process.execPath, ...script]
]

const canMount = (() => {
  try {
    execFileSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

const stored = Effect.gen(function* () {
  const directory = yield* temporary
  yield* Effect.scoped(
    Effect.gen(function* () {
      const remote = yield* LocalGit.scoped({ directory, repo: "me/notes" })
      const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
      yield* store.collection("notes").insert({ n: 1 }, { id: "first" })
    })
  )
  return directory
})

describe.skipIf(!canMount)("a disk that is read-only", () => {
  it.scopedLive(
    "is opened for reading, and a write says why it is refused",
    () =>
      Effect.gen(function* () {
        const directory = yield* stored
        // Also where no engine has ever had its directory.
        fs.rmSync(`${directory}/me/notes.git/chainstore`, { recursive: true })
        const said = yield* Effect.promise(
          () =>
            new Promise<string>((resolve, reject) =>
              execFile("unshare", command(directory, reader, directory), (cause, out, err) =>
                cause === null ? resolve(out) : reject(new Error(err))
              )
            )
        )
        const { message, read, refused } = JSON.parse(said)
        assert.strictEqual(read.n, 1)
        assert.strictEqual(refused, "Denied")
        assert.match(message, /read-only/)
        assert.strictEqual(git(`${directory}/me/notes.git`, "rev-list", "--count", "main").trim(), "1")
      }),
    30_000
  )

  it.scopedLive(
    "holds the data of a service that is started and read",
    () =>
      Effect.gen(function* () {
        const directory = yield* temporary
        const start = (program: string, args: ReadonlyArray<string>) =>
          Effect.acquireRelease(
            Effect.promise(async () => {
              const child = spawn(program, args, {
                env: { ...process.env, CHAINSTORE_DATA: directory, PORT: "0" },
                stdio: ["ignore", "pipe", "pipe"]
              })
              let said = ""
              child.stderr.on("data", (text: Buffer) => (said += text))
              const address = await new Promise<string>((resolve, reject) => {
                child.stdout.on("data", (text: Buffer) => {
                  said += text
                  const found = /is listening on (\S+)/.exec(said)?.[1]
                  if (found !== undefined) resolve(found)
                })
                child.on("close", () => reject(new Error(said)))
              })
              return { child, address }
            }),
            ({ child }) =>
              Effect.promise(async () => {
                if (child.exitCode !== null) return
                child.kill("SIGTERM")
                await once(child, "close")
              })
          )
        yield* Effect.scoped(start(process.execPath, [service]))
        const { address } = yield* start("unshare", command(directory, service))
        const read = yield* Effect.promise(() =>
          fetch(`${address}/api/v3/repos/local/demo/contents/data/products`)
        )
        assert.strictEqual(read.status, 200)
        assert.strictEqual(((yield* Effect.promise(() => read.json())) as Array<unknown>).length > 100, true)
      }),
    60_000
  )
})

import { spawn } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect, Option, Random } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"
import { bundled } from "../bundled.js"
import * as HttpBackend from "./HttpBackend.js"

const source = new URL("./killedWriter.ts", import.meta.url)

/** A process that writes to a Git server. It is killed with its children when the scope closes. */
const writer = (url: string, directory: string, name: string, fibres: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [bundled(source), url, directory, name, `${fibres}`], {
        detached: true,
        stdio: ["ignore", "pipe", "pipe"]
      })
      const said = { acknowledged: new Set<string>(), errors: "" }
      let rest = ""
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        const lines = (rest + text).split("\n")
        rest = lines.pop() ?? ""
        for (const line of lines) if (line.startsWith("ack ")) said.acknowledged.add(line.slice(4))
      })
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        said.errors += text
      })
      const exit = new Promise<void>((resolve) => child.once("close", () => resolve()))
      const kill = Effect.promise(() => {
        try {
          process.kill(-child.pid!, "SIGKILL")
        } catch {
          // The process has ended already.
        }
        return exit
      })
      return { said, kill }
    }),
    ({ kill }) => kill
  )

/** Removes ref locks that are older than `age` in milliseconds: those of killed Git processes, as an administrator of the server has to. */
const removeLocks = (repository: string, age: number) => {
  // When the default branch moves, Git also locks HEAD to write its reflog.
  const locked = readdirSync(join(repository, "refs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".lock"))
    .map((file) => join("refs", file))
  for (const name of [...locked, "HEAD.lock", "packed-refs.lock"]) {
    const file = join(repository, name)
    const made = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
    if (made <= Date.now() - age) rmSync(file, { force: true })
  }
}

/**
 * Kills two writing processes that share a clone, or the processes of the server, at random times. Checks that every acknowledged
 * write is present, that every commit is complete and present once, and that a new store can write. Returns the number of
 * acknowledged writes.
 */
export const killByWire = (kills: number) =>
  Effect.gen(function* () {
    const backend = yield* HttpBackend.make
    const name = "killed.git"
    const url = backend.create(name, "receive.fsckObjects=true")
    const place = join(backend.directory, name)
    const clones = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-wire-kills-"))),
      (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
    )
    const clone = join(clones, "clone.git")
    const acknowledged = new Set<string>()
    for (let round = 0; round < kills; round++) {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const writers = [
            yield* writer(url, clone, `r${round}a`, 1),
            yield* writer(url, clone, `r${round}b`, 4)
          ]
          const written = () => writers.reduce((sum, { said }) => sum + said.acknowledged.size, 0)
          const more = (than: number) =>
            Effect.repeat(
              Effect.delay(
                Effect.sync(() => removeLocks(place, 2_000)),
                5
              ),
              { until: () => written() > than, times: 8_000 }
            )
          yield* more(0)
          yield* Effect.sleep(yield* Random.nextIntBetween(5, 300))
          if (round % 2 === 1) {
            backend.killServing()
            yield* more(written())
          }
          for (const { kill } of writers) yield* kill
          for (const { said } of writers) for (const id of said.acknowledged) acknowledged.add(id)
        })
      )
      // Pushes of the killed processes may still be running on the server.
      yield* Effect.repeat(Effect.sleep(5), { until: () => !backend.isServing() })
      // No Git process is left on the server, so each lock is one of a killed process.
      removeLocks(place, 0)
      const look = Effect.gen(function* () {
        const store = yield* Effect.provideService(
          Store.make(),
          GitRemote,
          yield* GitHost.scoped({ url, cache: { directory: clone } })
        )
        const people = yield* store.collection("people").list()
        const present = new Set(people)
        for (const id of acknowledged) assert.isTrue(present.has(id), `${id} was acknowledged and is lost`)
        const counted = yield* store.collection("counts").list()
        assert.deepStrictEqual(counted, people.map((id) => `c-${id}`).sort())
        const bySome = yield* store.collection("people").findBy("by", `r${round}a`)
        assert.strictEqual(bySome.length, people.filter((id) => id.startsWith(`r${round}a-`)).length)
        yield* store.collection("rounds").insert({ round }, { id: `r${round}` })
        assert.isTrue(Option.isSome(yield* store.collection("rounds").get(`r${round}`)))
        return people
      })
      const people = yield* Effect.scoped(look)
      const messages = backend
        .git(name, "log", "--format=%s", "main")
        .split("\n")
        .filter((line) => /^r\d+[ab]-/.test(line))
      assert.sameMembers(messages, [...people], "each commit is there once")
      assert.strictEqual(backend.git(name, "fsck", "--strict", "--no-dangling"), "")
    }
    return acknowledged.size
  })

import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { bindToRemote } from "../../../src/git/clone/CloneConfig.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"
import { bundled } from "../../support/bundled.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"

const open = (url: string, directory?: string) =>
  Effect.flatMap(
    GitHost.scoped({ url, ...(directory === undefined ? {} : { cache: { directory } }) }),
    (remote) => Effect.provideService(Store.make(), GitRemote, remote)
  )

const holding = new URL("../../support/git/shallowLock.ts", import.meta.url)

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "chainstore-damaged-"))),
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
)

const packs = (clone: string) =>
  fs.readdirSync(path.join(clone, "objects/pack")).map((name) => path.join(clone, "objects/pack", name))

const emptied = (file: string) => {
  fs.chmodSync(file, 0o644)
  fs.truncateSync(file, 0)
}

const halved = (file: string) => {
  fs.chmodSync(file, 0o644)
  fs.truncateSync(file, fs.statSync(file).size >> 1)
}

type Damage = (clone: string) => void

/** Damage by a power cut, a full disk or another program, and whether the clone is still usable. */
const damages: ReadonlyArray<readonly [name: string, sound: boolean, make: Damage]> = [
  [
    "an empty branch",
    true,
    (clone) => {
      fs.mkdirSync(path.join(clone, "refs/heads"), { recursive: true })
      fs.writeFileSync(path.join(clone, "refs/heads/main"), "")
    }
  ],
  [
    "empty refs of seen heads",
    true,
    (clone) => {
      const seen = path.join(clone, "refs/chainstore/seen")
      for (const name of fs.readdirSync(seen)) fs.writeFileSync(path.join(seen, name), "")
    }
  ],
  ["an empty HEAD", true, (clone) => fs.writeFileSync(path.join(clone, "HEAD"), "")],
  ["an empty config", false, (clone) => fs.writeFileSync(path.join(clone, "config"), "")],
  ["no config", false, (clone) => fs.rmSync(path.join(clone, "config"))],
  [
    "a branch at a commit that is gone",
    true,
    (clone) => {
      fs.mkdirSync(path.join(clone, "refs/heads"), { recursive: true })
      fs.writeFileSync(path.join(clone, "refs/heads/main"), `${"1".repeat(40)}\n`)
    }
  ],
  [
    "shallow commits that are gone",
    true,
    (clone) => fs.appendFileSync(path.join(clone, "shallow"), `${"2".repeat(40)}\n`)
  ],
  ["an empty list of shallow commits", false, (clone) => fs.writeFileSync(path.join(clone, "shallow"), "")],
  ["its packs gone", false, (clone) => packs(clone).forEach((file) => fs.rmSync(file))],
  ["its packs empty", false, (clone) => packs(clone).forEach(emptied)],
  [
    "its packs cut off",
    false,
    (clone) =>
      packs(clone)
        .filter((file) => file.endsWith(".pack"))
        .forEach(halved)
  ]
]

/** Reads and writes, and finds the writes of other clients. */
const used = (url: string, clone: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const people = (yield* open(url, clone)).collection("people")
      assert.strictEqual(Option.getOrThrow(yield* people.get("first"))["n"], 4)
      yield* people.update("second", { n: 2 })
      yield* people.upsert("third", { n: 0 })
      assert.strictEqual(yield* Stream.runCount(people.all()), 3)
      assert.strictEqual((yield* people.history("first")).length, 5)
    })
  )

/** A used clone, after which other clients have written. */
const cloned = (damage: Damage) =>
  Effect.gen(function* () {
    const backend = yield* HttpBackend.make
    const url = backend.create("damaged.git", "receive.fsckObjects=true")
    const theirs = (yield* open(url)).collection("people")
    for (const n of [0, 1, 2, 3]) yield* theirs.upsert("first", { n })
    yield* theirs.insert({ n: 0 }, { id: "second" })
    const clone = path.join(yield* temporary, "clone.git")
    yield* Effect.scoped(
      Effect.gen(function* () {
        const people = (yield* open(url, clone)).collection("people")
        yield* people.get("first")
        yield* people.update("second", { n: 1 })
      })
    )
    damage(clone)
    yield* theirs.update("first", { n: 4 })
    return { backend, clone, url }
  })

describe("a clone with", () => {
  for (const [name, sound, damage] of damages) {
    it.scopedLive(
      name,
      () =>
        Effect.gen(function* () {
          const { backend, clone, url } = yield* cloned(damage)
          const tried = yield* Effect.either(used(url, clone))
          if (tried._tag === "Left") {
            const { left: error } = tried
            assert.isFalse(sound, String(error))
            assert.strictEqual(error._tag === "RemoteError" && error.reason, "Corrupt")
            assert.include(error.hint, `remove ${clone}`)
            fs.rmSync(clone, { recursive: true })
            yield* used(url, clone)
          }
          assert.strictEqual(backend.git("damaged.git", "fsck", "--strict", "--no-dangling"), "")
        }),
      60_000
    )
  }

  it.scoped("a directory that another process gives to another repository at the same time", () =>
    Effect.gen(function* () {
      const directory = yield* temporary
      fs.writeFileSync(path.join(directory, "config"), "[core]\n\tbare = true\n")
      const bind = (url: string, meanwhile: Effect.Effect<unknown> = Effect.void) =>
        bindToRemote(directory, url, Effect.as(meanwhile, []))
      const refused = yield* Effect.flip(bind("http://a/a.git", Effect.orDie(bind("http://b/b.git"))))
      assert.strictEqual(refused._tag, "ValidationError")
      assert.include(refused.message, "a clone of http://b/b.git")
    })
  )

  it.scopedLive(
    "the lock of a process that was killed",
    () =>
      Effect.gen(function* () {
        const { clone, url } = yield* cloned(() => {})
        const holder = spawn(process.execPath, [bundled(holding), clone], {
          stdio: ["ignore", "pipe", "inherit"]
        })
        yield* Effect.promise(() => once(holder.stdout, "data"))
        assert.isTrue(fs.existsSync(path.join(clone, "shallow.lock")))
        holder.kill("SIGKILL")
        yield* Effect.promise(() => once(holder, "exit"))
        yield* used(url, clone)
        assert.isFalse(fs.existsSync(path.join(clone, "shallow.lock")))
      }),
    60_000
  )

  it.scopedLive(
    "an interruption of a fetch that waits for the lock of the shallow commits",
    () =>
      Effect.gen(function* () {
        const backend = yield* HttpBackend.make
        const url = backend.create("waiting.git")
        const theirs = (yield* open(url)).collection("notes")
        yield* theirs.insert({ n: 1 }, { id: "a" })
        for (const n of [2, 3, 4]) yield* theirs.update("a", { n })
        const clone = path.join(yield* temporary, "clone.git")
        const store = yield* open(url, clone)
        const holder = spawn(process.execPath, [bundled(holding), clone], {
          stdio: ["ignore", "pipe", "inherit"]
        })
        yield* Effect.promise(() => once(holder.stdout, "data"))
        const notes = store.collection("notes")
        assert.isTrue(Option.isNone(yield* Effect.timeoutOption(notes.get("a"), "5 seconds")))
        holder.kill("SIGKILL")
        yield* Effect.promise(() => once(holder, "exit"))
        assert.strictEqual(Option.getOrThrow(yield* notes.get("a"))["n"], 4)
        assert.strictEqual((yield* notes.history("a")).length, 4)
        const earlier = yield* store.at("main~2")
        assert.strictEqual(Option.getOrThrow(yield* earlier.collection("notes").get("a"))["n"], 2)
      }),
    60_000
  )
})

import { execFileSync, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { Oid } from "../../src/domain/identifiers/Oid.js"
import { TooLargeObject } from "../../src/git/disk/files/EngineError.js"
import { CatFile } from "../../src/git/disk/processes/CatFile.js"
import { GitRemote, type GitRemoteService } from "../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../src/store/remote/local/LocalGit.js"
import * as GitHost from "../../src/store/remote/wire/GitHost.js"
import * as Store from "../../src/store/Store.js"
import { directory } from "../store/core/Remotes.js"
import * as HttpBackend from "../support/git/HttpBackend.js"

/** The bytes of a file whose object in a pack has 9 MB. */
const size = 2 * 1024 ** 3

/** Commits a small document and one of 2 GiB by stock Git. */
const importHuge = (repository: string) =>
  Effect.promise(async () => {
    const child = spawn("git", ["fast-import", "--quiet"], {
      cwd: repository,
      stdio: ["pipe", "inherit", "inherit"]
    })
    const ended = new Promise((resolve) => child.once("close", resolve))
    const write = (bytes: string | Buffer) =>
      child.stdin.write(bytes)
        ? Promise.resolve()
        : new Promise<void>((resolve) => child.stdin.once("drain", resolve))
    await write(`blob\nmark :1\ndata ${size}\n`)
    const spaces = Buffer.alloc(2 ** 24, " ")
    for (let sent = 0; sent < size; sent += spaces.length) await write(spaces)
    const commit = [
      "commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata 4\nhuge",
      "M 100644 :1 data/people/huge.json",
      'M 100644 inline data/people/a.json\ndata 12\n{"_id": "a"}\n'
    ]
    await write(`\n${commit.join("\n")}`)
    child.stdin.end()
    assert.strictEqual(await ended, 0)
  })

const isRefused = (remote: GitRemoteService) =>
  Effect.gen(function* () {
    const before = process.memoryUsage().rss
    let most = before
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss)
    }, 20)
    const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
    const people = store.collection("people")
    const error = yield* Effect.flip(people.get("huge"))
    assert.strictEqual(error._tag, "RemoteError")
    assert.include(error.message, `has ${size} bytes`)
    assert.deepStrictEqual(yield* people.list(), ["a", "huge"])
    assert.isTrue(Option.isSome(yield* people.get("a")))
    yield* people.insert({ n: 1 }, { id: "b" })
    clearInterval(timer)
    assert.isBelow((most - before) / 1024 ** 2, 512)
  })

describe("a file of 2 GiB in a pack of 9 MB", () => {
  it.scopedLive(
    "is refused in bounded memory by a repository on this machine",
    () =>
      Effect.gen(function* () {
        const place = yield* directory
        const remote = yield* LocalGit.scoped({ directory: place, durability: "none", maintenance: false })
        yield* Effect.provideService(
          Effect.flatMap(Store.make({}), (store) => store.collection("others").insert({}, { id: "x" })),
          GitRemote,
          remote
        )
        const repository = path.join(place, "local", "store.git")
        fs.rmSync(path.join(repository, "refs", "heads", "main"))
        yield* importHuge(repository)
        yield* isRefused(remote)
        // Git's own reader goes on behind the object that it was not asked to send.
        const idOf = (file: string) =>
          execFileSync("git", ["rev-parse", `main:data/people/${file}`], {
            cwd: repository,
            encoding: "utf8"
          }).trim() as Oid
        const reader = new CatFile(repository)
        const [huge, small] = yield* Effect.promise(() =>
          Promise.allSettled(["huge.json", "a.json"].map((file) => reader.find(idOf(file))))
        )
        reader.close()
        assert.instanceOf(huge?.status === "rejected" ? huge.reason : undefined, TooLargeObject)
        assert.strictEqual(small?.status === "fulfilled" ? small.value?.content.length : undefined, 12)
      }),
    300_000
  )

  it.scopedLive(
    "is refused in bounded memory over Git's protocol",
    () =>
      Effect.gen(function* () {
        const backend = yield* HttpBackend.make
        const url = backend.create("huge.git")
        yield* importHuge(path.join(backend.directory, "huge.git"))
        yield* isRefused(yield* GitHost.scoped({ url }))
      }),
    300_000
  )
})

import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"
import { bodyOf, forward, isForwarded } from "../../support/git/WireFaults.js"

/** gitprotocol-pack(5), version 0: a client may only want the heads of advertised refs. */
describe("a server that only sends advertised heads, and whose branch moves between the listing and the fetch", () => {
  for (const moves of [1, 4]) {
    it.scopedLive(`${moves} times`, () =>
      Effect.gen(function* () {
        const backend = yield* HttpBackend.make
        const url = backend.create("moving.git")
        const git = (...args: ReadonlyArray<string>) => backend.git("moving.git", ...args)
        const open = Effect.flatMap(GitHost.scoped({ url }), (remote) =>
          Effect.provideService(Store.make(), GitRemote, remote)
        )
        const notes = (yield* open).collection("notes")
        yield* notes.insert({ n: 1 }, { id: "a" })
        let left = moves
        let fetched = 0
        const someoneElse = () => {
          const text = { cwd: join(backend.directory, "moving.git"), encoding: "utf8" } as const
          const blob = execFileSync("git", ["hash-object", "-w", "--stdin"], { ...text, input: "{}" }).trim()
          const tree = execFileSync("git", ["mktree"], {
            ...text,
            input: `${git("ls-tree", "main")}\n100644 blob ${blob}\tfile${left}\n`
          })
          const who = ["-c", "user.name=Else", "-c", "user.email=else@example.com"]
          const commit = git(...who, "commit-tree", "-p", "main", "-m", "else", tree.trim())
          git("update-ref", "refs/heads/main", commit)
        }
        backend.intercept = (request, response) => {
          if (isForwarded(request)) return false
          delete request.headers["git-protocol"]
          if (request.method !== "POST" || !request.url?.endsWith("/git-upload-pack")) return false
          void bodyOf(request).then(async (body) => {
            if (left > 0) {
              someoneElse()
              left--
            }
            // Over HTTP, Git also sends ancestors of the heads. Over SSH, and over the protocol of `git daemon`, it does not.
            const tips = git("for-each-ref", "--format=%(objectname)").split("\n")
            const wants = [...body.toString("latin1").matchAll(/want ([0-9a-f]{40})/g)].map(([, oid]) => oid!)
            const unknown = wants.find((oid) => !tips.includes(oid))
            const refusal = `ERR upload-pack: not our ref ${unknown}`
            if (unknown !== undefined) {
              const length = (refusal.length + 4).toString(16).padStart(4, "0")
              return void response
                .writeHead(200, { "content-type": "application/x-git-upload-pack-result" })
                .end(length + refusal)
            }
            fetched++
            const { bytes, status, type } = await forward(backend, request, body)
            response.writeHead(status, { "content-type": type }).end(bytes)
          })
          return true
        }
        const theirs = (yield* open).collection("notes")
        assert.strictEqual(Option.getOrThrow(yield* theirs.get("a"))["n"], 1)
        yield* theirs.update("a", { n: 2 })
        assert.strictEqual(left, 0)
        assert.isAtMost(fetched, 3)
        assert.strictEqual(git("rev-list", "--count", "main"), String(2 + moves))
        assert.strictEqual(git("fsck", "--strict", "--no-dangling"), "")
      })
    )
  }
})

it.scopedLive("a lookup of a head ends although each one lasts until another push of this process ends", () =>
  Effect.gen(function* () {
    const backend = yield* HttpBackend.make
    const url = backend.create("busy.git")
    const remote = yield* GitHost.scoped({ url })
    const notes = (yield* Effect.provideService(Store.make(), GitRemote, remote)).collection("notes")
    yield* notes.insert({ n: 1 }, { id: "a" })
    const head = Option.getOrThrow(yield* remote.head("main"))
    let pushes = 0
    backend.intercept = (request, response) => {
      if (isForwarded(request) || !request.url?.endsWith("/git-upload-pack")) return false
      void bodyOf(request).then(async (body) => {
        const { bytes, status, type } = await forward(backend, request, body)
        await Effect.runPromise(remote.createBranch(`branch${pushes++}`, head.commit))
        response.writeHead(status, { "content-type": type }).end(bytes)
      })
      return true
    }
    const found = yield* Effect.timeout(notes.get("a"), "20 seconds")
    assert.strictEqual(Option.getOrThrow(found)["n"], 1)
    backend.intercept = undefined
    // The heads that these lookups found may be outdated: they are not the base of the next commit.
    yield* notes.update("a", { n: 2 })
    assert.strictEqual(backend.git("busy.git", "rev-list", "--count", "main"), "2")
  })
)

import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { GitRemote } from "../../src/store/remote/GitRemote.js"
import * as GitHost from "../../src/store/remote/wire/GitHost.js"
import * as Store from "../../src/store/Store.js"
import { killByWire } from "../support/git/KillScenario.js"
import { serve, servers } from "../support/git/WebServers.js"

it.scopedLive("kills of writers and of a Git server lose nothing that was acknowledged", () =>
  Effect.map(killByWire(4), (acknowledged) => assert.isAbove(acknowledged, 0))
)

const people = Array.from({ length: 16 }, (_, n) => ({ id: `p${n}`, city: n % 2 === 0 ? "Rome" : "Bern" }))

describe("a store behind a web server", () => {
  for (const server of servers) {
    it.live.skipIf(!server.isInstalled)(
      `${server.name}${server.isInstalled ? "" : " (not on this machine)"}`,
      () =>
        Effect.scoped(
          Effect.gen(function* () {
            const directory = yield* Effect.acquireRelease(
              Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-web-"))),
              (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
            )
            const git = (...args: ReadonlyArray<string>) =>
              execFileSync("git", args, { encoding: "utf8" }).trim()
            const place = join(directory, "data.git")
            git("init", "-q", "--bare", "-b", "main", place)
            git("-C", place, "config", "http.receivepack", "true")
            git("-C", place, "config", "uploadpack.allowFilter", "true")
            const url = `${yield* serve(server, directory)}/data.git`
            const open = Effect.flatMap(GitHost.scoped({ url, timeout: server.timeout }), (remote) =>
              Effect.provideService(
                Store.make({ indexes: { people: ["city"] }, manifests: { people: ["city"] } }),
                GitRemote,
                remote
              )
            )
            const [one, other] = [yield* open, yield* open]
            yield* Effect.forEach(
              people,
              ({ city, id }, n) => (n % 3 === 0 ? other : one).collection("people").insert({ city }, { id }),
              { concurrency: "unbounded" }
            )
            const theirs = other.collection("people")
            yield* theirs.update("p0", { city: "Bern" })
            yield* one.transaction({}, (tx) => tx.collection("people").delete("p1"))
            const ids = (yield* theirs.findBy("city", "Bern")).map(({ _id }) => _id)
            assert.sameMembers(ids, [
              "p0",
              ...people.flatMap(({ city, id }) => (city === "Bern" && id !== "p1" ? [id] : []))
            ])
            assert.strictEqual((yield* theirs.history("p0")).length, 2)
            assert.strictEqual(git("-C", place, "fsck", "--strict", "--no-dangling"), "")
          })
        ),
      120_000
    )
  }
})

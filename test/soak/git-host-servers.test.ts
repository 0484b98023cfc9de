import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import type { Oid } from "../../src/domain/Oid.js"
import * as GitHost from "../../src/store/remote/wire/GitHost.js"
import { gitRemoteContract } from "../contract/GitRemoteContract.js"
import { servers, serving } from "../support/git/WebServers.js"

const sizes = {
  files: 100,
  largeBlob: 100_000,
  listing: 500,
  fibres: 8,
  interruptions: 8,
  interruptWithin: 50
}

for (const server of servers) {
  if (!server.there) {
    console.warn(`${server.name} is not on this machine: its contract is not tested`)
    continue
  }
  gitRemoteContract({
    name: `GitHost over ${server.name}`,
    make: Effect.gen(function* () {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-contract-"))),
        (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
      )
      const place = join(directory, "data.git")
      const git = (...args: ReadonlyArray<string>) =>
        Effect.sync(() => execFileSync("git", ["-C", directory, ...args], { encoding: "utf8" }).trim())
      yield* git("init", "-q", "--bare", "-b", "main", place)
      for (const setting of ["http.receivepack", "uploadpack.allowFilter"]) {
        yield* git("-C", place, "config", setting, "true")
      }
      const url = `${yield* serving(server, directory)}/data.git`
      yield* Effect.addFinalizer(() =>
        Effect.flatMap(Effect.orDie(git("-C", place, "fsck", "--strict", "--no-dangling")), (said) =>
          said === "" ? Effect.void : Effect.dieMessage(said)
        )
      )
      const open = GitHost.scoped({ url, timeout: server.timeout })
      return {
        remote: yield* open,
        another: open,
        force: (branch: string, at: Oid) => git("-C", place, "update-ref", `refs/heads/${branch}`, at),
        tag: (tag: string, at: Oid) => git("-C", place, "update-ref", `refs/tags/${tag}`, at)
      }
    }),
    sizes,
    timeout: 120_000
  })
}

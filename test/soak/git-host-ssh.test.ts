import { Effect } from "effect"
import type { Oid } from "../../src/domain/Oid.js"
import * as GitHost from "../../src/store/remote/wire/GitHost.js"
import { gitRemoteContract } from "../contract/GitRemoteContract.js"
import * as SshServer from "../support/git/SshServer.js"

const versions = [
  ["version 2", ["AcceptEnv GIT_PROTOCOL"]],
  ["version 0, as sshd is configured by default", []]
] as const

const sizes = {
  files: 100,
  largeBlob: 100_000,
  listing: 500,
  fibres: 8,
  interruptions: 8,
  interruptWithin: 200
}

if (SshServer.isThere) {
  for (const [name, settings] of versions) {
    gitRemoteContract({
      name: `GitHost over ssh, ${name}`,
      make: Effect.gen(function* () {
        const server = yield* SshServer.make(...settings)
        const url = server.create("contract.git", "uploadpack.allowFilter=true")
        const git = (...args: ReadonlyArray<string>) => Effect.sync(() => server.git("contract.git", ...args))
        const open = GitHost.scoped({ url, ssh: server.sharing })
        return {
          remote: yield* open,
          another: open,
          force: (branch: string, at: Oid) => git("update-ref", `refs/heads/${branch}`, at),
          tag: (tag: string, at: Oid) => git("update-ref", `refs/tags/${tag}`, at)
        }
      }),
      sizes,
      timeout: 120_000
    })
  }
}

import { Effect } from "effect"
import type { Oid } from "../../src/domain/Oid.js"
import * as GitHost from "../../src/store/remote/wire/GitHost.js"
import { gitRemoteContract } from "../contract/GitRemoteContract.js"
import * as HttpBackend from "../support/git/HttpBackend.js"

const subject = (...settings: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const backend = yield* HttpBackend.make
    const url = backend.create("contract.git", ...settings)
    const git = (...args: ReadonlyArray<string>) => Effect.sync(() => backend.git("contract.git", ...args))
    const open = GitHost.scoped({ url })
    return {
      remote: yield* open,
      another: open,
      force: (branch: string, at: Oid) => git("update-ref", `refs/heads/${branch}`, at),
      tag: (name: string, at: Oid) => git("update-ref", `refs/tags/${name}`, at),
      merge: (parents: ReadonlyArray<Oid>, tree: Oid) =>
        Effect.map(
          git(
            ...["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"],
            ...["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-m", "merge"]
          ),
          (oid) => oid as Oid
        )
    }
  })

const sizes = { files: 500, largeBlob: 100_000, listing: 2_000, interruptions: 20, interruptWithin: 20 }

gitRemoteContract({ name: "GitHost over git http-backend", make: subject(), sizes })

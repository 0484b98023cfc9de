import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { Effect, Option } from "effect"
import type { Oid } from "../../src/domain/identifiers/Oid.js"
import * as Engine from "../../src/git/disk/Engine.js"
import * as LocalGit from "../../src/store/remote/local/LocalGit.js"
import { gitRemoteContract } from "./GitRemoteContract.js"

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "chainstore-contract-"))),
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
)

const person = { name: "Somebody", email: "somebody@example.org", seconds: 1_700_000_000, offset: 60 }

const subject = (durability: "fsync" | "none") =>
  Effect.gen(function* () {
    const directory = path.join(yield* temporary, "contract.git")
    const open = Engine.open({ directory, create: true, durability })
    const repository = yield* open
    const point = (name: string, to: Oid) =>
      Effect.flatMap(repository.ref(name), (at) => repository.updateRef(name, at, Option.some(to)))
    return {
      remote: LocalGit.fromRepository(repository),
      another: Effect.map(open, LocalGit.fromRepository),
      force: (branch: string, at: Oid) => point(`refs/heads/${branch}`, at),
      tag: (name: string, at: Oid) => point(`refs/tags/${name}`, at),
      merge: (parents: ReadonlyArray<Oid>, tree: Oid) =>
        repository.writeCommit({ tree, parents, author: person, committer: person, message: "merge" })
    }
  })

gitRemoteContract({ name: "LocalGit", make: subject("fsync") })

gitRemoteContract({
  name: "LocalGit without fsync",
  make: subject("none"),
  sizes: { files: 500, largeBlob: 100_000, listing: 2_000, interruptions: 40, interruptWithin: 4 }
})

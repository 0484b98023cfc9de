import { Effect } from "effect"
import * as Memory from "../../src/store/remote/memory/Memory.js"
import { gitRemoteContract } from "./GitRemoteContract.js"

const subject = (options: Memory.MemoryOptions) =>
  Effect.sync(() => {
    const repository = new Memory.MemoryRepository()
    const person = { name: "Somebody", email: "somebody@example.org", seconds: 1_700_000_000, offset: 60 }
    return {
      remote: Memory.make({ ...options, repository }),
      another: Memory.make({ ...options, repository }),
      force: (branch: string, at: Parameters<typeof repository.commits.get>[0]) =>
        Effect.sync(() => void repository.refs.set(`refs/heads/${branch}`, at)),
      tag: (name: string, at: Parameters<typeof repository.commits.get>[0]) =>
        Effect.sync(() => void repository.refs.set(`refs/tags/${name}`, at)),
      merge: (
        parents: ReadonlyArray<Parameters<typeof repository.commits.get>[0]>,
        tree: (typeof parents)[0]
      ) =>
        Effect.sync(
          () =>
            repository.writeCommit({ tree, parents, author: person, committer: person, message: "merge" }).oid
        )
    }
  }).pipe(Effect.flatMap(({ remote, ...rest }) => Effect.map(remote, (made) => ({ ...rest, remote: made }))))

gitRemoteContract({ name: "Memory", make: subject({}) })

gitRemoteContract({
  name: "Memory, with a yield at every step",
  make: subject({
    moveBranches: true,
    faults: { onRead: () => Effect.yieldNow(), onWrite: () => Effect.yieldNow() }
  }),
  sizes: { files: 200, largeBlob: 100_000, listing: 2_000, interruptions: 40, interruptWithin: 2 }
})

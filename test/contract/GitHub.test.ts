import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Oid } from "../../src/domain/Oid.js"
import type { GitHubOptions } from "../../src/store/remote/github/GitHub.js"
import { fresh, remoteOf } from "../support/github/Remote.js"
import { gitRemoteContract } from "./GitRemoteContract.js"

const person = { name: "Somebody", email: "somebody@example.org", seconds: 1_700_000_000, offset: 60 }

const subject = (options: Partial<GitHubOptions>) =>
  Effect.gen(function* () {
    const { remote, server } = yield* fresh(options)
    const { repository } = server.host
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => assert.deepStrictEqual(server.problems, [], "every request is one of GitHub's"))
    )
    return {
      remote,
      another: remoteOf(server, options),
      force: (branch: string, at: Oid) =>
        Effect.sync(() => void repository.refs.set(`refs/heads/${branch}`, at)),
      tag: (name: string, at: Oid) => Effect.sync(() => void repository.refs.set(`refs/tags/${name}`, at)),
      merge: (parents: ReadonlyArray<Oid>, tree: Oid) =>
        Effect.sync(
          () =>
            repository.writeCommit({ tree, parents, author: person, committer: person, message: "merge" }).oid
        )
    }
  })

const sizes = { files: 500, largeBlob: 2_000_000, listing: 2_000, fibres: 24, interruptions: 15 }

gitRemoteContract({
  name: "GitHub over REST",
  make: subject({}),
  sizes,
  promises: { movedBackIsNoticed: false, clashesAreRefused: false, firstIsRoot: false }
})

gitRemoteContract({
  name: "GitHub over GraphQL",
  make: subject({ useGraphql: true, commitVia: "graphql", concurrency: 4 }),
  sizes,
  promises: { clashesAreRefused: false, firstIsRoot: false }
})

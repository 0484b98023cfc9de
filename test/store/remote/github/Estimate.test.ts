import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import type { Estimate, GitRemoteService } from "../../../../src/store/remote/GitRemote.js"
import { inChunks, treeRequests } from "../../../../src/store/remote/github/objects/TreeChunks.js"
import { verbs } from "../../../support/github/InProcess.js"
import { fresh, remoteOf } from "../../../support/github/Remote.js"
import { putFile } from "../../../support/singleFile.js"
import { ways } from "../../core/Remotes.js"

const bytes = (size: number) => new Uint8Array(size).fill(120)
const put = (path: string, size = 10) => ({ _tag: "Put", path, content: bytes(size) }) as const
const puts = (count: number, size?: number) =>
  Array.from({ length: count }, (_, n) => put(`data/new/${n}.json`, size))

interface Plan {
  readonly name: string
  readonly estimate: Estimate
  readonly run: (remote: GitRemoteService) => Effect.Effect<unknown, unknown>
}

const commit = (count: number, size: number) => (remote: GitRemoteService) =>
  remote.commitNext("main", () =>
    Effect.succeed({ commit: Option.some({ message: "m", changes: puts(count, size) }), result: undefined })
  )

const committing = (changes: number, size: number): ReadonlyArray<Plan> =>
  [true, false].map((warm) => ({
    name: `a commit of ${changes} files of ${size} bytes, ${warm ? "warm" : "cold"}`,
    estimate: { _tag: "Commit", changes, bytes: changes * size, warm },
    run: commit(changes, size)
  }))

const plans: ReadonlyArray<Plan> = [
  ...committing(1, 10),
  ...committing(50, 100),
  ...committing(450, 100),
  ...committing(4, 500_000),
  {
    name: "a read of 120 documents",
    estimate: { _tag: "Read", documents: 120 },
    run: (remote) =>
      Effect.flatMap(remote.head("main"), (head) =>
        Effect.flatMap(remote.tree(Option.getOrThrow(head), "data/docs"), (tree) =>
          Stream.runDrain(
            remote.blobs(
              Option.getOrThrow(head),
              Option.getOrThrow(tree).entries.map(({ oid, path }) => ({ oid, path: `data/docs/${path}` }))
            )
          )
        )
      )
  },
  {
    name: "a listing",
    estimate: { _tag: "List", entries: 120 },
    run: (remote) => remote.snapshot("main").directory("data/docs")
  },
  {
    name: "a small file, known to be absent",
    estimate: { _tag: "PutFile", bytes: 10, warm: true },
    run: (remote) =>
      putFile(remote, "main", "data/docs/x.json", bytes(10), Option.none(), {
        message: "m"
      })
  }
]

/** Requests that only prepare a plan, which assumes that its head and listing are known. */
const preparing: { readonly [tag in Estimate["_tag"]]?: RegExp } = { Read: /^GET \/(branches|git\/trees)/ }

describe.each(ways)("a plan foretells its requests, %s", (_way, options) => {
  for (const { estimate, name, run } of plans) {
    it.scopedLive(name, () =>
      Effect.gen(function* () {
        const { server } = yield* fresh()
        server.commit(
          "main",
          Array.from({ length: 120 }, (_, n) => put(`data/docs/${n}.json`, 10 + n))
        )
        const remote = yield* remoteOf(server, options)
        if ("warm" in estimate && estimate.warm) {
          yield* remote.commitNext("main", () =>
            Effect.succeed({
              commit: Option.some({ message: "m", changes: [put("data/first.json")] }),
              result: undefined
            })
          )
        }
        server.seen.length = 0
        yield* run(remote)
        const counted = verbs(server).filter((verb) => preparing[estimate._tag]?.test(verb) !== true)
        assert.strictEqual(remote.estimate(estimate), counted.length, counted.slice(0, 20).join("\n"))
      })
    )
  }
})

it("the trees of a commit are counted as they are cut, also where texts fill no request to its end", () => {
  for (const changes of [1, 3, 4, 20, 199, 201, 1000]) {
    for (const each of [10, 7_500, 7_501, 100_001, 390_000, 400_000]) {
      const cut = inChunks(Array.from({ length: changes }, () => ({ bytes: each }))).length
      assert.strictEqual(treeRequests(changes, changes * each), cut, `${changes} of ${each}`)
    }
  }
})

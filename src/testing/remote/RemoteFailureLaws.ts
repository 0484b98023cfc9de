import { Effect, Either, Option, Stream } from "effect"
import type { CommitInfo, GitRemoteService } from "../../store/remote/GitRemote.js"
import { assert } from "../store/LawAssert.js"
import { assertTag, failureOf, headOf, put, write } from "./RemoteCommits.js"
import type { RemoteContract } from "./RemoteLaw.js"

const link = "docs/writing-a-remote.md#implementing-one"

/** Replies that are lost in turn, of the requests of one write. */
const mostRequests = 3

const messagesOf = (remote: GitRemoteService, branch: string) =>
  Effect.gen(function* () {
    const head = yield* headOf(remote, branch)
    const log = yield* Stream.runCollect(remote.log(head, ""))
    return Array.from(log, ({ message }: CommitInfo) => message.trimEnd())
  })

export const failures = ({ test }: RemoteContract): void => {
  test(
    "rejected credentials are an AuthError, and nothing is absent or written",
    "Fail with the store's errors: `RemoteError` with a `reason`, `AuthError`, `RateLimitError`.",
    ({ rejected, remote }) =>
      Effect.gen(function* () {
        if (rejected === undefined) return
        const first = yield* write(remote, [put("d/a", "1")])
        const client = yield* rejected
        const edit = { message: "written without permission", changes: [put("d/a", "2")] }
        const operations: Readonly<Record<string, Effect.Effect<unknown, unknown>>> = {
          head: client.head("main"),
          resolve: client.resolve("main"),
          "snapshot.file": client.snapshot("main").file("d/a"),
          "snapshot.head": client.snapshot("main").head,
          tree: client.tree(first.commit, "d"),
          file: client.file(first.commit, "d/a"),
          blobs: Stream.runCollect(client.blobs(first.commit, [{ path: "d/a" }])),
          log: Stream.runCollect(client.log(first.commit, "")),
          listBranches: client.listBranches(""),
          commit: client.commit("main", Option.some(first), edit),
          commitNext: client.commitNext("main", () =>
            Effect.succeed({ commit: Option.some(edit), result: undefined })
          ),
          createBranch: client.createBranch("work", first.commit),
          deleteBranch: client.deleteBranch("main"),
          advance: client.advance("main", first.commit, first.commit)
        }
        for (const [name, operation] of Object.entries(operations)) {
          const failure = yield* failureOf(operation)
          // A host may hide a repository from clients that may not read it.
          assertTag(failure, "AuthError", "NotFoundError")
          assert.strictEqual((yield* headOf(remote)).commit, first.commit, name)
        }
        assert.isTrue(Option.isNone(yield* remote.head("work")))
      }),
    link
  )

  test(
    "a write whose reply is lost happens once, or not at all, or is ambiguous",
    "After a lost reply, do not send a write again before you know whether it happened.",
    ({ another, loseReply, remote }) =>
      Effect.gen(function* () {
        if (loseReply === undefined) return
        const other = yield* another
        yield* write(remote, [put("seed", "1")])
        /** Writes while the nth reply is lost; `count` tells how often it has happened. */
        const attempt = (
          what: string,
          nth: number,
          operation: Effect.Effect<unknown, unknown>,
          count: Effect.Effect<number, unknown>
        ) =>
          Effect.gen(function* () {
            yield* loseReply(nth)
            const outcome = yield* Effect.either(operation)
            yield* loseReply(0)
            const times = yield* count
            if (Either.isRight(outcome)) assert.strictEqual(times, 1, `${what} succeeded`)
            else {
              const tag = String((outcome.left as { readonly _tag?: unknown })._tag)
              assert.isAtMost(times, tag === "AmbiguousWriteError" ? 1 : 0, `${what} failed: ${tag}`)
            }
          })
        for (let nth = 1; nth <= mostRequests; nth++) {
          for (const files of [1, 2]) {
            const message = `${files} files, reply ${nth}`
            const changes = Array.from({ length: files }, (_, at) => put(`f${at}`, message))
            yield* attempt(
              message,
              nth,
              remote.commitNext("main", () =>
                Effect.succeed({ commit: Option.some({ message, changes }), result: undefined })
              ),
              Effect.map(messagesOf(other, "main"), (all) => all.filter((one) => one === message).length)
            )
          }
        }
        const head = yield* headOf(remote)
        const commit = { message: "on the expected head", changes: [put("g", "1")] }
        yield* attempt(
          commit.message,
          1,
          remote.commit("main", Option.some(head), commit),
          Effect.map(messagesOf(other, "main"), (all) => all.filter((one) => one === commit.message).length)
        )
        yield* attempt(
          "createBranch",
          1,
          remote.createBranch("work", head.commit, { unique: true }),
          Effect.map(other.head("work"), (at) => (Option.isSome(at) ? 1 : 0))
        )
      }),
    link
  )
}

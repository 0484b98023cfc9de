import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Either, Option, Redacted } from "effect"
import type { RefMoved } from "../../../../src/domain/errors/RefMoved.js"
import type { StoreError } from "../../../../src/domain/errors/StoreError.js"
import type { GitRemoteService, Head } from "../../../../src/store/remote/GitRemote.js"
import { moreTokens, type Reply, replying } from "../../../support/github/InProcess.js"
import { settle, virtual } from "../../../support/github/VirtualTime.js"
import { deleteFile, putFile } from "../../../support/singleFile.js"

const put = { _tag: "Put", path: "a.json", content: new TextEncoder().encode("1") } as const

/** A client whose token is another one every hour. */
const rotating = Effect.gen(function* () {
  const { connect, flight, server } = yield* virtual()
  server.commit("main", [put])
  yield* settle(flight, Effect.sleep("1 minute"))
  let asked = 0
  const auth = Effect.map(Clock.currentTimeMillis, (now) => ({
    header: Redacted.make(`Bearer ${moreTokens[asked++]}`),
    expiresAt: new Date(now + 3_600_000)
  }))
  return { flight, server, remote: yield* connect({ token: undefined, auth }) }
})

describe("tokens that change", () => {
  it.scoped("a validator is sent with the token that it was given to, and with no other", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* rotating
      const work = Effect.gen(function* () {
        const { content, oid } = Option.getOrThrow(yield* remote.snapshot("main").file("a.json"))
        const again = Effect.map(
          remote.snapshot("main").file("a.json", { cached: Option.some({ content, oid }) }),
          (found) => [Option.getOrThrow(found).notModified, server.seen.at(-1)!.status] as const
        )
        assert.deepStrictEqual(yield* again, [true, 304])
        yield* Effect.sleep("61 minutes")
        assert.deepStrictEqual(yield* again, [false, 200])
        assert.isUndefined(server.seen.at(-1)!.headers["if-none-match"])
        assert.deepStrictEqual(yield* again, [true, 304])
      })
      const { result } = yield* settle(flight, work)
      assert.isTrue(Either.isRight(result), String(Option.getOrNull(Either.getLeft(result))))
      assert.strictEqual(new Set(server.seen.map(({ headers }) => headers["authorization"])).size, 2)
    })
  )

  it.scoped("one that is so new that some machines give it no rights yet is tried again", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* rotating
      const body = { message: "Resource not accessible by integration" }
      server.fault = (_, index) => (index < 2 ? replying({ status: 403, body }) : undefined)
      const { result, took } = yield* settle(flight, remote.head("main"))
      assert.isTrue(Either.isRight(result), String(Option.getOrNull(Either.getLeft(result))))
      assert.strictEqual(took, 3_000)
      yield* settle(flight, Effect.sleep("11 seconds"))
      const from = server.seen.length
      server.fault = (_, index) => (index === from ? replying({ status: 403, body }) : undefined)
      const later = yield* settle(flight, remote.snapshot("main").file("a.json", { fresh: true }))
      assert.propertyVal(Option.getOrThrow(Either.getLeft(later.result)), "_tag", "AuthError")
      assert.strictEqual(later.took, 0)
    })
  )
})

const writes: ReadonlyArray<
  readonly [string, (remote: GitRemoteService, head: Head) => Effect.Effect<unknown, StoreError | RefMoved>]
> = [
  ["a file", (remote) => putFile(remote, "main", "b.json", put.content, Option.none(), { message: "m" })],
  [
    "a file that is there",
    (remote, head) =>
      Effect.flatMap(remote.file(head, put.path), (file) =>
        putFile(
          remote,
          "main",
          put.path,
          new Uint8Array(),
          Option.map(file, ({ oid }) => oid),
          {
            message: "m"
          }
        )
      )
  ],
  [
    "a deletion",
    (remote, head) =>
      Effect.flatMap(remote.file(head, put.path), (file) =>
        deleteFile(remote, "main", put.path, Option.getOrThrow(file).oid, { message: "m" })
      )
  ],
  [
    "a commit",
    (remote, head) =>
      remote.commit("main", Option.some(head), { message: "m", changes: [{ ...put, path: "b" }] })
  ],
  ["a branch", (remote, head) => remote.createBranch("work", head.commit)]
]

describe("a token without write permission", () => {
  const lacks: ReadonlyArray<readonly [string, Reply, RegExp]> = [
    [
      "a scope",
      { status: 200, headers: { "x-oauth-scopes": "gist, read:org" }, body: { permissions: { push: true } } },
      /scope repo/
    ],
    ["the right of a member", { status: 200, body: { permissions: { push: false } } }, /read this repository/]
  ]
  for (const [what, write] of writes) {
    for (const [lack, repository, hint] of lacks)
      it.scoped(`gets an AuthError: ${what}, without ${lack}`, () =>
        Effect.gen(function* () {
          const { flight, remote, server } = yield* virtual()
          server.commit("main", [put])
          const head = Option.getOrThrow(yield* remote.head("main"))
          server.fault = ({ method, url }) => {
            const isRepository = method === "GET" && /^\/repos\/[^/]+\/[^/]+$/.test(url)
            if (method === "GET" && !isRepository) return undefined
            const reply = isRepository
              ? { ...repository, body: { full_name: server.repo, ...(repository.body as object) } }
              : { status: 404, body: { message: "Not Found" } }
            return replying(reply)
          }
          const { result } = yield* settle(flight, write(remote, head))
          const error = Option.getOrThrow(Either.getLeft(result))
          assert.strictEqual(error._tag, "AuthError", error.message)
          assert.match((error as StoreError).hint ?? "", hint)
        })
      )
  }

  it.scoped("is not asked about where something is missing indeed, once it has written", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      server.commit("main", [put])
      const head = Option.getOrThrow(yield* remote.head("main"))
      const { oid } = Option.getOrThrow(yield* remote.file(head, put.path))
      const remove = deleteFile(remote, "main", put.path, oid, { message: "m" })
      yield* settle(flight, remove)
      const from = server.seen.length
      const { result } = yield* settle(flight, remove)
      assert.propertyVal(Option.getOrThrow(Either.getLeft(result)), "_tag", "ConflictError")
      assert.isFalse(server.seen.slice(from).some(({ url }) => /^\/repos\/[^/]+\/[^/]+$/.test(url)))
    })
  )
})

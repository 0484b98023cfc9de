import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, Option } from "effect"
import * as GitObject from "../../../../src/git/GitObject.js"
import type { GitRemoteService, Head } from "../../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../../src/store/remote/github/GitHub.js"
import { type Fault, faults, type Server } from "../../../support/github/InProcess.js"
import type { Seen } from "../../../support/github/Oracle.js"
import { settle, virtual } from "../../../support/github/VirtualTime.js"
import { deleteFile, putFile } from "../../../support/singleFile.js"

const bytes = (text: string) => new TextEncoder().encode(text)
const before = bytes("before\n")
const after = bytes("after\n")
const path = "data/a.json"

interface Form {
  readonly name: string
  readonly options?: Partial<GitHubOptions>
  /** The request that makes the write happen. */
  readonly effective: (seen: Seen) => boolean
  readonly write: (remote: GitRemoteService, head: Head) => Effect.Effect<unknown, unknown>
  readonly outcome: string | undefined
}

const oid = Option.some(GitObject.hash("blob", before))

const committing =
  (message: string): Form["write"] =>
  (remote, head) =>
    remote.commit("main", Option.some(head), { message, changes: [{ _tag: "Put", path, content: after }] })

const isMutation = (seen: Seen) => seen.url === "/graphql" && seen.body.includes("mutation")
const isPost = (what: string) => (seen: Seen) => seen.method === "POST" && seen.url.endsWith(`/git/${what}`)

const forms: ReadonlyArray<Form> = [
  {
    name: "an insert by the Contents API",
    effective: (seen) => seen.method === "PUT",
    write: (remote) => putFile(remote, "main", "data/new.json", after, Option.none(), { message: "ours" }),
    outcome: "before\n"
  },
  {
    name: "an update by the Contents API",
    effective: (seen) => seen.method === "PUT",
    write: (remote) => putFile(remote, "main", path, after, oid, { message: "ours" }),
    outcome: "after\n"
  },
  {
    name: "a deletion by the Contents API",
    effective: (seen) => seen.method === "DELETE",
    write: (remote) => deleteFile(remote, "main", path, Option.getOrThrow(oid), { message: "ours" }),
    outcome: undefined
  },
  ...(
    [
      ["Git Data, moving the branch", {}, (seen: Seen) => seen.method === "PATCH", "ours"],
      ["Git Data, making its tree", {}, isPost("trees"), "ours"],
      ["Git Data, making the commit", {}, isPost("commits"), "ours"],
      ["GraphQL", { commitVia: "graphql" }, isMutation, "ours\n\nwith a body"],
      [
        "GraphQL whose message GitHub puts in another form",
        { commitVia: "graphql" },
        isMutation,
        "ours \nwith a second line\r\n\n\n"
      ]
    ] as const
  ).map(([way, options, effective, message]) => ({
    name: `a commit by ${way}`,
    options,
    effective,
    write: committing(message),
    outcome: "after\n"
  }))
]

const once = (server: Server, effective: Form["effective"], fault: Fault) => {
  let met = 0
  server.fault = (seen) => (effective(seen) && met++ === 0 ? fault : undefined)
  return () => met
}

const start = (options: Partial<GitHubOptions> | undefined) =>
  Effect.gen(function* () {
    const { connect, flight, remote, server } = yield* virtual(options)
    server.commit("main", [{ _tag: "Put", path, content: before }], "base")
    const head = Option.getOrThrow(yield* remote.head("main"))
    return { connect, flight, remote, server, head }
  })

describe("a write that meets a fault happens exactly once", () => {
  for (const form of forms) {
    for (const [what, fault] of faults) {
      it.scoped(`${form.name}: ${what}`, () =>
        Effect.gen(function* () {
          const { flight, head, remote, server } = yield* start(form.options)
          const met = once(server, form.effective, fault)
          const { result } = yield* settle(flight, form.write(remote, head), {
            stuck: fault._tag === "Cut" && fault.then === "silence"
          })
          assert.isTrue(Either.isRight(result), `${JSON.stringify(result)}`)
          assert.isAtLeast(met(), 1, "the fault was met")
          assert.strictEqual(server.history().length, 2, "one commit, not none and not two")
          assert.strictEqual(server.show(path), form.outcome)
          assert.strictEqual((result as { right: { commit?: string } }).right.commit, server.head())
          assert.deepStrictEqual(server.problems, [])
          const { result: seen } = yield* settle(flight, remote.snapshot("main").file(path))
          assert.strictEqual(
            Option.match(Either.getOrThrow(seen), {
              onNone: () => undefined,
              onSome: (file) => new TextDecoder().decode(file.content)
            }),
            form.outcome
          )
        })
      )
    }
  }
})

describe("a reply that is lost for good", () => {
  for (const form of forms.filter(({ name }) => !name.includes("making"))) {
    it.scoped(`${form.name}: nothing can be asked any more, so nothing is claimed`, () =>
      Effect.gen(function* () {
        const { flight, head, remote, server } = yield* start(form.options)
        let lost = false
        server.fault = (seen) => {
          if (form.effective(seen) && !lost) {
            lost = true
            return { _tag: "Reset", when: "after" }
          }
          return lost ? { _tag: "Reset", when: "before" } : undefined
        }
        const { result } = yield* settle(flight, form.write(remote, head))
        assert.isTrue(Either.isLeft(result))
        assert.strictEqual((result as { left: { _tag: string } }).left._tag, "AmbiguousWriteError")
        assert.strictEqual(server.history().length, 2)
      })
    )
  }

  it.scoped("a later write of another client does not hide ours, and is not taken for ours", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* start({})
      let count = 0
      server.fault = (seen) => {
        if (seen.method !== "PUT") return undefined
        count++
        if (count > 1) return undefined
        return { _tag: "Reset", when: "after" }
      }
      const ours = putFile(remote, "main", path, after, oid, { message: "ours" })
      const racing = Effect.tap(
        Effect.sync(() => {
          const original = server.fault
          server.fault = (seen, index) => {
            if (count === 1 && seen.method === "PUT") {
              server.commit("main", [{ _tag: "Put", path, content: bytes("theirs\n") }], "theirs")
            }
            return original(seen, index)
          }
        }),
        () => Effect.void
      )
      const { result } = yield* settle(flight, Effect.zipRight(racing, ours))
      assert.isTrue(Either.isRight(result), JSON.stringify(result))
      assert.deepStrictEqual(server.history(), ["theirs", "ours", "base"])
    })
  )

  it.scoped("a write that is the same as ours to the last byte is not taken for ours", () =>
    Effect.gen(function* () {
      const { connect, flight, remote, server } = yield* start({})
      const other = yield* connect()
      const update = (client: GitRemoteService) => putFile(client, "main", path, after, oid, { message: "m" })
      let count = 0
      let theirs: Effect.Effect<unknown, unknown> = Effect.void
      server.fault = (seen) => {
        if (seen.method !== "PUT" || count++ > 0) return undefined
        theirs = update(other)
        return { _tag: "Reset", when: "before" }
      }
      // The other client is faster than our second try, which waits.
      const ours = Effect.fork(update(remote))
      const { result } = yield* settle(
        flight,
        Effect.gen(function* () {
          const fiber = yield* ours
          yield* Effect.repeat(
            Effect.zipRight(
              Effect.yieldNow(),
              Effect.sync(() => count)
            ),
            {
              until: (met) => met > 0
            }
          )
          yield* theirs
          return yield* Effect.either(Fiber.join(fiber))
        })
      )
      assert.strictEqual(Either.getOrThrow(result)._tag, "Left")
      assert.deepStrictEqual(server.history(), ["m", "base"])
    })
  )

  it.scoped("a write that was lost before it happened, and overtaken, is not known to have happened", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* start({})
      let count = 0
      server.fault = (seen) => {
        if (seen.method !== "PUT") return undefined
        count++
        if (count > 1) return undefined
        server.commit("main", [{ _tag: "Put", path, content: bytes("theirs\n") }], "theirs")
        return { _tag: "Reset", when: "before" }
      }
      const { result } = yield* settle(flight, putFile(remote, "main", path, after, oid, { message: "ours" }))
      assert.isTrue(Either.isLeft(result))
      assert.strictEqual((result as { left: { _tag: string } }).left._tag, "AmbiguousWriteError")
      assert.deepStrictEqual(server.history(), ["theirs", "base"])
    })
  )

  it.scoped(
    "a merge is distinguished from another merge of the same two commits, which has the same bases",
    () =>
      Effect.gen(function* () {
        const { connect, flight, head, remote, server } = yield* start({})
        const other = yield* connect()
        const side = yield* settle(
          flight,
          Effect.zipRight(
            remote.createBranch("side", head.commit),
            remote.commit("side", Option.some(head), {
              message: "side",
              changes: [{ _tag: "Put", path: "data/side.json", content: before }]
            })
          )
        )
        const theirs = Either.getOrThrow(side.result).commit
        const merge = (client: GitRemoteService, message: string) =>
          client.commit("main", Option.some(head), {
            message,
            merges: [theirs],
            changes: [{ _tag: "Put", path, content: bytes(message) }]
          })
        for (const isDelivered of [false, true]) {
          server.fault = () => undefined
          let count = 0
          server.fault = (seen) => {
            if (seen.method !== "PATCH" || count++ > 0) return undefined
            return { _tag: "Reset", when: isDelivered ? "after" : "before" }
          }
          const { result } = yield* settle(
            flight,
            Effect.gen(function* () {
              const at = isDelivered ? Option.getOrThrow(yield* remote.head("main")) : head
              const fiber = yield* Effect.fork(
                isDelivered
                  ? remote.commit("main", Option.some(at), {
                      message: "ours again",
                      merges: [theirs],
                      changes: [{ _tag: "Put", path, content: after }]
                    })
                  : merge(remote, "ours")
              )
              yield* Effect.repeat(
                Effect.zipRight(
                  Effect.yieldNow(),
                  Effect.sync(() => count)
                ),
                { until: (met) => met > 0 }
              )
              if (!isDelivered) yield* merge(other, "theirs")
              return yield* Effect.either(Fiber.join(fiber))
            })
          )
          const outcome = Either.getOrThrow(result)
          if (isDelivered) assert.isTrue(Either.isRight(outcome), JSON.stringify(outcome))
          else assert.strictEqual(Either.isLeft(outcome) && outcome.left._tag, "RefMoved")
        }
        assert.deepStrictEqual(server.problems, [])
      })
  )
})

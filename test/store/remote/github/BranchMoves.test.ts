import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import { GitRemote, type GitRemoteService } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import type { StoreService } from "../../../../src/store/StoreService.js"
import type { Transaction } from "../../../../src/store/Transaction.js"
import { type Fault, faults, replying, type Server, verbs } from "../../../support/github/InProcess.js"
import { settle, virtual } from "../../../support/github/VirtualTime.js"

const graphql = { useGraphql: true, commitVia: "graphql" } as const
const bytes = (text: string) => new TextEncoder().encode(text)
const put = (path: string, text: string) => ({ _tag: "Put", path, content: bytes(text) }) as const

const isMove = (seen: { readonly url: string; readonly body: string }) =>
  seen.url === "/graphql" && seen.body.includes("updateRefs")

const moves = (remote: GitRemoteService, from: Oid, to: Oid) =>
  remote.moveBranches!([
    { branch: "main", from: Option.some(from), to: Option.some(to) },
    { branch: "work", from: Option.some(to), to: Option.none() }
  ])

const start = Effect.gen(function* () {
  const { connect, flight, remote, server } = yield* virtual(graphql)
  server.commit("main", [put("a.json", "1")], "base")
  const from = server.head("main")
  server.setRef("refs/heads/work", from)
  server.commit("work", [put("b.json", "2")], "work")
  const to = server.head("work")
  return { connect, flight, from, remote, server, to }
})

const once = (server: Server, fault: Fault) => {
  let met = 0
  server.fault = (seen) => (isMove(seen) && met++ === 0 ? fault : undefined)
  return () => met
}

describe("several branches moved by one request", () => {
  for (const [what, fault] of [...faults, ["a proxy sends it twice", { _tag: "Twice" }]] as const) {
    it.scoped(`move exactly once: ${what}`, () =>
      Effect.gen(function* () {
        const { flight, from, remote, server, to } = yield* start
        const met = once(server, fault)
        const { result } = yield* settle(flight, moves(remote, from, to), {
          stuck: fault._tag === "Cut" && fault.then === "silence"
        })
        assert.isTrue(Either.isRight(result), JSON.stringify(result))
        assert.isAtLeast(met(), 1)
        assert.deepStrictEqual([...server.refs()], [["refs/heads/main", to]])
        const { result: head } = yield* settle(flight, remote.head("main"))
        assert.strictEqual(Option.getOrThrow(Either.getOrThrow(head)).commit, to)
        assert.deepStrictEqual(server.problems, [])
      })
    )
  }

  for (const denied of [/heads\//, /heads\/main/, /heads\/work/]) {
    it.scoped(`move once, though a machine behind the others denies it: ${denied}`, () =>
      Effect.gen(function* () {
        const { flight, from, remote, server, to } = yield* start
        server.snapshot()
        let lost = false
        let late = false
        server.fault = (seen) => {
          server.lagging = lost && !late && denied.test(seen.url)
          if (lost || !isMove(seen)) return undefined
          lost = true
          return { _tag: "Reset", when: "after" }
        }
        yield* Effect.fork(
          Effect.zipRight(
            Effect.sleep("9 seconds"),
            Effect.sync(() => {
              late = true
            })
          )
        )
        const { result } = yield* settle(flight, moves(remote, from, to))
        assert.isTrue(Either.isRight(result), JSON.stringify(result))
        assert.deepStrictEqual([...server.refs()], [["refs/heads/main", to]])
      })
    )
  }

  it.scoped("nothing is claimed when nothing can be asked any more", () =>
    Effect.gen(function* () {
      const { flight, from, remote, server, to } = yield* start
      let lost = false
      server.fault = (seen) => {
        if (!lost && isMove(seen)) {
          lost = true
          return { _tag: "Reset", when: "after" }
        }
        return lost ? { _tag: "Reset", when: "before" } : undefined
      }
      const { result } = yield* settle(flight, moves(remote, from, to))
      assert.strictEqual(Option.getOrThrow(Either.getLeft(result))._tag, "AmbiguousWriteError")
    })
  )

  it.scoped("a rule that forbids it is reported", () =>
    Effect.gen(function* () {
      const { flight, from, remote, server, to } = yield* start
      once(
        server,
        replying({
          status: 200,
          body: {
            data: null,
            errors: [{ type: "UNPROCESSABLE", message: "Repository rule violations found" }]
          }
        })
      )
      const { result } = yield* settle(flight, moves(remote, from, to))
      const error = Option.getOrThrow(Either.getLeft(result))
      assert.strictEqual(error._tag, "RemoteError")
      if (error._tag === "RemoteError") assert.strictEqual(error.reason, "Denied")
      assert.strictEqual(server.head("main"), from)
    })
  )
})

describe("a transaction that ends by one request", () => {
  const world = Effect.gen(function* () {
    const { connect, flight, remote, server } = yield* virtual(graphql)
    server.commit("main", [put("data/notes/a.json", '{"n":0}')], "base")
    const open = (client: GitRemoteService) => Effect.provideService(Store.make({}), GitRemote, client)
    return { flight, server, store: yield* open(remote), other: yield* open(yield* connect()) }
  })

  const insert = (id: string) => (tx: Pick<StoreService, "collection">) =>
    tx.collection("notes").insert({ n: 1 }, { id })

  const refs = (server: Server) => [...server.refs().keys()]

  it.scoped("leaves no work branch and looks at none", () =>
    Effect.gen(function* () {
      const { flight, server, store } = yield* world
      const { result } = yield* settle(flight, store.transaction({}, insert("b")))
      assert.strictEqual(Option.getOrNull(Either.getOrThrow(result).commitSha), server.head("main"))
      assert.deepStrictEqual(refs(server), ["refs/heads/main"])
      assert.isTrue(
        verbs(server).every((verb) => !/^(PATCH|DELETE)|GET .(branches|git.ref).*chainstore-tx/.test(verb))
      )
      assert.deepStrictEqual(server.problems, [])
    })
  )

  it.scoped("while replicas lag, and after a lost reply", () =>
    Effect.gen(function* () {
      const { flight, server, store } = yield* world
      server.snapshot("refs")
      server.lagging = true
      const first = yield* settle(flight, store.transaction({}, insert("b")))
      assert.isTrue(Either.isRight(first.result), JSON.stringify(first.result))
      server.lagging = false
      once(server, { _tag: "Reset", when: "after" })
      const second = yield* settle(flight, store.transaction({}, insert("c")))
      assert.isTrue(Either.isRight(second.result), JSON.stringify(second.result))
      assert.deepStrictEqual(server.history(), ["insert notes/c", "insert notes/b", "base"])
      assert.deepStrictEqual(refs(server), ["refs/heads/main"])
    })
  )

  it.scoped("is replayed where the target moved meanwhile", () =>
    Effect.gen(function* () {
      const { flight, other, server, store } = yield* world
      const body = (tx: Transaction) =>
        Effect.zipRight(insert("b")(tx), other.collection("notes").insert({ n: 2 }, { id: "theirs" }))
      const { result } = yield* settle(flight, store.transaction({}, body))
      assert.isTrue(Either.isRight(result), JSON.stringify(result))
      assert.deepStrictEqual(server.history(), ["insert notes/b", "insert notes/theirs", "base"])
      assert.deepStrictEqual(refs(server), ["refs/heads/main"])
    })
  )

  it.scoped("loses nothing that somebody else put on the work branch", () =>
    Effect.gen(function* () {
      const { flight, other, server, store } = yield* world
      const body = (tx: Transaction) =>
        Effect.zipRight(
          insert("b")(tx),
          other.onBranch(tx.branch).collection("notes").insert({ n: 2 }, { id: "theirs" })
        )
      const { result } = yield* settle(flight, store.transaction({}, body))
      assert.isTrue(Either.isRight(result), JSON.stringify(result))
      assert.deepStrictEqual(server.history(), ["insert notes/theirs", "insert notes/b", "base"])
      assert.deepStrictEqual(refs(server), ["refs/heads/main"])
    })
  )

  it.scoped("on a host that knows no such mutation ends in the plain way, and asks once", () =>
    Effect.gen(function* () {
      const { flight, server, store } = yield* world
      let asked = 0
      server.fault = (seen) => {
        if (!isMove(seen)) return undefined
        asked++
        const errors = [{ message: "Field 'updateRefs' doesn't exist on type 'Mutation'" }]
        return replying({ status: 200, body: { errors } })
      }
      for (const id of ["b", "c"]) {
        const { result } = yield* settle(flight, store.transaction({}, insert(id)))
        assert.isTrue(Either.isRight(result), JSON.stringify(result))
      }
      assert.strictEqual(asked, 1)
      assert.deepStrictEqual(server.history(), ["insert notes/c", "insert notes/b", "base"])
      assert.deepStrictEqual(refs(server), ["refs/heads/main"])
    })
  )

  it.scoped("survives a repository that was made anew under its name", () =>
    Effect.gen(function* () {
      const { flight, server, store } = yield* world
      yield* settle(flight, store.transaction({}, insert("b")))
      const gone = { type: "NOT_FOUND", message: "Could not resolve to a node with the global id" }
      once(server, replying({ status: 200, body: { data: null, errors: [gone] } }))
      for (const id of ["c", "d"]) {
        const { result } = yield* settle(flight, store.transaction({}, insert(id)))
        assert.isTrue(Either.isRight(result), JSON.stringify(result))
      }
      assert.strictEqual(server.history().length, 4)
      assert.deepStrictEqual(refs(server), ["refs/heads/main"])
    })
  )
})

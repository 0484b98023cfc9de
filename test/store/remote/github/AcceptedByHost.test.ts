import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { AcceptOptions } from "../../../../src/store/Proposals.js"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import { makeServer, replying, type Server } from "../../../support/github/InProcess.js"
import { remoteOf } from "../../../support/github/Remote.js"

const storeOn = (server: Server) =>
  Effect.flatMap(remoteOf(server, { maxRetries: 3, backoffFactor: "1 millis" }), (remote) =>
    Effect.provideService(Store.make(), GitRemote, remote)
  )

/** From now on only the button writes to `main`. */
const protect = (server: Server) => {
  server.fault = ({ method, url }) =>
    method === "PATCH" && url.endsWith("/git/refs/heads/main")
      ? replying({
          status: 422,
          headers: { "content-type": "application/json; charset=utf-8" },
          body: JSON.stringify({ message: "Changes must be made through a pull request.", status: "422" })
        })
      : undefined
}

const prepared = Effect.gen(function* () {
  const server = yield* makeServer()
  yield* Effect.flatMap(storeOn(server), (store) => store.collection("notes").insert({ n: 1 }, { id: "a" }))
  return { server, store: yield* storeOn(server) }
})

const bytes = (value: object) => new TextEncoder().encode(JSON.stringify(value))

// Proposals.ts, accept: "Where only the host may write to the branch, that is merged into the proposal first, and the host merges
// the pull request." Branches.ts: "`ours` being the branch that is merged into".
describe("a proposal that the host merges becomes what the store's own merge makes of it", () => {
  const accepted = (isProtected: boolean, options: AcceptOptions) =>
    Effect.gen(function* () {
      const { server, store } = yield* prepared
      const { proposal } = yield* store.propose({ title: "x" }, (draft) =>
        draft.collection("notes").update("a", { n: 2 })
      )
      yield* store.collection("notes").update("a", { n: 3, title: "meanwhile" })
      if (isProtected) protect(server)
      yield* store.proposal(proposal.id).accept(options)
      return Option.getOrThrow(yield* store.collection("notes").get("a"))["n"]
    })

  for (const side of ["ours", "theirs"] as const) {
    it.scopedLive(`where \`rules.settle\` takes the value of ${side}`, () =>
      Effect.gen(function* () {
        const options: AcceptOptions = { rules: { notes: { settle: () => side } } }
        const plain = yield* accepted(false, options)
        assert.strictEqual(plain, side === "ours" ? 3 : 2)
        assert.strictEqual(yield* accepted(true, options), plain)
      })
    )
  }

  const settings = (rule: string) => ({
    format: 1,
    shardBy: "leading",
    shardDepth: 0,
    shardWidth: 2,
    indexes: {},
    manifests: {},
    merge: { notes: { a: rule, b: rule } }
  })

  const settled = (isProtected: boolean) =>
    Effect.gen(function* () {
      const { server, store } = yield* prepared
      const path = "data/_chainstore.json"
      const { proposal } = yield* store.propose({ title: "x" }, (draft) =>
        draft.collection("notes").update("a", { n: 2 })
      )
      const put = (branch: string, rule: string) =>
        server.commit(branch, [{ _tag: "Put", path, content: bytes(settings(rule)) }])
      put(proposal.branch, "set")
      put("main", "counter")
      if (isProtected) protect(server)
      const fresh = yield* storeOn(server)
      yield* fresh.proposal(proposal.id).accept({
        onConflict: ({ problem }) => (problem.includes("notes a") ? "theirs" : "ours")
      })
      const merged = JSON.parse(server.git(["show", `main:${path}`])) as { readonly merge: unknown }
      return merged.merge
    })

  it.scopedLive("where two settings with the same two values are decided differently", () =>
    Effect.gen(function* () {
      const plain = yield* settled(false)
      assert.deepStrictEqual(plain, { notes: { a: "set", b: "counter" } })
      assert.deepStrictEqual(yield* settled(true), plain)
    })
  )

  it.scopedLive("and reports the decided conflicts", () =>
    Effect.gen(function* () {
      const conflicts = (isProtected: boolean) =>
        Effect.gen(function* () {
          const { server, store } = yield* prepared
          const { proposal } = yield* store.propose({ title: "x" }, (draft) =>
            draft.collection("notes").update("a", { n: 2 })
          )
          yield* store.collection("notes").update("a", { n: 3 })
          if (isProtected) protect(server)
          const merged = yield* store.proposal(proposal.id).accept({ onConflict: "theirs" })
          return merged.conflicts.map(({ path }) => path)
        })
      assert.deepStrictEqual(yield* conflicts(false), ["data/notes/a.json"])
      assert.deepStrictEqual(yield* conflicts(true), ["data/notes/a.json"])
    })
  )
})

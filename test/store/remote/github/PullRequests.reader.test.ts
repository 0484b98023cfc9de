import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { makeServer } from "../../../support/github/InProcess.js"
import { remoteOf } from "../../../support/github/Remote.js"

const quick = { maxRetries: 3, backoffFactor: "1 millis", timeout: "2 seconds" } as const

/** A branch with a pull request that was closed, and a newer one that the machine which answers does not know yet. */
const reopened = Effect.gen(function* () {
  const server = yield* makeServer()
  const content = (n: number) => new TextEncoder().encode(`${n}`)
  server.commit("main", [{ _tag: "Put", path: "a", content: content(1) }])
  server.setRef("refs/heads/b", server.head())
  server.commit("b", [{ _tag: "Put", path: "a", content: content(2) }])
  const remote = yield* remoteOf(server, quick)
  const pulls = remote.pullRequests!
  const ask = { branch: "b", into: "main", body: "", labels: [] }
  const first = yield* pulls.open({ ...ask, title: "first" })
  yield* pulls.close(first.number)
  server.snapshot()
  const second = yield* pulls.open({ ...ask, title: "second" })
  server.lagging = true
  return { server, pulls, first, second }
})

describe("a pull request of one's own that the API does not show yet", () => {
  it.scopedLive("is found by its branch although an older one has had it", () =>
    Effect.gen(function* () {
      const { pulls, second } = yield* reopened
      const found = Option.getOrThrow(yield* pulls.find("b"))
      assert.deepInclude(found, { number: second.number, state: "open" })
    })
  )

  it.scopedLive("is listed, and the older one of its branch is listed once", () =>
    Effect.gen(function* () {
      const { first, pulls, second } = yield* reopened
      const all = yield* pulls.list("all")
      assert.deepStrictEqual(all.map(({ number }) => number).sort(), [first.number, second.number])
    })
  )

  it.scopedLive("is listed among the open ones although an older one has had its branch", () =>
    Effect.gen(function* () {
      const { pulls, second } = yield* reopened
      const all = yield* pulls.list("open")
      assert.deepStrictEqual(
        all.map(({ number }) => number),
        [second.number]
      )
    })
  )
})

describe("a pull request that this client has merged", () => {
  it.scopedLive("is not found as an open one where the API does not show it yet", () =>
    Effect.gen(function* () {
      const { pulls, second, server } = yield* reopened
      server.lagging = false
      yield* pulls.merge(second, second.commit, "merged")
      // The machine that answers now has never heard of any of them.
      server.edit = (seen, sent) =>
        seen.method === "GET" && /\/pulls(\?|$)/.test(seen.url)
          ? { ...sent, body: new TextEncoder().encode("[]") }
          : sent
      const found = yield* pulls.find("b")
      assert.notStrictEqual(Option.getOrUndefined(found)?.state, "open")
      assert.deepStrictEqual(yield* pulls.list("open"), [])
    })
  )
})

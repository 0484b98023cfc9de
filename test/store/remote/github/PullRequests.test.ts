import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { AuthError, ConflictError, RemoteError } from "../../../../src/domain/errors/StoreError.js"
import type { AcceptOptions } from "../../../../src/store/Proposals.js"
import { GitRemote, type GitRemoteService } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import type { StoreService } from "../../../../src/store/StoreService.js"
import { faults, makeServer, replying, type Server, verbs } from "../../../support/github/InProcess.js"
import { remoteOf } from "../../../support/github/Remote.js"
import { everyNth } from "../../../support/vitest/caseSelection.js"
import { expectFailure } from "../../operations/StorePair.js"

const quick = { maxRetries: 3, backoffFactor: "1 millis", timeout: "2 seconds" } as const

const on = (remote: GitRemoteService) => Effect.provideService(Store.make(), GitRemote, remote)

const storeOn = (server: Server) => Effect.flatMap(remoteOf(server, quick), on)

/** A repository with a document, and a store of it that has read nothing yet. */
const prepared = Effect.gen(function* () {
  const server = yield* makeServer()
  yield* Effect.flatMap(storeOn(server), (store) => store.collection("notes").insert({ n: 1 }, { id: "a" }))
  return { server, store: yield* storeOn(server) }
})

const json = (status: number, message: string) =>
  replying({
    status,
    headers: { "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify({
      message,
      documentation_url: "https://docs.github.com/rest",
      status: String(status)
    })
  })

const isMerge = ({ method, url }: { readonly method: string; readonly url: string }) =>
  method === "PUT" && /\/pulls\/\d+\/merge$/.test(url)

/** From now on only the button writes to `main`. */
const protect = (server: Server) => {
  server.fault = ({ method, url }) =>
    method === "PATCH" && url.endsWith("/git/refs/heads/main")
      ? json(422, "Changes must be made through a pull request.")
      : undefined
}

const pullsOf = (server: Server) =>
  [...server.refs().keys()].filter((name) => /^refs\/pull\/.*meta$/.test(name))

describe("proposals as pull requests", () => {
  it.scopedLive("take the requests of their edit and two more, one more with labels", () =>
    Effect.gen(function* () {
      const server = yield* makeServer()
      const fresh = Effect.flatMap(remoteOf(server), on)
      yield* Effect.flatMap(fresh, (store) => store.collection("notes").insert({ n: 1 }, { id: "a" }))
      const asked = (effect: Effect.Effect<unknown, unknown>) =>
        Effect.suspend(() => {
          server.seen.length = 0
          return Effect.map(effect, () => verbs(server))
        })
      const edit = (id: string) => (on: Pick<StoreService, "batch">) =>
        on.batch({}, (batch) =>
          Effect.zipRight(batch.put("notes", `${id}1`, {}), batch.put("notes", `${id}2`, {}))
        )
      const own = yield* asked(Effect.flatMap(fresh, edit("w")))
      const plain = yield* asked(Effect.flatMap(fresh, (store) => store.propose({ title: "x" }, edit("x"))))
      assert.strictEqual(plain.length, own.length + 2, `${own.join("\n")}\n\n${plain.join("\n")}`)
      const store = yield* fresh
      const labels = ["one", "two"]
      const labelled = yield* asked(store.propose({ title: "x", labels }, edit("y")))
      assert.strictEqual(labelled.length, own.length + 3, labelled.join("\n"))
      const commit = { changes: 1, bytes: 10, warm: true }
      const estimated = store.estimate({ _tag: "Commit", ...commit })
      assert.strictEqual(store.estimate({ _tag: "Propose", ...commit }), estimated + 2)
      assert.strictEqual(store.estimate({ _tag: "Propose", ...commit, labels: 2 }), estimated + 3)
      const all = yield* store.proposals()
      assert.deepStrictEqual(
        all.map(({ author, labels, number }) => ({ author, labels, number })),
        [
          { author: "local", labels: [], number: 1 },
          { author: "local", labels: ["one", "two"], number: 2 }
        ]
      )
      assert.deepStrictEqual(server.problems, [])
    })
  )

  for (const [what, fault] of everyNth(3, faults)) {
    it.scopedLive(
      `are made, labelled, closed and merged once where ${what}, the first time`,
      () =>
        Effect.gen(function* () {
          const { server, store } = yield* prepared
          const hit = new Set<string>()
          server.fault = ({ method, url }) => {
            const name = `${method} ${url.replace(/\d+/g, "N")}`
            if (method === "GET" || !/\/(pulls|issues)(\/|$)/.test(url) || hit.has(name)) return undefined
            hit.add(name)
            return fault
          }
          const propose = (title: string) =>
            store.propose({ title, labels: ["x"] }, (draft) =>
              draft.collection("notes").upsert(title, { title })
            )
          const first = yield* propose("one")
          assert.strictEqual(first.proposal.number, 1)
          assert.lengthOf(pullsOf(server), 1)
          assert.strictEqual((yield* store.proposal(first.proposal.id).close()).state, "closed")
          const second = yield* propose("two")
          const seen = server.fault
          server.fault = (request, index) =>
            request.method === "PATCH" && request.url.endsWith("/git/refs/heads/main")
              ? json(422, "Changes must be made through a pull request.")
              : seen(request, index)
          const merged = yield* store.proposal(second.proposal.id).accept()
          assert.strictEqual(Option.getOrThrow(merged.commitSha), server.head())
          assert.deepStrictEqual(yield* store.collection("notes").list(), ["a", "two"])
          assert.strictEqual(hit.size, 4)
          assert.deepStrictEqual(
            (yield* store.proposals({ state: "all" })).map(({ labels, state }) => [state, labels]),
            [
              ["closed", ["x"]],
              ["accepted", ["x"]]
            ]
          )
        }),
      30_000
    )
  }

  it.scopedLive(
    "are merged by the host where only it may write, with the target merged into them first",
    () =>
      Effect.gen(function* () {
        const { server, store } = yield* prepared
        const { proposal } = yield* store.propose({ title: "Numbers", body: "Why." }, (draft) =>
          draft.collection("notes").update("a", { n: 2 })
        )
        yield* store.collection("notes").update("a", { title: "meanwhile" })
        const target = server.head()
        protect(server)
        const merged = yield* store.proposal(proposal.id).accept()
        const at = Option.getOrThrow(merged.commitSha)
        assert.strictEqual(at, server.head())
        assert.deepStrictEqual(
          merged.documents.map(({ id, kind }) => [id, kind]),
          [["a", "changed"]]
        )
        const [first, second] = server.git(["log", "-1", "--format=%P", at]).trim().split(" ")
        assert.strictEqual(first, target)
        assert.strictEqual(
          server.git(["log", "-1", "--format=%P", second!]).trim(),
          `${proposal.commitSha} ${target}`
        )
        assert.strictEqual(server.git(["diff", "--name-only", at, second!]), "")
        const button = server.seen.find(isMerge)
        assert.strictEqual(JSON.parse(button!.body).sha, second)
        assert.match(server.history()[0]!, /^accept: Numbers \(#1\)\n\nChainstore-Proposal: /)
        const found = Option.getOrThrow(yield* store.collection("notes").get("a"))
        assert.deepInclude(found, { n: 2, title: "meanwhile" })
        assert.strictEqual((yield* store.proposal(proposal.id).get()).state, "accepted")
        assert.deepStrictEqual(server.problems, [])
      })
  )

  const choices: Readonly<Record<string, AcceptOptions["onConflict"]>> = {
    "by a side": "theirs",
    "by a function": () => "theirs",
    "by an effect": ({ blobs }: any) => Effect.sync(() => (blobs.ours === blobs.theirs ? "ours" : "theirs")),
    "by a function of the places": () => (place) => (place.theirs === 2 ? "theirs" : "ours")
  }
  for (const [how, onConflict] of Object.entries(choices)) {
    it.scopedLive(`with conflicts decided ${how} are merged by the host as decided`, () =>
      Effect.gen(function* () {
        const { server, store } = yield* prepared
        const { proposal } = yield* store.propose({ title: "x" }, (draft) =>
          draft.collection("notes").update("a", { n: 2 })
        )
        yield* store.collection("notes").update("a", { n: 3, title: "meanwhile" })
        protect(server)
        const accept = (options: AcceptOptions) => store.proposal(proposal.id).accept(options)
        const undecided = yield* expectFailure<ConflictError>(accept({}), "ConflictError")
        const [conflict] = undecided.unmerged ?? []
        assert.deepInclude(conflict?.conflicts[0], { path: ["n"], base: 1, ours: 3, theirs: 2 })
        yield* accept({ onConflict })
        const found = Option.getOrThrow(yield* store.collection("notes").get("a"))
        assert.deepInclude(found, { n: 2, title: "meanwhile" })
      })
    )
  }

  it.scopedLive(
    "that move while they are accepted are not accepted, and those the host refuses are named",
    () =>
      Effect.gen(function* () {
        const { server, store } = yield* prepared
        const { proposal } = yield* store.propose({ title: "x" }, (draft) =>
          draft.collection("notes").update("a", { n: 2 })
        )
        const target = server.head()
        protect(server)
        const byHand = () =>
          server.commit(proposal.branch, [{ _tag: "Put", path: "unseen", content: new Uint8Array() }])
        let moved = false
        server.arrives = (request) => {
          if (isMerge(request) && !moved) {
            moved = true
            byHand()
          }
          return undefined
        }
        const late = yield* expectFailure<ConflictError>(
          store.proposal(proposal.id).accept(),
          "ConflictError"
        )
        assert.match(late.message, /it has changed since/)
        assert.strictEqual(server.head(), target)
        assert.strictEqual((yield* store.proposal(proposal.id).get()).state, "open")
        const refuse = server.fault
        server.fault = (request, index) =>
          isMerge(request)
            ? json(405, "At least 1 approving review is required by reviewers with write access.")
            : refuse(request, index)
        const denied = yield* expectFailure<RemoteError>(store.proposal(proposal.id).accept(), "RemoteError")
        assert.strictEqual(denied.reason, "Denied")
        assert.match(denied.message, /approving review/)
        assert.strictEqual(server.head(), target)
      })
  )

  it.scopedLive("keep their edits where the host takes no pull request", () =>
    Effect.gen(function* () {
      const { server, store } = yield* prepared
      server.fault = ({ method, url }) =>
        method === "POST" && url.endsWith("/pulls")
          ? json(403, "Resource not accessible by personal access token")
          : undefined
      const refused = yield* expectFailure<AuthError>(
        store.propose({ title: "x" }, (draft) => draft.collection("notes").update("a", { n: 2 })),
        "AuthError"
      )
      assert.match(
        refused.hint ?? "",
        /Pull requests: Read and write.*kept on the branch chainstore-proposal\//
      )
      const branch = /chainstore-proposal\/\w+/.exec(refused.hint ?? "")![0]
      const kept = yield* store.onBranch(branch).collection("notes").get("a")
      assert.deepInclude(Option.getOrThrow(kept), { n: 2 })
      server.fault = ({ method, url }) =>
        method === "POST" && url.endsWith("/git/refs") ? json(404, "Not Found") : undefined
      yield* expectFailure(
        store.propose({ title: "x" }, (draft) => draft.collection("notes").update("a", { n: 3 })),
        "NotFoundError"
      )
    })
  )

  it.scopedLive("of forks are not ours, whatever their branches are called", () =>
    Effect.gen(function* () {
      const { server, store } = yield* prepared
      const { proposal } = yield* store.propose({ title: "x" }, (draft) =>
        draft.collection("notes").update("a", { n: 2 })
      )
      const side = (ref: string, repo: string | null, sha = proposal.commitSha) => ({
        ref,
        sha,
        label: `stranger:${ref}`,
        repo: repo === null ? null : { full_name: repo }
      })
      const pull = (number: number, repo: string | null, ref: string) => ({
        number,
        state: "open",
        title: "of a stranger",
        body: null,
        user: { login: "stranger" },
        labels: [],
        merged_at: null,
        head: side(ref, repo),
        base: side("main", store.repository)
      })
      // One of a fork, and one of a fork that is gone.
      const strangers = (ref: string) => [pull(8, "stranger/data", ref), pull(9, null, ref)]
      const foreign = "chainstore-proposal/01JZZZZZZZZZZZZZZZZZZZZZZZ"
      server.fault = ({ method, url }) =>
        method === "GET" && /\/pulls\?/.test(url)
          ? replying({
              status: 200,
              headers: { "content-type": "application/json; charset=utf-8" },
              body: JSON.stringify(strangers(foreign))
            })
          : undefined
      const fresh = yield* storeOn(server)
      assert.deepStrictEqual(yield* fresh.proposals({ state: "all" }), [])
      yield* expectFailure(
        fresh.proposal(foreign.slice("chainstore-proposal/".length)).accept(),
        "NotFoundError"
      )
      server.fault = () => undefined
      assert.strictEqual((yield* fresh.proposal(proposal.id).accept()).kind, "merge")
    })
  )

  it.scopedLive("are closed where their target is deleted, and say so", () =>
    Effect.gen(function* () {
      const { store } = yield* prepared
      yield* store.createBranch("autumn")
      const { proposal } = yield* store.propose({ title: "x", into: "autumn" }, (draft) =>
        draft.collection("notes").update("a", { n: 2 })
      )
      yield* store.deleteBranch("autumn")
      const handle = store.proposal(proposal.id)
      assert.strictEqual((yield* handle.get()).state, "closed")
      const over = yield* expectFailure<ConflictError>(handle.accept(), "ConflictError")
      assert.match(over.message, /closed already/)
      const kept = yield* store.onBranch(proposal.branch).collection("notes").get("a")
      assert.deepInclude(Option.getOrThrow(kept), { n: 2 })
    })
  )
})

/** A branch with a pull request that was closed, and a newer one that the machine which answers does not know yet. */
const lagging = Effect.gen(function* () {
  const server = yield* makeServer()
  const content = (n: number) => new TextEncoder().encode(`${n}`)
  server.commit("main", [{ _tag: "Put", path: "a", content: content(1) }])
  server.setRef("refs/heads/b", server.head())
  server.commit("b", [{ _tag: "Put", path: "a", content: content(2) }])
  const remote = yield* remoteOf(server, { ...quick, timeout: "2 seconds" })
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
      const { pulls, second } = yield* lagging
      const found = Option.getOrThrow(yield* pulls.find("b"))
      assert.deepInclude(found, { number: second.number, state: "open" })
    })
  )

  it.scopedLive("is listed, and the older one of its branch is listed once", () =>
    Effect.gen(function* () {
      const { first, pulls, second } = yield* lagging
      const all = yield* pulls.list("all")
      assert.deepStrictEqual(all.map(({ number }) => number).sort(), [first.number, second.number])
    })
  )

  it.scopedLive("is listed among the open ones although an older one has had its branch", () =>
    Effect.gen(function* () {
      const { pulls, second } = yield* lagging
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
      const { pulls, second, server } = yield* lagging
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
